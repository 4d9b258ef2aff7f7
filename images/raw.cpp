#include "images/raw.hpp"

#include <algorithm>

#include "images/bytes.hpp"
#include "images/content_model.hpp"
#include "images/recipe_rules.hpp"
#include "images/sparse_writer.hpp"
#include "images/touched_blocks.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {
namespace {

// The file's bytes, then zeros up to a whole sector: qemu-img rounds a raw file's size up when it
// opens it.
class RawReader : public ContentSource {
public:
    explicit RawReader(File file)
        : file_(std::move(file)),
          file_size_(file_.size()),
          size_(round_up(file_size_, sector_bytes)) {}

    std::uint64_t size() const override { return size_; }

    ContentExtent extent(std::uint64_t offset) const override {
        const std::uint64_t data =
            offset < file_size_ ? std::min(file_.next_data(offset), file_size_) : file_size_;
        if (data >= file_size_) {
            return {size_ - offset, true};
        }
        if (data > offset) {
            return {data - offset, true};
        }
        // A file that shrank since it was opened has no hole before its old end.
        return {std::clamp(file_.next_hole(offset), offset + 1, file_size_) - offset, false};
    }

    void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
        const std::size_t got = file_.read_at(offset, bytes);
        std::ranges::fill(bytes.subspan(got), std::byte{0});
    }

private:
    File file_;
    std::uint64_t file_size_;
    std::uint64_t size_;
};

std::uint64_t actual_size(const ImageRecipe& recipe) { return round_up(recipe.size, sector_bytes); }

std::string validate(const ImageRecipe& recipe) {
    return broken_recipe_rule(recipe, {.size_unit = 1}, {});
}

void build(const Case& c, const ImageRecipe& recipe, const std::string& directory, NeutralTools&) {
    build_raw_file(*model_of(c, recipe.id), recipe.size, directory,
                   file_name(recipe.id, recipe.format));
}

std::unique_ptr<ContentSource> open(const std::string& directory, const std::string& name) {
    return std::make_unique<RawReader>(File::open(directory, name));
}

std::vector<ForeignReference> references(const std::string&, const std::string&) { return {}; }

std::uint64_t cluster_bytes(const ImageRecipe&) { return 0; }

}  // namespace

void build_raw_file(const ContentSource& content, std::uint64_t size, const std::string& directory,
                    const std::string& name) {
    const File file = File::create(directory, name);
    file.resize(size);
    SparseWriter writer(file);
    put_content(content, 0, size, 0, writer);
    writer.finish();
}

Format raw_format() {
    Format format{};
    format.name = "raw";
    format.bytes_stable = true;
    format.actual_size = actual_size;
    format.validate = validate;
    format.build = build;
    format.built_in_process = true;
    format.open = open;
    format.references = references;
    format.cluster_bytes = cluster_bytes;
    return format;
}

}  // namespace difffuzz
