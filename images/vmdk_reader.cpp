#include "images/vmdk_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "images/bytes.hpp"
#include "images/image_error.hpp"
#include "images/mapped_reader.hpp"
#include "images/virtual_content.hpp"
#include "images/vmdk_descriptor.hpp"

namespace difffuzz::vmdk {
namespace {

constexpr std::uint32_t flag_newline_test = 1;
constexpr std::uint32_t flag_second_tables = 2;
constexpr std::uint32_t flag_zeroed_grains = 4;
constexpr std::uint32_t zeroed_grain = 1;  // entry of a grain table
// 2 TiB, the most that a recipe asks for.
constexpr std::uint64_t max_sectors = std::uint64_t{1} << 32;
// As many as that has in its usual size; smaller ones would take long to look at.
constexpr std::uint64_t max_grains = std::uint64_t{1} << 25;

// Grain directory: offsets of grain tables; grain table: offsets of grains. 32 bits each, sectors.
struct Layout {
    std::uint64_t sectors = 0;
    std::uint64_t grain_bytes = 0;
    std::uint64_t directory = 0;      // bytes
    std::uint64_t table_entries = 0;  // of one grain table
    bool zeroed_grains = false;
};

class Reader : public MappedReader {
public:
    Reader(File file, const Layout& layout)
        : MappedReader(std::move(file), layout.sectors * sector_bytes), layout_(layout) {}

private:
    MappedRun map(std::uint64_t offset) const override;

    Layout layout_;
};

MappedRun Reader::map(std::uint64_t offset) const {
    const std::uint64_t covers = layout_.table_entries * layout_.grain_bytes;
    const std::uint64_t table = entry_le32(layout_.directory + offset / covers * 4) * sector_bytes;
    if (table == 0) {
        return {MappedRun::Kind::unallocated, covers - offset % covers, 0};
    }
    const std::uint64_t within = offset % layout_.grain_bytes;
    const std::uint64_t index = offset % covers / layout_.grain_bytes;
    const std::uint64_t at = table + index * 4;
    const std::uint64_t grain = entry_le32(at);
    if (grain == 0) {
        // Two entries at a time.
        const std::uint64_t pairs =
            at % 8 == 0 ? zero_entries(at, 8, (layout_.table_entries - index) / 2) : 0;
        return {MappedRun::Kind::unallocated,
                std::max<std::uint64_t>(2 * pairs, 1) * layout_.grain_bytes - within, 0};
    }
    if (grain == zeroed_grain && layout_.zeroed_grains) {
        return {MappedRun::Kind::zero, layout_.grain_bytes - within, 0};
    }
    return {MappedRun::Kind::data, layout_.grain_bytes - within, grain * sector_bytes + within};
}

// qemu-img looks for a parent in what follows the header, whatever the header says.
bool stands_alone(const File& file) {
    const std::string text = read_descriptor(file, {header_bytes, 20 * sector_bytes});
    return text.find("createType=\"monolithicSparse\"") != std::string::npos &&
           text.find("parentFileNameHint") == std::string::npos;
}

}  // namespace

std::unique_ptr<ContentSource> open_image(const std::string& directory, const std::string& name) {
    File file = File::open(directory, name);
    std::array<std::byte, header_bytes> header{};
    file.read_at(0, header);
    const auto small = [&](std::size_t at) { return load_le<std::uint32_t>(header.data() + at); };
    const auto large = [&](std::size_t at) { return load_le<std::uint64_t>(header.data() + at); };
    const auto require = [&](bool holds) {
        if (!holds) {
            throw ImageError(
                fmt::format("{}: is not a vmdk image that can be read in-process", name));
        }
    };
    const std::uint32_t version = small(at_version);
    require(small(0) == sparse_magic && (version == 1 || version == 2));
    require((small(at_flags) & ~(flag_newline_test | flag_second_tables | flag_zeroed_grains)) ==
            0);
    require(load_le<std::uint16_t>(header.data() + at_compression) == 0);
    const std::uint64_t capacity = large(at_capacity);
    const std::uint64_t grain = large(at_grain_size);
    require(capacity > 0 && capacity <= max_sectors);
    require(std::has_single_bit(grain) && grain <= 2048 && capacity / grain <= max_grains);
    require(small(at_table_entries) == 512);
    const std::uint64_t file_sectors = file.size() / sector_bytes;
    require(large(at_directory_offset) > 0 && large(at_directory_offset) < file_sectors &&
            large(at_overhead) <= file_sectors);
    require(large(at_descriptor_offset) == header_bytes / sector_bytes && stands_alone(file));
    const Layout layout{capacity, grain * sector_bytes, large(at_directory_offset) * sector_bytes,
                        small(at_table_entries), (small(at_flags) & flag_zeroed_grains) != 0};
    return std::make_unique<Reader>(std::move(file), layout);
}

}  // namespace difffuzz::vmdk
