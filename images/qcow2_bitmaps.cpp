#include "images/qcow2_bitmaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "images/bytes.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/metadata_cache.hpp"
#include "images/qcow2_bitmap_layout.hpp"

namespace difffuzz::qcow2 {
namespace {

// What one call reads at most, whatever the file says.
constexpr std::uint64_t max_table_entries = std::uint64_t{1} << 20;
constexpr std::uint64_t max_bits_bytes = std::uint64_t{64} << 20;
constexpr std::size_t max_ranges = std::size_t{1} << 20;

class BitmapReader {
public:
    BitmapReader(const File& file, const Header& header)
        : file_(file), header_(header), tables_(file), bits_(header.cluster_bytes()) {}

    std::vector<Bitmap> read_all();

private:
    // One entry of the directory; `length` gets its bytes.
    Bitmap read_entry(std::span<const std::byte> rest, std::uint64_t& length);
    void read_table(Bitmap& bitmap, std::uint64_t table, std::uint64_t entries);
    // The next `count` granules from `first` on are dirty.
    void add_dirty(Bitmap& bitmap, std::uint64_t first, std::uint64_t count);
    void add_bits(Bitmap& bitmap, std::uint64_t first, std::uint64_t count);
    void require(bool holds, const std::string& what) const {
        if (!holds) {
            throw ImageError(fmt::format("{}: its bitmaps cannot be read: {}", file_.name(), what));
        }
    }

