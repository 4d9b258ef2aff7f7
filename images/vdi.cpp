#include "images/vdi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "images/bytes.hpp"
#include "images/content_model.hpp"
#include "images/damage_tables.hpp"
#include "images/image_error.hpp"
#include "images/mapped_reader.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_rules.hpp"
#include "images/recipe_uuid.hpp"
#include "images/touched_blocks.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

// Header version 1.1, little-endian (VirtualBox's VDICore.h; as far as qemu-img's block/vdi.c
// writes and accepts it).
constexpr std::size_t header_bytes = 512;
constexpr std::string_view signature_text = "<<< QEMU VM Virtual Disk Image >>>\n";
constexpr std::uint32_t signature = 0xbeda107f;
constexpr std::uint32_t version_1_1 = 0x00010001;
constexpr std::uint32_t header_size = 0x180;  // of the part that version 1.1 defines
constexpr std::uint32_t type_dynamic = 1;
constexpr std::uint32_t type_static = 2;
constexpr std::size_t at_signature = 64;
constexpr std::size_t at_version = 68;
constexpr std::size_t at_header_size = 72;
constexpr std::size_t at_type = 76;
constexpr std::size_t at_map_offset = 340;
constexpr std::size_t at_data_offset = 344;
constexpr std::size_t at_sector_size = 360;
constexpr std::size_t at_disk_size = 368;
constexpr std::size_t at_block_size = 376;
constexpr std::size_t at_blocks = 384;
constexpr std::size_t at_allocated = 388;
constexpr std::size_t at_uuid = 392;
constexpr std::size_t at_uuid_snapshot = 408;
constexpr std::size_t at_uuid_link = 424;  // then the parent's: zero in an image that stands alone
constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;
// Map entries at or above the first have no data: discarded, never written.
constexpr std::uint32_t discarded = 0xfffffffe;
constexpr std::uint32_t unallocated = 0xffffffff;

// A map of 4 MiB.
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t max_static_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t max_read_blocks = std::uint64_t{1} << 24;

constexpr std::array<OptionRule, 1> option_rules{{{"static", is_on_or_off, "on or off"}}};

bool is_static(const ImageRecipe& recipe) { return word_option(recipe, "static", "off") == "on"; }

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    RecipeRules rules;
    rules.max_bytes = is_static(recipe) ? max_static_bytes : max_bytes;
    std::string broken = broken_recipe_rule(recipe, rules, option_rules);
    return broken.empty() ? broken_block_volume(recipe, block_bytes) : broken;
}

struct Layout {
    std::vector<std::uint32_t> map;
    std::uint64_t data_offset = 0;
    std::uint32_t allocated = 0;
};

Layout lay_out(const ImageRecipe& recipe) {
    Layout layout;
    layout.map.assign(divide_up(actual_size(recipe), block_bytes), unallocated);
    layout.data_offset = header_bytes + round_up(layout.map.size() * 4, sector_bytes);
    if (is_static(recipe)) {
        for (std::uint32_t& entry : layout.map) {
            entry = layout.allocated++;
        }
        return layout;
    }
    const auto blocks = touched_blocks(recipe.content, block_bytes, actual_size(recipe));
    for (const auto& [begin, range] : blocks.ranges()) {
        for (std::uint64_t block = begin; block < range.end; ++block) {
            layout.map[block] = range.value == BlockUse::data ? layout.allocated++ : discarded;
        }
    }
    return layout;
}

