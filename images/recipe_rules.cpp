#include "images/recipe_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "images/bytes.hpp"

namespace difffuzz {
namespace {

const FormatOption* find_option(const ImageRecipe& recipe, std::string_view name) {
    const auto found = std::ranges::find(recipe.options, name, &FormatOption::name);
    return found == recipe.options.end() ? nullptr : &*found;
}

bool is_id(std::string_view id) {
    const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
    return !id.empty() && id.size() <= 16 && letter(id[0]) && std::ranges::all_of(id, inner);
}

std::string broken_option(const ImageRecipe& recipe, std::span<const OptionRule> options) {
    for (auto option = recipe.options.begin(); option != recipe.options.end(); ++option) {
        const auto rule = std::ranges::find(options, option->name, &OptionRule::name);
        if (rule == options.end()) {
            return fmt::format("format {} has no option '{}' here", recipe.format, option->name);
        }
        if (find_option(recipe, option->name) != &*option) {
            return fmt::format("option {} is given twice", option->name);
        }
        if (!rule->accepts(option->value)) {
            return fmt::format("option {} must be {}", option->name, rule->expected);
        }
    }
    return {};
}

std::string broken_write(const ImageRecipe& recipe, const ContentWrite& write,
                         const RecipeRules& rules) {
    const std::uint64_t end = round_up(recipe.size, rules.size_unit);
    if (write.length == 0) {
        return "has no length";
    }
    if (write.offset > end || write.length > end - write.offset) {
        return fmt::format("reaches past the image's end at {}", end);
    }
    if (const auto* repeat = std::get_if<RepeatFill>(&write.fill);
        repeat != nullptr && (repeat->period < 1 || repeat->period > 4096)) {
        return fmt::format("repeats a period of {} bytes, must be 1 to 4096", repeat->period);
    }
    if (write.kind != WriteKind::compressed && write.kind != WriteKind::unmap) {
        return {};
    }
    const bool compressed = write.kind == WriteKind::compressed;
    const std::string_view what = compressed ? "compressed" : "unmapped";
    const std::uint64_t unit = compressed ? rules.compressed_unit : rules.unmap_unit;
    if (unit == 0) {
        return fmt::format("is {}, which {} images cannot be", what, recipe.format);
    }
    const std::uint64_t stop = write.offset + write.length;
    if (write.offset % unit != 0 || (stop % unit != 0 && stop < recipe.size)) {
        return fmt::format("is {} and does not cover whole clusters of {} bytes", what, unit);
    }
    return {};
}

std::string broken_content(const ImageRecipe& recipe, const RecipeRules& rules) {
    if (recipe.content.size() > max_writes) {
        return fmt::format("has {} writes, at most {} are allowed", recipe.content.size(),
                           max_writes);
    }
    std::uint64_t written = 0;
    for (std::size_t i = 0; i < recipe.content.size(); ++i) {
        const ContentWrite& write = recipe.content[i];
        if (const std::string broken = broken_write(recipe, write, rules); !broken.empty()) {
            return fmt::format("content[{}] {}", i, broken);
        }
        written += has_data(write.kind) ? write.length : 0;
        if (written > max_written_bytes) {
            return fmt::format("writes more than {} bytes", max_written_bytes);
        }
    }
    return {};
}

std::string broken_features(const ImageRecipe& recipe, const RecipeRules& rules) {
    if (!recipe.snapshots.empty() && !rules.snapshots) {
        return fmt::format("{} images cannot have snapshots here", recipe.format);
    }
    std::uint32_t after = 0;
    for (const SnapshotRecipe& snapshot : recipe.snapshots) {
        if (snapshot.after < after || snapshot.after > recipe.content.size()) {
            return fmt::format("snapshot '{}' stands after {} writes, of {}", snapshot.name,
                               snapshot.after, recipe.content.size());
        }
        after = snapshot.after;
    }
    if (!recipe.bitmaps.empty() && !rules.bitmaps) {
        return fmt::format("{} images cannot have bitmaps here", recipe.format);
    }
    for (const BitmapRecipe& bitmap : recipe.bitmaps) {
        if (!std::has_single_bit(bitmap.granularity) || bitmap.granularity < 512 ||
            bitmap.granularity > std::uint64_t{1} << 31) {
            return fmt::format("bitmap '{}' has a granularity of {}, must be a power of two",
                               bitmap.name, bitmap.granularity);
        }
        for (const ByteRange& range : bitmap.dirty) {
            if (range.offset > recipe.size || range.length > recipe.size - range.offset) {
                return fmt::format("bitmap '{}' reaches past the image's end", bitmap.name);
            }
        }
    }
    return {};
}

std::string broken_rule_of(const ImageRecipe& recipe, const RecipeRules& rules,
                           std::span<const OptionRule> options) {
    if (recipe.size > rules.max_bytes) {
        return fmt::format("size {} is above the limit of {} bytes", recipe.size, rules.max_bytes);
    }
    if (recipe.backing && !rules.backing) {
        return fmt::format("{} images cannot have a backing file", recipe.format);
    }
    if (std::string broken = broken_option(recipe, options); !broken.empty()) {
        return broken;
    }
    if (std::string broken = broken_content(recipe, rules); !broken.empty()) {
        return broken;
    }
    return broken_features(recipe, rules);
}

}  // namespace

std::string broken_recipe_rule(const ImageRecipe& recipe, const RecipeRules& rules,
                               std::span<const OptionRule> options) {
    if (!is_id(recipe.id)) {
        return "an image's id must match [a-z][a-z0-9_]{0,15}";
    }
    const std::string broken = broken_rule_of(recipe, rules, options);
    return broken.empty() ? broken : fmt::format("image {}: {}", recipe.id, broken);
}

std::uint64_t number_option(const ImageRecipe& recipe, std::string_view name,
                            std::uint64_t fallback) {
    const FormatOption* option = find_option(recipe, name);
    const std::uint64_t number = option == nullptr ? 0 : scalar_number(option->value);
    return number == 0 ? fallback : number;
}

std::string_view word_option(const ImageRecipe& recipe, std::string_view name,
                             std::string_view fallback) {
    const FormatOption* option = find_option(recipe, name);
    const auto* word = option == nullptr ? nullptr : std::get_if<WordValue>(&option->value);
    return word == nullptr ? fallback : std::string_view(word->text);
}

std::uint64_t scalar_number(const Scalar& value) {
    if (const auto* size = std::get_if<SizeValue>(&value)) {
        return size->bytes;
    }
    const auto* number = std::get_if<NumberValue>(&value);
    return number == nullptr || number->value < 0 ? 0 : static_cast<std::uint64_t>(number->value);
}

bool is_word(const Scalar& value, std::string_view word) {
    const auto* given = std::get_if<WordValue>(&value);
    return given != nullptr && given->text == word;
}

bool is_on_or_off(const Scalar& value) { return is_word(value, "on") || is_word(value, "off"); }

}  // namespace difffuzz
