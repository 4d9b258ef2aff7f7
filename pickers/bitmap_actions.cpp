#include "pickers/bitmap_actions.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "pickers/byte_names.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::array<std::string_view, 6> action_options{"--add",    "--remove",  "--clear",
                                                         "--enable", "--disable", "--merge"};

constexpr std::uint64_t max_bits = std::uint64_t{1} << 24;

std::string_view add(const Step& step, const std::string& name, ImageState& image) {
    const std::uint64_t asked = bytes_of(step, "-g").value_or(0);
    if (name.empty()) {
        return "empty-name";
    }
    if (name.size() > max_bitmap_name) {
        return "name-too-long";
    }
    if (asked != 0 && (!std::has_single_bit(asked) || asked < min_bitmap_granularity ||
                       asked > max_bitmap_granularity)) {
        return "granularity-range";
    }
    if (find_bitmap(image, name) != nullptr) {
        return "bitmap-exists";
    }
    const std::uint64_t granularity = asked == 0 ? default_granularity(image) : asked;
    if (image.own.size / granularity > max_bits) {
        return "too-many-bits";
    }
    image.bitmaps.push_back({name, granularity, true});
    return {};
}

std::string_view merge(const Step& step, const Argument& action, const std::string& id,
                       const CaseState& state) {
    const auto* file = option_value<ImageValue>(step, "-b");
    const auto source = state.find(file == nullptr ? id : file->id);
    const std::string* name = action.value ? byte_name_in(*action.value) : nullptr;
    if (source == state.end() || name == nullptr || find_bitmap(source->second, *name) == nullptr) {
        return "no-such-source-bitmap";
    }
    return source->second.own.size == state.at(id).own.size ? std::string_view{}
                                                            : "source-of-another-size";
}

std::string_view do_action(const Step& step, const Argument& action, const std::string& name,
                           const std::string& id, CaseState& state) {
    ImageState& image = state.at(id);
    if (action.option == "--add") {
        return add(step, name, image);
    }
    const auto bitmap = std::ranges::find(image.bitmaps, name, &BitmapState::name);
    if (bitmap == image.bitmaps.end()) {
        return "no-such-bitmap";
    }
    if (action.option == "--remove") {
        image.bitmaps.erase(bitmap);
    } else if (action.option == "--enable") {
        bitmap->enabled = true;
    } else if (action.option == "--disable") {
        bitmap->enabled = false;
    } else if (action.option == "--merge") {
        return merge(step, action, id, state);
    }
    return {};
}

}  // namespace

std::span<const std::string_view> bitmap_actions() { return action_options; }

bool is_bitmap_action(std::string_view option) {
    return std::ranges::find(action_options, option) != action_options.end();
}

std::uint64_t default_granularity(const ImageState& image) {
    return std::clamp<std::uint64_t>(image.cluster, 4096, 65536);
}

bool can_have_bitmaps(const ImageState& image) {
    return image.format == "qcow2" && image.version == 3;
}

std::optional<std::string> bitmap_of_step(const Step& step) {
    for (const Argument* argument : positionals(step)) {
        if (const std::string* name = byte_name_in(*argument->value)) {
            return *name;
        }
    }
    return std::nullopt;
}

bool can_read_while_writing(const CaseState& state, const std::string& source,
                            const std::string& id) {
    const auto chain = chain_of(state, source);
    return std::ranges::find(chain, id) == chain.end();
}

std::string_view do_bitmap_actions(const Step& step, const std::string& id, CaseState& state) {
    const std::string name = bitmap_of_step(step).value_or("");
    const ImageState before = state.at(id);
    for (const Argument& action : step.arguments) {
        if (!is_bitmap_action(action.option)) {
            continue;
        }
        const std::string_view rule = do_action(step, action, name, id, state);
        if (!rule.empty()) {
            state.at(id) = before;
            return rule;
        }
    }
    state.at(id).freed = true;
    return {};
}

}  // namespace difffuzz
