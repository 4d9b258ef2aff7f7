// Offsets as in "Virtual Disk Format 1.1" (VMware): the sparse extent, and the text descriptor,
// within it or a file of its own.
#include <algorithm>
#include <array>
#include <string>

#include "images/damage_places.hpp"
#include "images/damage_tables.hpp"
#include "images/virtual_content.hpp"
#include "images/vmdk_descriptor.hpp"

namespace difffuzz {
namespace {

using namespace vmdk;

bool is_sparse(const File& file) { return little_at<std::uint32_t>(file, 0) == sparse_magic; }

bool is_stream(const File& file) {
    return is_sparse(file) && little_at<std::uint16_t>(file, at_compression) != 0;
}

// A stream that was written in one go has its header once more at its end, between markers of one
// sector each, with the offset of the directory, which was not known at the start.
constexpr std::uint64_t footer_bytes = 3 * sector_bytes;
constexpr std::uint64_t at_marker_type = 12;
constexpr std::uint32_t marker_footer = 3;
bool has_footer(const File& file) {
    return is_stream(file) && little_at<std::uint64_t>(file, at_directory_offset) == UINT64_MAX;
}
std::uint64_t footer(const File& file) { return file.size() - footer_bytes; }

// qemu-img makes streams without one.
void add_footer(const ImageRecipe& recipe, const File& file) {
    if (!is_stream(file) || std::ranges::none_of(recipe.damage, [](const Damage& damage) {
            return damage.field.starts_with("footer.");
        })) {
        return;
    }
    std::array<std::byte, footer_bytes> end{};
    store_le(end.data(), std::uint64_t{1});
    store_le(end.data() + at_marker_type, marker_footer);
    file.read_at(0, std::span(end).subspan(sector_bytes, header_bytes));
    file.write_at(round_up(file.size(), sector_bytes), end);
    std::array<std::byte, 8> at_end{};
    store_le(at_end.data(), UINT64_MAX);
    file.write_at(at_directory_offset, at_end);
}

template <std::uint64_t within>
Places header_field(const File& file) {
    return is_sparse(file) ? Places{within} : Places{};
}
template <std::uint64_t within>
Places footer_field(const File& file) {
    return has_footer(file) ? Places{footer(file) + within} : Places{};
}

// Of the directory whose offset stands at `within` in the header that counts.
Places directory(const File& file, std::uint64_t within) {
    if (!is_sparse(file)) {
        return {};
    }
    const std::uint64_t header = has_footer(file) ? footer(file) + sector_bytes : 0;
    const auto large = [&](std::uint64_t at) {
        return little_at<std::uint64_t>(file, header + at);
    };
    const std::uint64_t covers =
        large(at_grain_size) * little_at<std::uint32_t>(file, header + at_table_entries);
    Places entries;
    if (large(within) != 0 && covers != 0) {
        add_array(entries, large(within) * sector_bytes, divide_up(large(at_capacity), covers), 4);
    }
    return used_first(entries,
                      [&](std::uint64_t at) { return little_at<std::uint32_t>(file, at) != 0; });
}
constexpr std::size_t at_second_directory = 48;
Places second_directory(const File& file) { return directory(file, at_second_directory); }
Places first_directory(const File& file) { return directory(file, at_directory_offset); }

Places table_entries(const File& file) {
    Places entries;
    for (const std::uint64_t at : first_directory(file)) {
        if (const auto table = little_at<std::uint32_t>(file, at); table != 0) {
            add_array(entries, table * sector_bytes,
                      little_at<std::uint32_t>(file, at_table_entries), 4);
        }
    }
    return used_first(entries,
                      [&](std::uint64_t at) { return little_at<std::uint32_t>(file, at) != 0; });
}

// A compressed grain starts with its first sector's number and its length.
template <std::uint64_t within>
Places grain_field(const File& file) {
    Places places;
    if (is_stream(file)) {
        for (const std::uint64_t at : table_entries(file)) {
            if (const auto grain = little_at<std::uint32_t>(file, at); grain > 1) {
                places.push_back(grain * sector_bytes + within);
            }
        }
    }
    return places;
}

// Where in the descriptor the value of a key stands, past "=" or "= " and a quote.
Places values_of(const File& file, std::string_view key) {
    const Area area = descriptor_area(file);
    const std::string text = "\n" + read_descriptor(file, area);
    Places places;
    const std::size_t found = text.find("\n" + std::string(key));
    if (found != std::string::npos) {
        const std::size_t value = text.find_first_not_of(" =\"", found + 1 + key.size());
        if (value != std::string::npos) {
            // One less for the line end in front.
            places.push_back(area.offset + value - 1);
        }
    }
    return places;
}

// The `number`th word of each line of an extent: access, sectors, type, name, offset.
Places extent_words(const File& file, std::size_t number) {
    const Area area = descriptor_area(file);
    const std::string text = "\n" + read_descriptor(file, area);
    Places places;
    for (std::size_t line = text.find("\nRW "); line != std::string::npos && places.size() < 64;
         line = text.find("\nRW ", line + 1)) {
        const std::size_t end = text.find('\n', line + 1);
        std::size_t at = line + 1;
        for (std::size_t i = 0; i < number && at < end; ++i) {
            at = text.find_first_of(" \"", at);
            at = text.find_first_not_of(" \"", at);
        }
        if (at < end) {
            places.push_back(area.offset + at - 1);
        }
    }
    return places;
}
template <std::size_t number>
Places extent_word(const File& file) {
    return extent_words(file, number);
}

Places descriptor_version(const File& file) { return values_of(file, "version"); }
Places content_id(const File& file) { return values_of(file, "CID"); }
Places parent_id(const File& file) { return values_of(file, "parentCID"); }
Places create_type(const File& file) { return values_of(file, "createType"); }
Places parent_name(const File& file) { return values_of(file, "parentFileNameHint"); }
Places hardware_version(const File& file) { return values_of(file, "ddb.virtualHWVersion"); }
Places cylinders(const File& file) { return values_of(file, "ddb.geometry.cylinders"); }
Places adapter(const File& file) { return values_of(file, "ddb.adapterType"); }

struct TextRow : DamageField {
    constexpr TextRow(std::string_view field, Places (*of)(const File&),
                      std::span<const std::string_view> replacements)
        : DamageField{field, 0, ByteOrder::little, 0, of} {
        words = replacements;
    }
    constexpr TextRow unread(std::string_view why) const {
        TextRow row = *this;
        row.ignored = why;
        return row;
    }
};

constexpr std::string_view ids[] = {"0", "1", "fffffffe", "ffffffff", "100000000", "zz", ""};
constexpr std::string_view types[] = {"monolithicFlat",
                                      "monolithicSparse",
                                      "twoGbMaxExtentSparse",
                                      "twoGbMaxExtentFlat",
                                      "streamOptimized",
                                      "vmfs",
                                      "vmfsSparse",
                                      "seSparse",
                                      "fullDevice",
                                      "nothing",
                                      ""};
constexpr std::string_view accesses[] = {"RDONLY", "NOACCESS", "rw", "RWRW", ""};
constexpr std::string_view kinds[] = {"FLAT",       "SPARSE",   "ZERO",   "VMFS",
                                      "VMFSSPARSE", "SESPARSE", "DEVICE", ""};
constexpr std::string_view numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "x",
                                        "",
                                        "9223372036854775807",
                                        "18446744073709551615",
                                        "36028797018963967",
                                        "99999999999999999999"};
// Names of files beside the image: itself (a loop), another's, none.
constexpr std::string_view names[] = {
    "src.vmdk", "src.raw", "src-flat.vmdk", "first.vmdk", "base.vmdk", "nowhere.vmdk", ""};
constexpr std::string_view no_use = "qemu-img does not look at it";

}  // namespace

