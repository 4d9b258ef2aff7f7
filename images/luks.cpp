#include "images/luks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "images/bytes.hpp"
#include "images/content_model.hpp"
#include "images/damage_tables.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/luks_layout.hpp"
#include "images/luks_volume.hpp"
#include "images/recipe_rules.hpp"
#include "images/sparse_writer.hpp"
#include "images/transfer_split.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

static_assert(luks::sector == sector_bytes);

// All of it is encrypted and written.
constexpr std::uint64_t max_bytes = std::uint64_t{16} << 20;

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    return broken_recipe_rule(recipe, {.max_bytes = max_bytes}, {});
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    const luks::Bytes key = luks::master_key(recipe);
    const File file = File::create(directory, file_name(recipe.id, recipe.format));
    SparseWriter out(file);
    luks::write_header(recipe, 0, out);
    const auto content = model_of(c, recipe.id);
    const std::uint64_t size = actual_size(recipe);
    const std::uint64_t payload = luks::payload_sector * sector_bytes;
    for (const auto [at, length] : TransferSplit(0, size, SparseWriter::max_piece)) {
        const auto piece = out.reserve(payload + at, length);
        const std::uint64_t there = std::min(content->size() - at, std::uint64_t{piece.size()});
        content->read(at, piece.first(static_cast<std::size_t>(there)));
        luks::encrypt(key, at / sector_bytes, piece);
    }
    out.finish();
    file.resize(payload + size);
}

class Reader : public ContentSource {
public:
    Reader(File file, luks::Opened opened, std::uint64_t size)
        : file_(std::move(file)), opened_(std::move(opened)), size_(size) {}

    std::uint64_t size() const override { return size_; }

    ContentExtent extent(std::uint64_t offset) const override { return {size_ - offset, false}; }

    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        luks::read_decrypted(file_, opened_.key, opened_.payload, offset, bytes);
    }

private:
    File file_;
    luks::Opened opened_;
    std::uint64_t size_;
};

std::unique_ptr<ContentSource> open(const std::string& directory, const std::string& name) {
    File file = File::open(directory, name);
    luks::Opened opened = luks::open_header(file, 0);
    const std::uint64_t bytes = file.size();
    if (opened.payload > bytes) {
        throw ImageError(fmt::format("{}: the luks payload begins past the end of the file", name));
    }
    const std::uint64_t size = (bytes - opened.payload) / sector_bytes * sector_bytes;
    return std::make_unique<Reader>(std::move(file), std::move(opened), size);
}

// It names no other file.
std::vector<ForeignReference> references(const std::string&, const std::string&) { return {}; }

std::uint64_t cluster_bytes(const ImageRecipe&) { return 0; }

}  // namespace

Format luks_format() {
    Format format{};
    format.name = "luks";
    format.keyed = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = open;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    format.damage = luks_damage();
    return format;
}

}  // namespace difffuzz