std::array<std::byte, header_bytes> encode_header(const ImageRecipe& recipe, const Layout& layout) {
    std::array<std::byte, header_bytes> header{};
    const auto put = [&](std::size_t at, std::uint32_t value) {
        store_le(header.data() + at, value);
    };
    std::ranges::copy(std::as_bytes(std::span(signature_text)), header.begin());
    put(at_signature, signature);
    put(at_version, version_1_1);
    put(at_header_size, header_size);
    put(at_type, is_static(recipe) ? type_static : type_dynamic);
    put(at_map_offset, header_bytes);
    put(at_data_offset, static_cast<std::uint32_t>(layout.data_offset));
    put(at_sector_size, sector_bytes);
    store_le(header.data() + at_disk_size, actual_size(recipe));
    put(at_block_size, block_bytes);
    put(at_blocks, static_cast<std::uint32_t>(layout.map.size()));
    put(at_allocated, layout.allocated);
    const RecipeHash hash = recipe_hash(recipe);
    std::ranges::copy(recipe_guid(hash, 0), header.begin() + at_uuid);
    std::ranges::copy(recipe_guid(hash, 1), header.begin() + at_uuid_snapshot);
    return header;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    const Layout layout = lay_out(recipe);
    const auto content = model_of(c, recipe.id);
    const File file = File::create(directory, file_name(recipe.id, recipe.format));
    SparseWriter out(file);
    out.put(0, encode_header(recipe, layout));
    std::vector<std::byte> map(layout.map.size() * 4);
    for (std::size_t block = 0; block < layout.map.size(); ++block) {
        store_le(map.data() + block * 4, layout.map[block]);
    }
    out.put(header_bytes, map);
    for (std::size_t block = 0; block < layout.map.size(); ++block) {
        if (layout.map[block] < discarded) {
            put_content(*content, block * block_bytes, block_bytes,
                        layout.data_offset + layout.map[block] * block_bytes, out);
        }
    }
    out.finish();
    file.resize(layout.data_offset + layout.allocated * block_bytes);
}

class Reader : public MappedReader {
public:
    Reader(File file, std::uint64_t size, std::uint64_t map_offset, std::uint64_t data_offset)
        : MappedReader(std::move(file), size), map_offset_(map_offset), data_offset_(data_offset) {}

private:
    MappedRun map(std::uint64_t offset) const override {
        const std::uint64_t within = offset % block_bytes;
        const std::uint32_t entry = entry_le32(map_offset_ + offset / block_bytes * 4);
        if (entry >= discarded) {
            return {MappedRun::Kind::zero, block_bytes - within, 0};
        }
        return {MappedRun::Kind::data, block_bytes - within,
                data_offset_ + entry * block_bytes + within};
    }

    std::uint64_t map_offset_;
    std::uint64_t data_offset_;
};

std::unique_ptr<ContentSource> open(const std::string& directory, const std::string& name) {
    File file = File::open(directory, name);
    std::array<std::byte, header_bytes> header{};
    file.read_at(0, header);
    const auto field = [&](std::size_t at) { return load_le<std::uint32_t>(header.data() + at); };
    const std::uint64_t size = load_le<std::uint64_t>(header.data() + at_disk_size);
    const std::uint64_t blocks = field(at_blocks);
    const auto links = std::span(header).subspan(at_uuid_link, 2 * sizeof(Uuid));
    if (field(at_signature) != signature || field(at_version) != version_1_1 ||
        field(at_sector_size) != sector_bytes || field(at_block_size) != block_bytes ||
        field(at_map_offset) % sector_bytes != 0 || field(at_data_offset) % sector_bytes != 0 ||
        !std::ranges::all_of(links, [](std::byte byte) { return byte == std::byte{0}; })) {
        throw ImageError(fmt::format("{}: is not a vdi image that can be read in-process", name));
    }
    if (blocks > max_read_blocks || size > blocks * block_bytes) {
        throw ImageError(fmt::format("{}: {} blocks for {} bytes", name, blocks, size));
    }
    return std::make_unique<Reader>(std::move(file), round_up(size, sector_bytes),
                                    field(at_map_offset), field(at_data_offset));
}

// A parent is named by its UUID, which leads to no file.
std::vector<ForeignReference> references(const std::string&, const std::string&) { return {}; }

std::uint64_t cluster_bytes(const ImageRecipe&) { return block_bytes; }

}  // namespace

Format vdi_format() {
    Format format{};
    format.name = "vdi";
    format.checkable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = open;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = vdi_damage();
    return format;
}

}  // namespace difffuzz
