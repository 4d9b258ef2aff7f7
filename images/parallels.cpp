#include "images/parallels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>
#include <vector>

#include "images/bytes.hpp"
#include "images/content_model.hpp"
#include "images/damage_tables.hpp"
#include "images/image_error.hpp"
#include "images/mapped_reader.hpp"
#include "images/recipe_rules.hpp"
#include "images/touched_blocks.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

// "Parallels Expandable Image File Format" (docs/interop/parallels of qemu), its second signature:
// entries of the allocation table (BAT), which follows the header, count clusters from the start of
// the file. Little-endian.
constexpr std::size_t header_bytes = 64;
constexpr std::string_view magic = "WithouFreSpacExt";
constexpr std::uint32_t version = 2;
constexpr std::size_t at_version = 16;
constexpr std::size_t at_heads = 20;
constexpr std::size_t at_cylinders = 24;
constexpr std::size_t at_cluster_sectors = 28;
constexpr std::size_t at_bat_entries = 32;
constexpr std::size_t at_sectors = 36;  // 64 bits
constexpr std::size_t at_in_use = 44;
constexpr std::size_t at_data_offset = 48;  // sectors
constexpr std::size_t at_flags = 52;
constexpr std::size_t at_extension = 56;  // 64 bits
// The geometry has no meaning to anyone who reads the size.
constexpr std::uint32_t heads = 16;
constexpr std::uint32_t sectors_per_track = 32;

constexpr std::uint64_t default_cluster_bytes = std::uint64_t{1} << 20;
// A table of 4 MiB.
constexpr std::uint64_t max_clusters = std::uint64_t{1} << 20;
constexpr std::uint64_t max_read_clusters = std::uint64_t{1} << 24;

bool is_cluster_size(std::uint64_t bytes) {
    return std::has_single_bit(bytes) && bytes >= 4096 && bytes <= std::uint64_t{16} << 20;
}

constexpr std::array<OptionRule, 1> option_rules{{
    {"cluster_size", [](const Scalar& value) { return is_cluster_size(scalar_number(value)); },
     "a power of two from 4K to 16M"},
}};

std::uint64_t cluster_bytes(const ImageRecipe& recipe) {
    return number_option(recipe, "cluster_size", default_cluster_bytes);
}

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    const std::uint64_t cluster = cluster_bytes(recipe);
    RecipeRules rules;
    // The option may still be wrong: the bound is about one that makes sense.
    if (is_cluster_size(cluster)) {
        rules.max_bytes = std::min(max_image_bytes, max_clusters * cluster);
    }
    std::string broken = broken_recipe_rule(recipe, rules, option_rules);
    return broken.empty() ? broken_block_volume(recipe, cluster) : broken;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    const std::uint64_t cluster = cluster_bytes(recipe);
    const std::uint64_t size = actual_size(recipe);
    const std::uint64_t entries = divide_up(size, cluster);
    const std::uint64_t data_offset = round_up(header_bytes + entries * 4, cluster);

    std::array<std::byte, header_bytes> header{};
    const auto put = [&](std::size_t at, std::uint64_t value) {
        store_le(header.data() + at, static_cast<std::uint32_t>(value));
    };
    std::ranges::copy(std::as_bytes(std::span(magic)), header.begin());
    put(at_version, version);
    put(at_heads, heads);
    put(at_cylinders, divide_up(size / sector_bytes, heads * sectors_per_track));
    put(at_cluster_sectors, cluster / sector_bytes);
    put(at_bat_entries, entries);
    store_le(header.data() + at_sectors, size / sector_bytes);
    put(at_data_offset, data_offset / sector_bytes);

    const auto content = model_of(c, recipe.id);
    const File file = File::create(directory, file_name(recipe.id, recipe.format));
    SparseWriter out(file);
    out.put(0, header);
    std::vector<std::uint64_t> allocated;  // guest clusters, ascending
    const auto blocks = touched_blocks(recipe.content, cluster, size);
    for (const auto& [begin, range] : blocks.ranges()) {
        for (std::uint64_t at = begin; range.value == BlockUse::data && at < range.end; ++at) {
            std::array<std::byte, 4> entry{};
            store_le(entry.data(),
                     static_cast<std::uint32_t>(data_offset / cluster + allocated.size()));
            out.put(header_bytes + at * 4, entry);
            allocated.push_back(at);
        }
    }
    for (std::size_t i = 0; i < allocated.size(); ++i) {
        put_content(*content, allocated[i] * cluster, cluster, data_offset + i * cluster, out);
    }
    out.finish();
    file.resize(data_offset + allocated.size() * cluster);
}

class Reader : public MappedReader {
public:
    Reader(File file, std::uint64_t size, std::uint64_t cluster)
        : MappedReader(std::move(file), size), cluster_(cluster) {}

private:
    MappedRun map(std::uint64_t offset) const override {
        const std::uint64_t within = offset % cluster_;
        const std::uint64_t entry = entry_le32(header_bytes + offset / cluster_ * 4);
        if (entry == 0) {
            return {MappedRun::Kind::unallocated, cluster_ - within, 0};
        }
        return {MappedRun::Kind::data, cluster_ - within, entry * cluster_ + within};
    }

    std::uint64_t cluster_;
};

std::unique_ptr<ContentSource> open(const std::string& directory, const std::string& name) {
    File file = File::open(directory, name);
    std::array<std::byte, header_bytes> header{};
    file.read_at(0, header);
    const auto field = [&](std::size_t at) { return load_le<std::uint32_t>(header.data() + at); };
    const auto sectors = load_le<std::uint64_t>(header.data() + at_sectors);
    const std::uint64_t cluster = field(at_cluster_sectors) * sector_bytes;
    if (!std::ranges::equal(std::span(header).first(magic.size()),
                            std::as_bytes(std::span(magic))) ||
        field(at_version) != version || field(at_in_use) != 0 || field(at_flags) != 0 ||
        load_le<std::uint64_t>(header.data() + at_extension) != 0 || !is_cluster_size(cluster)) {
        throw ImageError(
            fmt::format("{}: is not a parallels image that can be read in-process", name));
    }
    if (field(at_bat_entries) > max_read_clusters ||
        divide_up(sectors, cluster / sector_bytes) > field(at_bat_entries)) {
        throw ImageError(
            fmt::format("{}: {} clusters for {} sectors", name, field(at_bat_entries), sectors));
    }
    return std::make_unique<Reader>(std::move(file), sectors * sector_bytes, cluster);
}

// Snapshots are listed in a file of their own, which qemu-img does not read.
std::vector<ForeignReference> references(const std::string&, const std::string&) { return {}; }

}  // namespace

Format parallels_format() {
    Format format{};
    format.name = "parallels";
    format.checkable = true;
    format.bytes_stable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = open;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = parallels_damage();
    return format;
}

}  // namespace difffuzz
