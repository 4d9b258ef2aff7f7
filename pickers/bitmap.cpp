#include "pickers/bitmap.hpp"

#include <algorithm>
#include <array>

#include "pickers/bitmap_actions.hpp"
#include "pickers/bitmap_images.hpp"
#include "pickers/byte_names.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::size_t max_bitmaps = 8;  // of one image; tools take more, but it shows nothing new

// What is wrong with the words themselves, before any image is opened.
std::string_view wrong_words(const Step& step) {
    const auto names_given = positionals(step).size();
    if (names_given != 2 || !bitmap_of_step(step)) {
        return names_given > 2 ? "too-many-names" : "no-name";
    }
    if (std::ranges::none_of(step.arguments, [](const Argument& argument) {
            return is_bitmap_action(argument.option);
        })) {
        return "no-action";
    }
    if (has_option(step, "-g") && !has_option(step, "--add")) {
        return "granularity-without-add";
    }
    if (has_option(step, "-b") && !has_option(step, "--merge")) {
        return "source-file-without-merge";
    }
    if (has_option(step, "-F") && !has_option(step, "-b")) {
        return "source-format-without-file";
    }
    return {};
}

// What is wrong with the file that bitmaps are merged from.
std::string_view wrong_source(const Case& c, const Step& step, const std::string& id,
                              const CaseState& state) {
    const auto* file = option_value<ImageValue>(step, "-b");
    if (file == nullptr) {
        return {};
    }
    const auto source = state.find(file->id);
    if (source == state.end()) {
        return find_output(c, file->id) != nullptr ? "missing-source-file" : "known-images";
    }
    if (!can_read_while_writing(state, file->id, id)) {
        return "source-in-use";
    }
    const auto* format = option_value<WordValue>(step, "-F");
    if (format != nullptr && format->text != source->second.format) {
        return format->text == "raw" ? "own-source-format" : "other-source-format";
    }
    return {};
}

std::string_view apply(const Case& c, const Step& step, CaseState& state) {
    if (const std::string_view rule = wrong_words(step); !rule.empty()) {
        return rule;
    }
    const std::string id = image_of_step(step);
    const auto image = state.find(id);
    if (image == state.end()) {
        return find_output(c, id) != nullptr ? "missing-file" : "known-images";
    }
    const auto* format = option_value<WordValue>(step, "-f");
    if (format != nullptr && format->text != image->second.format) {
        return "own-format";
    }
    if (const std::string_view rule = wrong_source(c, step, id, state); !rule.empty()) {
        return rule;
    }
    if (!can_have_bitmaps(image->second)) {
        return image->second.format == "qcow2" ? "version-2" : "format-without-bitmaps";
    }
    return do_bitmap_actions(step, id, state);
}

// A file beside `id` that has bitmaps which can be merged into one of `id`.
std::optional<std::string> draw_source_file(const Draws& draws, const CaseState& state,
                                            const std::string& id) {
    std::vector<std::string> files;
    for (const auto& [other, image] : state) {
        if (!image.bitmaps.empty() && image.own.size == state.at(id).own.size &&
            can_read_while_writing(state, other, id)) {
            files.push_back(other);
        }
    }
    return files.empty() || !draws.chance("arg[-b]", 50)
               ? std::nullopt
               : std::optional(draws.pick("arg[-b].file", std::span<const std::string>(files)));
}

Argument draw_merge(const Draws& draws, const ImageState& source) {
    const auto at = draws.between("source", 0, source.bitmaps.size() - 1);
    return {"--merge", byte_name(source.bitmaps[at].name)};
}

// One action that the state allows for the bitmap, existing or not.
Argument draw_action(const Draws& draws, const ImageState& image, const std::string& name,
                     const ImageState& source) {
    if (find_bitmap(image, name) == nullptr) {
        return {"--add", std::nullopt};
    }
    static constexpr Weighted<std::string_view> actions[] = {
        {"--remove", 1}, {"--clear", 2}, {"--enable", 3}, {"--disable", 3}, {"--merge", 3}};
    const std::string_view action = draws.pick("action", actions);
    if (action == "--merge" && !source.bitmaps.empty()) {
        return draw_merge(draws, source);
    }
    return {action == "--merge" ? "--clear" : std::string(action), std::nullopt};
}

std::string draw_name(const Draws& draws, const ImageState& image) {
    if (!image.bitmaps.empty() &&
        (image.bitmaps.size() >= max_bitmaps || draws.chance("existing", 65))) {
        return image.bitmaps[draws.between("bitmap", 0, image.bitmaps.size() - 1)].name;
    }
    std::vector<std::string> unused;
    for (const std::string& name : bitmap_names()) {
        if (find_bitmap(image, name) == nullptr) {
            unused.push_back(name);
        }
    }
    return draws.pick("name", std::span<const std::string>(unused));
}

SizeValue draw_granularity(const Draws& draws) {
    if (draws.chance("default", 8)) {
        return plain_size(0);
    }
    return draw_spelling(
        draws, std::uint64_t{1} << (draws.chance("common", 75) ? draws.between("bits", 9, 20)
                                                               : draws.between("bits", 21, 31)));
}

