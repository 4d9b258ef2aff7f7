#include "images/qcow2.hpp"

#include <bit>

#include "images/bytes.hpp"
#include "images/content_model.hpp"
#include "images/image_error.hpp"
#include "images/qcow2_bitmaps.hpp"
#include "images/qcow2_builder.hpp"
#include "images/qcow2_damage.hpp"
#include "images/qcow2_header.hpp"
#include "images/qcow2_reader.hpp"
#include "images/qcow2_recipe.hpp"
#include "images/qcow2_snapshots.hpp"
#include "images/recipe_hash.hpp"
#include "images/recipe_rules.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

qcow2::BuildOptions build_options(const Case& c, const ImageRecipe& recipe) {
    qcow2::BuildOptions options;
    options.version = qcow2::is_version_2(recipe) ? 2 : 3;
    options.cluster_bits = static_cast<unsigned>(std::countr_zero(qcow2::cluster_bytes(recipe)));
    options.refcount_bits = qcow2::refcount_bits(recipe);
    options.extended_l2 = qcow2::has_extended_l2(recipe);
    options.lazy_refcounts = word_option(recipe, "lazy_refcounts", "off") == "on";
    options.compression = word_option(recipe, "compression_type", "zlib") == "zstd"
                              ? qcow2::Compression::zstd
                              : qcow2::Compression::zlib;
    options.data_file = qcow2::data_file(recipe);
    options.data_file_raw = qcow2::data_file_is_raw(recipe);
    if (recipe.backing) {
        options.backing_name = file_name_of(c, *recipe.backing);
        options.backing_format = format_of(c, *recipe.backing);
    }
    options.snapshots = recipe.snapshots;
    options.bitmaps = recipe.bitmaps;
    options.encrypted = qcow2::is_encrypted(recipe) ? &recipe : nullptr;
    // Some moment between 2001 and 2017.
    const RecipeHash hash = recipe_hash(recipe);
    options.snapshot_seconds = static_cast<std::uint32_t>(1'000'000'000 + hash.low % 500'000'000);
    options.snapshot_nanoseconds = static_cast<std::uint32_t>(hash.high % 1'000'000'000);
    return options;
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    std::vector<std::unique_ptr<ContentSource>> models;
    for (std::size_t i = 0; i < recipe.snapshots.size(); ++i) {
        models.push_back(model_of(c, ContentExpectation::of_snapshot(recipe.id, i)));
    }
    models.push_back(model_of(c, recipe.id));
    std::vector<const ContentSource*> contents;
    for (const auto& model : models) {
        contents.push_back(model.get());
    }
    qcow2::build_image(build_options(c, recipe), contents, recipe.content, directory,
                       file_name(recipe.id, recipe.format));
}

std::vector<std::string> extra_files(const ImageRecipe& recipe) {
    const std::string data_file = qcow2::data_file(recipe);
    return data_file.empty() ? std::vector<std::string>{} : std::vector{data_file};
}

std::vector<ForeignReference> references(const std::string& directory, const std::string& name) {
    qcow2::Header header;
    try {
        qcow2::read_header(File::open(directory, name), &header);
    } catch (const ImageError&) {
        // What was read up to there is in `header`: a broken image still leads tools astray.
    }
    std::vector<ForeignReference> found;
    if (!header.backing_name.empty()) {
        found.push_back({"backing", header.backing_name});
    }
    if (!header.data_file.empty()) {
        found.push_back({"data-file", header.data_file});
    }
    return found;
}

bool locked(const std::string& directory, const std::string& name) {
    try {
        return qcow2::read_header(File::open(directory, name)).encryption != 0;
    } catch (const ImageError&) {
        return false;
    }
}

}  // namespace

Format qcow2_format() {
    Format format{};
    format.name = "qcow2";
    format.checkable = true;
    format.bytes_stable = true;
    format.backing = true;
    format.compression = true;
    format.snapshots = true;
    format.bitmaps = true;
    format.actual_size = actual_size;
    format.validate = qcow2::validate;
    format.build = build;
    format.built_in_process = true;
    format.extra_files = extra_files;
    format.open = qcow2::open_image;
    format.open_snapshot = qcow2::open_snapshot;
    format.list_bitmaps = qcow2::list_bitmaps;
    format.references = references;
    format.locked = locked;
    format.damage.fields = qcow2::damage_fields();
    format.cluster_bytes = qcow2::cluster_bytes;
    return format;
}

}  // namespace difffuzz
