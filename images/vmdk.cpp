#include "images/vmdk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "images/bytes.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/neutral_build.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_rules.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

// Sparse extent header ("Virtual Disk Format 1.1", VMware): little-endian, sizes in sectors.
constexpr std::uint32_t sparse_magic = 0x564d444b;  // "KDMV"
constexpr std::size_t at_descriptor_offset = 28;
constexpr std::size_t at_descriptor_size = 36;
constexpr std::size_t header_bytes = 512;
constexpr std::uint64_t grain_bytes = 65536;
// Larger than any descriptor that qemu-img reads.
constexpr std::uint64_t max_descriptor_bytes = std::uint64_t{1} << 20;

constexpr std::array<OptionRule, 1> option_rules{
    {{"subformat", [](const Scalar& value) { return is_word(value, "monolithicSparse"); },
      "monolithicSparse"}}};

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    RecipeRules rules;
    rules.max_bytes = std::uint64_t{1} << 41;
    return broken_recipe_rule(recipe, rules, option_rules);
}

struct Area {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

// Where the text descriptor lies: behind a sparse extent's header, or the file is one.
Area descriptor_area(const File& file) {
    std::array<std::byte, header_bytes> header{};
    file.read_at(0, header);
    const std::uint64_t size = file.size();
    if (load_le<std::uint32_t>(header.data()) != sparse_magic) {
        return {0, std::min(size, max_descriptor_bytes)};
    }
    const auto sector = load_le<std::uint64_t>(header.data() + at_descriptor_offset);
    const auto sectors = load_le<std::uint64_t>(header.data() + at_descriptor_size);
    if (sector == 0 || sector >= size / sector_bytes) {
        return {};
    }
    const std::uint64_t offset = sector * sector_bytes;
    const std::uint64_t most = std::min(size - offset, max_descriptor_bytes);
    return {offset, std::min(most, std::min(sectors, most / sector_bytes) * sector_bytes)};
}

// The text of an area up to its first NUL, where readers stop. Most files are no descriptor and
// have one early.
std::string read_descriptor(const File& file, const Area& area) {
    constexpr std::size_t part_bytes = 4096;
    std::string text;
    while (text.size() < area.length) {
        std::array<char, part_bytes> part;  // NOLINT(*-member-init): filled by the read
        const std::size_t wanted = std::min<std::uint64_t>(part_bytes, area.length - text.size());
        const std::size_t got = file.read_at(area.offset + text.size(),
                                             std::as_writable_bytes(std::span(part).first(wanted)));
        const std::string_view bytes(part.data(), got);
        text += bytes.substr(0, bytes.find('\0'));
        if (got < part_bytes || bytes.find('\0') != std::string_view::npos) {
            break;
        }
    }
    return text;
}

// The content id is random in what qemu-img makes.
void canonicalise(const ImageRecipe& recipe, const std::string& directory) {
    const File file = File::open_for_update(directory, file_name(recipe.id, recipe.format));
    const Area area = descriptor_area(file);
    std::string text = read_descriptor(file, area);
    constexpr std::string_view key = "\nCID=";
    const std::size_t found = text.find(key);
    if (found == std::string::npos) {
        throw ImageError(fmt::format("{}: qemu-img made a vmdk without a content id", file.name()));
    }
    const std::size_t begin = found + key.size();
    // The two highest values mean "no parent" to some readers.
    const auto id = static_cast<std::uint32_t>(recipe_hash(recipe).low % 0xfffffffe);
    text.replace(begin, text.find('\n', begin) - begin, fmt::format("{:08x}", id));
    if (text.size() > area.length) {
        throw ImageError(fmt::format("{}: its descriptor has no room for an id", file.name()));
    }
    text.resize(area.length, '\0');
    file.write_at(area.offset, std::as_bytes(std::span(text)));
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory,
           NeutralTools& tools) {
    build_by_convert(c, recipe, actual_size(recipe), "subformat=monolithicSparse", directory,
                     tools);
    canonicalise(recipe, directory);
}

// Reads names as qemu-img does: an extent line is an access word and a quoted name, and the
// parent's name stands two characters (=") behind its key, wherever that is.
std::string_view extent_name(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view access = line.substr(0, line.find_first_of(blanks));
    const std::size_t quote = line.find('"');
    if ((access != "RW" && access != "RDONLY" && access != "NOACCESS") ||
        quote == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(quote + 1);
    return line.substr(0, line.find_first_of("\"\r"));
}

std::string_view parent_name(std::string_view line) {
    constexpr std::string_view key = "parentFileNameHint";
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos || line.size() - at < key.size() + 2) {
        return {};
    }
    line.remove_prefix(at + key.size() + 2);
    return line.substr(0, line.find_first_of("\"\r"));
}

void find_references(std::string_view text, std::vector<ForeignReference>& found) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (const std::string_view name = extent_name(line); !name.empty()) {
            found.push_back({"extent", std::string(name)});
        }
        if (const std::string_view name = parent_name(line); !name.empty()) {
            found.push_back({"parent", std::string(name)});
        }
    }
}

std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    std::vector<ForeignReference> found;
    try {
        const File file = File::open(directory, name);
        Area area = descriptor_area(file);
        // qemu-img reads on past the size that the header gives.
        area.length = std::min(file.size() - area.offset, max_descriptor_bytes);
        find_references(read_descriptor(file, area), found);
    } catch (const ImageError&) {
        // A file that cannot be read leads nowhere.
    }
    return found;
}

std::uint64_t cluster_bytes(const ImageRecipe&) { return grain_bytes; }

}  // namespace

Format vmdk_format() {
    Format format{};
    format.name = "vmdk";
    format.checkable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.open = nullptr;  // converted to raw instead
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    return format;
}

}  // namespace difffuzz