std::optional<Step> draw(Case&, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    std::vector<std::string> ids;
    for (const auto& [id, image] : state) {
        if (can_have_bitmaps(image)) {
            ids.push_back(id);
        }
    }
    if (ids.empty()) {
        return std::nullopt;
    }
    const std::string id = draws.pick("image", std::span<const std::string>(ids));
    const std::string name = draw_name(draws, state.at(id));
    const auto file = draw_source_file(draws, state, id);
    Step step{Actor::tool, "bitmap", "bitmap", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{"qcow2"}});
    }
    if (file) {
        step.arguments.push_back({"-b", ImageValue{*file}});
        if (draws.chance("arg[-F]", 75)) {
            step.arguments.push_back({"-F", WordValue{state.at(*file).format}});
        }
    }
    Step words = step;
    words.arguments.push_back({"", ImageValue{id}});
    words.arguments.push_back({"", byte_name(name)});
    static constexpr Weighted<std::size_t> counts[] = {{1, 6}, {2, 3}, {3, 2}, {5, 1}};
    std::size_t count = draws.pick("actions", counts);
    // A call that names a file merges from it.
    std::size_t merge_at = file ? draws.between("merge-at", 0, count - 1) : SIZE_MAX;
    CaseState after = state;
    for (std::size_t i = 0; i < count; ++i) {
        const Draws scoped = draws.scope("action[" + std::to_string(i) + "]");
        const ImageState& source = after.at(file.value_or(id));
        Argument action;
        if (i == merge_at && find_bitmap(after.at(id), name) != nullptr) {
            action = draw_merge(scoped, source);
        } else {
            action = draw_action(scoped, after.at(id), name, source);
            if (i == merge_at) {
                ++merge_at;
                ++count;
            }
        }
        Step one = words;
        one.arguments.push_back(action);
        do_bitmap_actions(one, id, after);
        step.arguments.push_back(std::move(action));
    }
    if (has_option(step, "--add") && draws.chance("arg[-g]", 60)) {
        const auto at = draws.between("arg[-g].place", 0, step.arguments.size());
        step.arguments.insert(step.arguments.begin() + static_cast<std::ptrdiff_t>(at),
                              {"-g", draw_granularity(draws.scope("arg[-g]"))});
    }
    step.arguments.push_back({"", ImageValue{id}});
    step.arguments.push_back({"", byte_name(name)});
    return step;
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState&) {
    return {image_of_step(step)};
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "bitmap";
    ImageWish wish = every_image();
    wish.formats = {{"qcow2", 1}};
    wish.backing_formats = {{"qcow2", 2}, {"raw", 1}};
    wish.max_size = 64 * mib;
    wish.max_content = mib;
    draw_image(c, context, "src", wish);
    if (context.draws.chance("other", 45)) {
        // Of the same size, since only then their bitmaps can be merged.
        wish.min_size = find_image(c, "src")->size;
        wish.max_size = wish.min_size;
        wish.backing_percent = 10;
        draw_image(c, context, "other", wish);
    }
    for (ImageRecipe& image : c.images) {
        // Images of version 2 are for cases that are refused.
        std::erase_if(image.options,
                      [](const FormatOption& option) { return option.name == "compat"; });
        draw_bitmaps(context.draws.scope("image[" + image.id + "].bitmaps"), 45, image);
    }
    static constexpr Weighted<std::size_t> counts[] = {{1, 3}, {2, 4}, {3, 3}, {4, 2}, {5, 1}};
    const std::size_t count = context.draws.pick("steps", counts);
    static constexpr unsigned weights[] = {4, 1, 1};
    draw_steps(c, context, bitmap_kinds(), weights, count);
    return c;
}

}  // namespace

const StepKind& bitmap_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},
        {"--add", ValueKind::none, {}, 0, 8},
        {"--remove", ValueKind::none, {}, 0, 8},
        {"--clear", ValueKind::none, {}, 0, 8},
        {"--enable", ValueKind::none, {}, 0, 8},
        {"--disable", ValueKind::none, {}, 0, 8},
        {"--merge", ValueKind::any, {}, 0, 8},
        {"-g", ValueKind::size, {}},
        {"-b", ValueKind::image, {}},
        {"-F", ValueKind::word, {}},
        {"", ValueKind::image, {}, 1, 1},
        // The image and the name of the bitmap, which is a word or bytes.
        {"", ValueKind::any, {}, 2, 2},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"bitmap", "bitmap", Actor::tool, options,
                               draw,     apply,    changes,     false};
    return kind;
}

StepKinds bitmap_kinds() {
    static const StepKind* const all[] = {&bitmap_kind(), &write_kind(), &discard_kind()};
    return all;
}

const Picker& bitmap_picker() {
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"bitmap",       "bitmap", draw_valid,    bitmap_kind().options,
                               bitmap_rules(), left_out, bitmap_kinds()};
    return picker;
}

}  // namespace difffuzz
