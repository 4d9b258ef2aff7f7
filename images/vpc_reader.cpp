#include "images/vpc_reader.hpp"

#include <fmt/format.h>

#include <bit>

#include "images/bytes.hpp"
#include "images/image_error.hpp"
#include "images/mapped_reader.hpp"
#include "images/virtual_content.hpp"
#include "images/vpc_layout.hpp"

namespace difffuzz {
namespace {

using namespace vpc;

// What stands in for the size of an image that is larger than a geometry can say.
constexpr std::uint64_t max_geometry_sectors = std::uint64_t{65535} * 16 * 255;
constexpr std::uint32_t unallocated = 0xffffffff;
constexpr std::uint64_t max_table_entries = std::uint64_t{1} << 24;

class FixedReader : public MappedReader {
public:
    FixedReader(File file, std::uint64_t size) : MappedReader(std::move(file), size) {}

private:
    MappedRun map(std::uint64_t offset) const override {
        return {MappedRun::Kind::data, size() - offset, offset};
    }
};

// An entry of the table says at which sector a block lies: first the bitmap of its sectors, which
// qemu-img does not look at, then its data.
class DynamicReader : public MappedReader {
public:
    DynamicReader(File file, std::uint64_t size, std::uint64_t table, std::uint64_t block)
        : MappedReader(std::move(file), size),
          table_(table),
          block_(block),
          bitmap_(round_up(block / sector_bytes / 8, sector_bytes)) {}

private:
    MappedRun map(std::uint64_t offset) const override {
        const std::uint64_t within = offset % block_;
        const std::uint32_t entry = entry_be32(table_ + offset / block_ * 4);
        if (entry == unallocated) {
            return {MappedRun::Kind::unallocated, block_ - within, 0};
        }
        const std::uint64_t data = entry * sector_bytes + bitmap_;
        if (data + block_ > file_size()) {
            fail(fmt::format("the block of guest offset {} reaches past the end of the file",
                             offset));
        }
        return {MappedRun::Kind::data, block_ - within, data + within};
    }

    std::uint64_t table_;
    std::uint64_t block_;
    std::uint64_t bitmap_;
};

// By the creator that the footer names, size or geometry counts.
std::uint64_t virtual_sectors(const Footer& footer, const std::string& name) {
    const auto by_size = load_be<std::uint64_t>(footer.data() + at_current_size) / sector_bytes;
    const auto creator = std::span(footer).subspan(at_creator, 4);
    if (has_cookie(creator, "qem2")) {
        return by_size;
    }
    if (!has_cookie(creator, "qemu")) {
        throw ImageError(fmt::format("{}: another tool than qemu-img made it", name));
    }
    const std::uint64_t by_geometry =
        std::uint64_t{load_be<std::uint16_t>(footer.data() + at_cylinders)} *
        std::to_integer<std::uint64_t>(footer[at_heads]) *
        std::to_integer<std::uint64_t>(footer[at_track_sectors]);
    return by_geometry == max_geometry_sectors ? by_size : by_geometry;
}

}  // namespace

std::unique_ptr<ContentSource> open_vpc_image(const std::string& directory,
                                              const std::string& name) {
    File file = File::open(directory, name);
    const auto require = [&](bool holds) {
        if (!holds) {
            throw ImageError(
                fmt::format("{}: is not a vpc image that can be read in-process", name));
        }
    };
    const std::uint64_t file_size = file.size();
    require(file_size >= footer_bytes);
    Footer footer = read_footer(file, 0);
    const bool dynamic = has_cookie(footer, footer_cookie);
    if (!dynamic) {
        footer = read_footer(file, file_size - footer_bytes);
        require(has_cookie(footer, footer_cookie));
    }
    require(load_be<std::uint32_t>(footer.data() + at_disk_type) ==
            (dynamic ? type_dynamic : type_fixed));
    require(load_be<std::uint32_t>(footer.data() + at_checksum) == footer_checksum(footer));
    const std::uint64_t sectors = virtual_sectors(footer, name);
    require(sectors <= (std::uint64_t{1} << 40));
    const std::uint64_t size = sectors * sector_bytes;
    if (!dynamic) {
        require(size <= file_size - footer_bytes);
        return std::make_unique<FixedReader>(std::move(file), size);
    }
    std::array<std::byte, header_bytes> header{};
    const auto header_offset = load_be<std::uint64_t>(footer.data() + at_header_offset);
    require(header_offset < file_size);
    file.read_at(header_offset, header);
    const auto table = load_be<std::uint64_t>(header.data() + at_table_offset);
    const std::uint64_t entries = load_be<std::uint32_t>(header.data() + at_table_entries);
    const std::uint64_t block = load_be<std::uint32_t>(header.data() + at_block_size);
    require(has_cookie(header, header_cookie));
    require(std::has_single_bit(block) && block >= sector_bytes * 8);
    require(entries <= max_table_entries && size <= entries * block);
    require(table % sector_bytes == 0 && table < file_size);
    return std::make_unique<DynamicReader>(std::move(file), size, table, block);
}

}  // namespace difffuzz