    const File& file_;
    const Header& header_;
    MetadataCache tables_;
    std::vector<std::byte> bits_;
    std::uint64_t entries_read_ = 0;
    std::uint64_t bytes_read_ = 0;
    std::size_t ranges_ = 0;
};

std::vector<Bitmap> BitmapReader::read_all() {
    const BitmapDirectory& place = *header_.bitmaps;
    require(place.bitmaps != 0 && place.bitmaps <= max_bitmaps,
            fmt::format("there are {} of them", place.bitmaps));
    require(place.bytes <= max_bitmap_directory_bytes && place.bytes <= file_.size() &&
                place.offset % header_.cluster_bytes() == 0 &&
                place.offset <= file_.size() - place.bytes,
            fmt::format("a directory of {} bytes at {}", place.bytes, place.offset));
    std::vector<std::byte> directory(place.bytes);
    require(file_.read_at(place.offset, directory) == directory.size(), "the directory is cut off");
    std::vector<Bitmap> bitmaps;
    std::span<const std::byte> rest(directory);
    while (!rest.empty()) {
        std::uint64_t length = 0;
        bitmaps.push_back(read_entry(rest, length));
        rest = rest.subspan(length);
    }
    require(bitmaps.size() == place.bitmaps, "the directory has another number of them");
    return bitmaps;
}

Bitmap BitmapReader::read_entry(std::span<const std::byte> rest, std::uint64_t& length) {
    require(rest.size() >= bitmap_head_bytes, "the directory ends inside an entry");
    const std::byte* const head = rest.data();
    const auto table = load_be<std::uint64_t>(head + at_bitmap_table);
    const auto entries = load_be<std::uint32_t>(head + at_bitmap_entries);
    const auto flags = load_be<std::uint32_t>(head + at_bitmap_flags);
    const auto granularity = load_be<std::uint8_t>(head + at_bitmap_granularity);
    const auto name_length = load_be<std::uint16_t>(head + at_bitmap_name_length);
    const auto extra_length = load_be<std::uint32_t>(head + at_bitmap_extra_length);
    require(load_be<std::uint8_t>(head + at_bitmap_type) == bitmap_dirty_tracking &&
                (flags & ~(bitmap_in_use | bitmap_auto)) == 0 && extra_length == 0,
            "one is of an unknown kind");
    require(name_length >= 1 && name_length <= max_bitmap_name, "one has no name, or a long one");
    length = round_up(bitmap_head_bytes + name_length, 8);
    require(length <= rest.size(), "the directory ends inside a name");
    require(
        granularity >= min_bitmap_granularity_bits && granularity <= max_bitmap_granularity_bits,
        fmt::format("a granularity of 2^{} bytes", granularity));
    Bitmap bitmap;
    const auto name = rest.subspan(bitmap_head_bytes, name_length);
    std::ranges::transform(name, std::back_inserter(bitmap.name),
                           [](std::byte byte) { return std::to_integer<char>(byte); });
    bitmap.granularity = std::uint64_t{1} << granularity;
    bitmap.in_use = (flags & bitmap_in_use) != 0;
    bitmap.enabled = (flags & bitmap_auto) != 0;
    require(table != 0 && table % header_.cluster_bytes() == 0 && entries != 0 &&
                entries <= max_bitmap_bytes / header_.cluster_bytes(),
            fmt::format("a table of {} entries at {}", entries, table));
    if (!bitmap.in_use) {
        read_table(bitmap, table, entries);
    }
    return bitmap;
}

void BitmapReader::read_table(Bitmap& bitmap, std::uint64_t table, std::uint64_t entries) {
    const std::uint64_t granules = divide_up(header_.size, bitmap.granularity);
    const std::uint64_t per_entry = header_.cluster_bytes() * 8;
    require(divide_up(granules, per_entry) <= entries,
            fmt::format("a table of {} entries is too short", entries));
    entries = divide_up(granules, per_entry);
    entries_read_ += entries;
    require(entries_read_ <= max_table_entries, "the tables are too long");
    for (std::uint64_t number = 0; number < entries; ++number) {
        const std::uint64_t entry = tables_.entry(table + number * 8);
        const std::uint64_t offset = entry & offset_mask;
        require((entry & bitmap_reserved) == 0 && offset % header_.cluster_bytes() == 0 &&
                    (offset == 0 || (entry & bitmap_all_dirty) == 0),
                fmt::format("a table has the entry {:#x}", entry));
        const std::uint64_t first = number * per_entry;
        const std::uint64_t count = std::min(granules - first, per_entry);
        if (offset != 0) {
            bytes_read_ += bits_.size();
            require(bytes_read_ <= max_bits_bytes, "they are too large");
            require(file_.read_at(offset, bits_) == bits_.size(), "bits past the end of the file");
            add_bits(bitmap, first, count);
        } else if ((entry & bitmap_all_dirty) != 0) {
            add_dirty(bitmap, first, count);
        }
    }
}

void BitmapReader::add_bits(Bitmap& bitmap, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t bit = 0; bit < count;) {
        const std::byte byte = bits_[bit / 8];
        const std::uint64_t left = std::min<std::uint64_t>(8 - bit % 8, count - bit);
        if (byte == std::byte{0}) {
            bit += left;
        } else if (byte == std::byte{0xff}) {
            add_dirty(bitmap, first + bit, left);
            bit += left;
        } else {
            if ((byte >> (bit % 8) & std::byte{1}) != std::byte{0}) {
                add_dirty(bitmap, first + bit, 1);
            }
            ++bit;
        }
    }
}

void BitmapReader::add_dirty(Bitmap& bitmap, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t offset = first * bitmap.granularity;
    const std::uint64_t length = std::min(count * bitmap.granularity, header_.size - offset);
    if (!bitmap.dirty.empty() &&
        bitmap.dirty.back().offset + bitmap.dirty.back().length == offset) {
        bitmap.dirty.back().length += length;
        return;
    }
    require(++ranges_ <= max_ranges, "too many dirty ranges");
    bitmap.dirty.push_back({offset, length});
}

}  // namespace

std::vector<Bitmap> list_bitmaps(const std::string& directory, const std::string& name) {
    const File file = File::open(directory, name);
    const Header header = read_header(file);
    if (!header.bitmaps || (header.autoclear & autoclear_bitmaps) == 0) {
        return {};
    }
    return BitmapReader(file, header).read_all();
}

}  // namespace difffuzz::qcow2
