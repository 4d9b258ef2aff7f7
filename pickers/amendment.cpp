#include "pickers/amendment.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "images/virtual_content.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/growth.hpp"
#include "pickers/state_images.hpp"
#include "pickers/state_rules.hpp"

namespace difffuzz {
namespace {

using Words = std::string_view;
constexpr std::array<Words, 4> amendable{"compat", "lazy_refcounts", "refcount_bits", "size"};
constexpr std::array<Words, 5> creation_only{"cluster_size", "extended_l2", "compression_type",
                                             "preallocation", "encryption"};
constexpr std::array<Words, 2> about_backing{"backing_file", "backing_fmt"};
constexpr std::array<Words, 2> about_data_file{"data_file", "data_file_raw"};

template <std::size_t n>
bool is_one_of(const std::array<Words, n>& names, Words name) {
    return std::ranges::find(names, name) != names.end();
}

// What the step asks for; what it leaves open stays as it is.
struct Amendment {
    unsigned version = 3;
    bool lazy_refcounts = false;
    std::int64_t refcount_bits = 16;
    std::optional<std::uint64_t> size;
};

bool is_version_2_word(Words word) { return word == "0.10" || word == "v2"; }
bool is_version_3_word(Words word) { return word == "1.1" || word == "v3"; }

// Puts an option of `amendable` in; false when its value is none of the option's.
bool put(const FormatOption& option, Amendment& amendment) {
    if (const auto* word = std::get_if<WordValue>(&option.value)) {
        if (option.name == "compat" &&
            (is_version_2_word(word->text) || is_version_3_word(word->text))) {
            amendment.version = is_version_2_word(word->text) ? 2 : 3;
            return true;
        }
        if (option.name == "lazy_refcounts" && (word->text == "on" || word->text == "off")) {
            amendment.lazy_refcounts = word->text == "on";
            return true;
        }
        return false;
    }
    if (const auto* bits = std::get_if<NumberValue>(&option.value);
        bits != nullptr && option.name == "refcount_bits") {
        amendment.refcount_bits = bits->value;
        return true;
    }
    const auto* size = std::get_if<SizeValue>(&option.value);
    if (size == nullptr || option.name != "size") {
        return false;
    }
    amendment.size = size->bytes;
    return true;
}

// What speaks against one option by itself.
std::string_view option_obstacle(const FormatOption& option, const ImageState& image) {
    if (is_one_of(creation_only, option.name)) {
        return "creation-only-option";
    }
    if (is_one_of(about_backing, option.name)) {
        return "backing-by-amend";
    }
    if (is_one_of(about_data_file, option.name)) {
        return image.data_file ? "data-file-by-amend" : "no-data-file";
    }
    if (!is_one_of(amendable, option.name)) {
        return "unknown-creation-option";
    }
    return std::holds_alternative<LiteralValue>(option.value) ? "creation-option-value"
                                                              : std::string_view{};
}

bool has_compressed(const Case& c, const std::string& id) {
    const ImageRecipe* recipe = find_image(c, id);
    return recipe != nullptr && std::ranges::any_of(recipe->content, [](const auto& write) {
               return write.kind == WriteKind::compressed;
           });
}

// qemu-img looks a whole cluster over for each entry of a block of refcounts that it converts: most
// of a second for what is drawn at most, hours for what images can have.
bool is_slow(const ImageState& image, unsigned bits) {
    constexpr std::uint64_t most = std::uint64_t{1} << 29;
    const std::uint64_t entries = image.cluster * 8 / image.refcount_bits;
    return bits != image.refcount_bits && entries * image.cluster > most;
}

// What speaks against going to version 2.
std::string_view downgrade_obstacle(const ImageState& image, bool compressed,
                                    std::uint64_t new_size) {
    if (image.extended_l2 || image.data_file || (image.zstd && compressed)) {
        return "version-2-feature";
    }
    if (!image.bitmaps.empty()) {
        return "downgrade-with-bitmaps";
    }
    const bool other_size = std::ranges::any_of(
        image.snapshots, [&](const SnapshotState& s) { return s.own.size != new_size; });
    return other_size ? "downgrade-with-resized-snapshots" : std::string_view{};
}

std::string_view size_obstacle(const CaseState& state, const ImageState& image, unsigned version,
                               std::uint64_t size) {
    if (size % sector_bytes != 0) {
        return "size-not-sectors";
    }
    if (size == 0 || size > largest_amended) {
        return "size-bound";
    }
    ImageState then = image;
    then.version = version;
    return resize_obstacle(state, then, size);
}

std::string_view obstacle(const Case& c, const std::string& id, const CaseState& state,
                          const Amendment& asked) {
    const ImageState& image = state.at(id);
    const std::int64_t bits = asked.refcount_bits;
    constexpr std::int64_t most_bits = 64;
    if (bits < 1 || bits > most_bits || !std::has_single_bit(static_cast<std::uint64_t>(bits))) {
        return "refcount-bits-range";
    }
    if (asked.version == 2 && bits != 16) {
        return "version-2-refcount-bits";
    }
    // Done before what follows is refused.
    const auto new_bits = static_cast<unsigned>(bits);
    if (is_slow(image, new_bits)) {
        return "slow-conversion";
    }
    if (asked.version == 2 && asked.lazy_refcounts) {
        // What is so already is not looked at again.
        return image.lazy_refcounts ? "contradiction" : "version-2-lazy-refcounts";
    }
    if (new_bits < image.refcount_bits &&
        !refcounts_suffice(c, id, new_bits, image.snapshots.size() + 1)) {
        return "refcounts-too-narrow";
    }
    // The version goes up first and down last.
    if (asked.size) {
        const unsigned version = std::max(image.version, asked.version);
        if (const std::string_view rule = size_obstacle(state, image, version, *asked.size);
            !rule.empty()) {
            return rule;
        }
    }
    return image.version == 3 && asked.version == 2
               ? downgrade_obstacle(image, has_compressed(c, id),
                                    asked.size.value_or(image.own.size))
               : std::string_view{};
}

}  // namespace

std::string_view apply_amendment(const Case& c, const Step& step, CaseState& state) {
    if (const std::string_view rule = common_obstacle(c, step, state); !rule.empty()) {
        return rule;
    }
    if (option_value<LiteralValue>(step, "-t") != nullptr) {
        return "not-a-cache-mode";
    }
    const std::vector<FormatOption> options = creation_options(step);
    if (options.empty()) {
        return "no-options";
    }
    const std::string id = image_of_step(step);
    ImageState& image = state.at(id);
    if (image.format != "qcow2") {
        return "amend-unsupported";
    }
    Amendment asked{image.version, image.lazy_refcounts, image.refcount_bits, std::nullopt};
    bool lazy_asked = false;
    for (const FormatOption& option : options) {
        if (const std::string_view rule = option_obstacle(option, image); !rule.empty()) {
            return rule;
        }
        if (!put(option, asked) ||
            std::ranges::count(options, option.name, &FormatOption::name) != 1) {
            return "creation-options-shape";
        }
        lazy_asked |= option.name == "lazy_refcounts";
    }
    if (asked.version == 2 && !lazy_asked) {
        asked.lazy_refcounts = false;
    }
    if (const std::string_view rule = obstacle(c, id, state, asked); !rule.empty()) {
        return rule;
    }
    if (asked.version < image.version && !image.backing) {
        // Clusters of zeros are then none at all.
        image.own.held_at_most = true;
        for (SnapshotState& snapshot : image.snapshots) {
            snapshot.own.held_at_most = true;
        }
    }
    image.version = asked.version;
    image.lazy_refcounts = asked.lazy_refcounts;
    image.refcount_bits = static_cast<unsigned>(asked.refcount_bits);
    image.zstd &= asked.version == 3;
    image.freed = true;
    if (asked.size) {
        resize_image(state, id, *asked.size);
    }
    return {};
}

}  // namespace difffuzz