DamageTable vmdk_damage() {
    constexpr auto row = [](std::string_view name, unsigned bytes, auto where) {
        return FieldRow(ByteOrder::little, name, bytes, where);
    };
    constexpr std::uint64_t sector = sector_bytes;
    static constexpr DamageField fields[] = {
        row("header.magic", 4, header_field<0>),
        row("header.version", 4, header_field<at_version>),
        row("header.flags", 4, header_field<at_flags>),
        row("header.capacity", 8, header_field<at_capacity>),
        row("header.grain_size", 8, header_field<at_grain_size>),
        row("header.descriptor_offset", 8, header_field<at_descriptor_offset>)
            .pointer(sector)
            .unread("counts where the capacity is 0"),
        row("header.descriptor_size", 8, header_field<at_descriptor_size>).unread(no_use),
        row("header.table_entries", 4, header_field<at_table_entries>),
        row("header.second_directory", 8, header_field<at_second_directory>).pointer(sector),
        row("header.directory", 8, header_field<at_directory_offset>).pointer(sector),
        row("header.overhead", 8, header_field<at_overhead>).pointer(sector),
        row("header.unclean", 1, header_field<72>).unread(no_use),
        row("header.newline_test", 4, header_field<73>).unread(no_use),
        row("header.compression", 2, header_field<at_compression>),
        row("footer.marker_sectors", 8, footer_field<0>).unread(no_use),
        row("footer.marker_bytes", 4, footer_field<8>),
        row("footer.marker_type", 4, footer_field<at_marker_type>),
        row("footer.magic", 4, footer_field<sector_bytes>),
        row("footer.version", 4, footer_field<sector_bytes + at_version>),
        row("footer.flags", 4, footer_field<sector_bytes + at_flags>),
        row("footer.capacity", 8, footer_field<sector_bytes + at_capacity>),
        row("footer.grain_size", 8, footer_field<sector_bytes + at_grain_size>),
        row("footer.table_entries", 4, footer_field<sector_bytes + at_table_entries>),
        row("footer.directory", 8, footer_field<sector_bytes + at_directory_offset>)
            .pointer(sector),
        row("footer.compression", 2, footer_field<sector_bytes + at_compression>),
        row("footer.end_type", 4, footer_field<2 * sector_bytes + at_marker_type>),
        row("directory.entry", 4, first_directory).pointer(sector),
        row("second_directory.entry", 4, second_directory).pointer(sector),
        row("table.entry", 4, table_entries).pointer(sector),
        row("grain.sector", 8, grain_field<0>).unread("readers go by the tables"),
        row("grain.bytes", 4, grain_field<8>),
        TextRow("descriptor.version", descriptor_version, numbers),
        TextRow("descriptor.id", content_id, ids),
        TextRow("descriptor.parent_id", parent_id, ids),
        TextRow("descriptor.type", create_type, types),
        TextRow("descriptor.parent", parent_name, names),
        TextRow("descriptor.hardware", hardware_version, numbers).unread(no_use),
        TextRow("descriptor.cylinders", cylinders, numbers).unread(no_use),
        TextRow("descriptor.adapter", adapter, ids).unread(no_use),
        TextRow("extent.access", extent_word<0>, accesses),
        TextRow("extent.sectors", extent_word<1>, numbers),
        TextRow("extent.kind", extent_word<2>, kinds),
        TextRow("extent.name", extent_word<3>, names),
        TextRow("extent.offset", extent_word<4>, numbers),
    };
    return {fields, add_footer};
}

}  // namespace difffuzz
