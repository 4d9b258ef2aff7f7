#include "pickers/making_steps.hpp"

#include <algorithm>
#include <array>

#include "images/bytes.hpp"
#include "images/format.hpp"
#include "images/virtual_content.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t max_size = std::uint64_t{64} << 20;  // of what is asked for
constexpr std::size_t max_made = 4;                          // images of one case
constexpr std::size_t max_depth = 5;                         // images in one chain

// The one rule of these steps: sequences do not tell why a step is not possible.
constexpr std::string_view not_possible = "step-not-possible";

// Options that say what kind of qcow2 image it is, and no more.
constexpr std::array<std::string_view, 5> drawn_options{"compat", "cluster_size", "refcount_bits",
                                                        "lazy_refcounts", "extended_l2"};

std::vector<FormatOption> draw_options(const Draws& draws, ImageRecipe recipe) {
    const auto keep_if_possible = [&](FormatOption option) {
        ImageRecipe changed = recipe;
        changed.options.push_back(std::move(option));
        if (find_format(recipe.format)->validate(changed).empty()) {
            recipe = std::move(changed);
        }
    };
    if (draws.chance("compat", 15)) {
        keep_if_possible({"compat", WordValue{"0.10"}});
    }
    if (draws.chance("cluster_size", 40)) {
        static constexpr std::uint64_t sizes[] = {512, 4096, 16384, 2 * mib};
        keep_if_possible({"cluster_size", plain_size(draws.pick("cluster", sizes))});
    }
    if (draws.chance("refcount_bits", 15)) {
        keep_if_possible({"refcount_bits", NumberValue{std::int64_t{1} << draws.between(
                                                           "refcount_bits.log", 0, 6)}});
    }
    for (const std::string_view name : {"lazy_refcounts", "extended_l2"}) {
        if (draws.chance(name, 12)) {
            keep_if_possible({std::string(name), WordValue{"on"}});
        }
    }
    return recipe.options;
}

// The image that the step makes; empty when it names none.
std::string made_id(const Step& step) {
    const auto names = positionals(step);
    const std::size_t at = step.command == "create" ? 0 : 1;
    const auto* made = names.size() <= at ? nullptr : std::get_if<ImageValue>(&*names[at]->value);
    return made == nullptr ? std::string{} : made->id;
}

// The recipe of the image that the step makes, without its size; nothing when it makes none, one
// that is there already, or one that it does not say enough of.
std::optional<ImageRecipe> made_by(const Case& c, const Step& step, const CaseState& state) {
    const std::string id = made_id(step);
    const OutputImage* output = find_output(c, id);
    const auto* format = option_value<WordValue>(step, step.command == "create" ? "-f" : "-O");
    if (output == nullptr || state.contains(id) || format == nullptr ||
        format->text != output->format) {
        return std::nullopt;
    }
    ImageRecipe recipe;
    recipe.id = id;
    recipe.format = output->format;
    recipe.size = sector_bytes;
    recipe.options = creation_options(step);
    const bool known = std::ranges::all_of(recipe.options, [](const FormatOption& option) {
        return std::ranges::find(drawn_options, option.name) != drawn_options.end();
    });
    return known ? std::optional(recipe) : std::nullopt;
}

bool can_be_made(const ImageRecipe& recipe) {
    const Format* format = find_format(recipe.format);
    return recipe.size != 0 && format->validate(recipe).empty();
}

std::string new_id(const Case& c) { return "made" + std::to_string(c.outputs.size() + 1); }

Step step_of(std::string_view command) {
    return {Actor::tool, std::string(command), std::string(command), ValidIntent{}, {}};
}

void add_flags(Step& step, const Draws& draws, std::initializer_list<std::string_view> flags) {
    for (const std::string_view flag : flags) {
        if (draws.chance("arg[" + std::string(flag) + "]", 12)) {
            step.arguments.push_back({std::string(flag), std::nullopt});
        }
    }
}

void add_options(Step& step, const Draws& draws, const ImageRecipe& recipe) {
    std::vector<FormatOption> options;
    if (recipe.format == "qcow2") {
        options = draw_options(draws, recipe);
    }
    if (!options.empty()) {
        add_creation_options(step, draws, std::move(options));
    }
}

std::vector<std::string> made_images(const Case&, const Step& step, const CaseState&) {
    return {made_id(step)};
}

// --- create ------------------------------------------------------------------------------------

std::optional<Step> draw_overlay(Case& c, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    std::vector<std::string> below;
    for (const auto& [id, image] : state) {
        if (chain_of(state, id).size() < max_depth) {
            below.push_back(id);
        }
    }
    if (c.outputs.size() >= max_made || below.empty()) {
        return std::nullopt;
    }
    std::vector<std::string> tops = top_images(state);
    std::erase_if(tops, [&](const std::string& id) { return !std::ranges::count(below, id); });
    const auto& candidates = tops.empty() || draws.chance("lower", 20) ? below : tops;
    const std::string base = draws.pick("base", std::span<const std::string>(candidates));
    const std::uint64_t base_size = state.at(base).own.size;
    ImageRecipe recipe;
    recipe.id = new_id(c);
    recipe.format = "qcow2";
    recipe.size = base_size;
    const bool backed = draws.chance("arg[-b]", 85);
    const bool sized = !backed || base_size > max_size || draws.chance("sized", 40);
    Step step = step_of("create");
    step.arguments.push_back({"-f", WordValue{recipe.format}});
    add_flags(step, draws, {"-q"});
    add_options(step, draws.scope("arg[-o]"), recipe);
    if (backed) {
        step.arguments.push_back({"-b", ImageValue{base}});
        step.arguments.push_back({"-F", WordValue{state.at(base).format}});
    }
    step.arguments.push_back({"", ImageValue{recipe.id}});
    if (sized) {
        const std::uint64_t nudges[] = {sector_bytes, 4096, 65536, mib};
        const std::uint64_t nudge = draws.pick("size.by", nudges);
        const std::uint64_t size = std::min(base_size, max_size - mib);
        step.arguments.push_back(
            {"", draw_spelling(draws.scope("size"), size > nudge && draws.chance("less", 50)
                                                        ? size - nudge
                                                        : size + nudge)});
    }
    c.outputs.push_back({recipe.id, recipe.format});
    return step;
}

std::string_view apply_overlay(const Case& c, const Step& step, CaseState& state) {
    std::optional<ImageRecipe> recipe = made_by(c, step, state);
    if (!recipe || recipe->format != "qcow2") {
        return not_possible;
    }
    std::optional<std::string> backing;
    if (has_option(step, "-b")) {
        const auto* base = option_value<ImageValue>(step, "-b");
        const auto* format = option_value<WordValue>(step, "-F");
        if (base == nullptr || format == nullptr || !state.contains(base->id) ||
            state.at(base->id).format != format->text ||
            chain_of(state, base->id).size() >= max_depth) {
            return not_possible;
        }
        backing = base->id;
        recipe->size = state.at(base->id).own.size;
    } else if (has_option(step, "-F")) {
        return not_possible;
    }
    const auto names = positionals(step);
    const auto* size = names.size() == 2 ? std::get_if<SizeValue>(&*names[1]->value) : nullptr;
    if (size != nullptr) {
        recipe->size = round_up(size->bytes, sector_bytes);
    }
    if ((size == nullptr && !backing) || (size != nullptr && recipe->size > max_size) ||
        !can_be_made(*recipe)) {
        return not_possible;
    }
    make_image(state, *recipe, backing, std::nullopt);
    return {};
}

// --- convert -----------------------------------------------------------------------------------

std::optional<Step> draw_copy(Case& c, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    if (c.outputs.size() >= max_made) {
        return std::nullopt;
    }
    const std::vector<std::string> tops = top_images(state);
    const std::string source = draws.pick("source", std::span<const std::string>(tops));
    const ImageState& image = state.at(source);
    ImageRecipe recipe;
    recipe.id = new_id(c);
    static constexpr Weighted<std::string_view> formats[] = {{"qcow2", 3}, {"raw", 1}};
    recipe.format = draws.pick("format", formats);
    recipe.size = image.own.size;
    Step step = step_of("convert");
    add_flags(step, draws, {"-q", "-p"});
    step.arguments.push_back({"-f", WordValue{image.format}});
    step.arguments.push_back({"-O", WordValue{recipe.format}});
    add_options(step, draws.scope("arg[-o]"), recipe);
    if (!image.snapshots.empty() && draws.chance("arg[-l]", 40)) {
        const SnapshotState& snapshot =
            image.snapshots[draws.between("snapshot", 0, image.snapshots.size() - 1)];
        step.arguments.push_back({"-l", WordValue{"snapshot.id=" + snapshot.id}});
    }
    step.arguments.push_back({"", ImageValue{source}});
    step.arguments.push_back({"", ImageValue{recipe.id}});
    c.outputs.push_back({recipe.id, recipe.format});
    return step;
}

std::string_view apply_copy(const Case& c, const Step& step, CaseState& state) {
    std::optional<ImageRecipe> recipe = made_by(c, step, state);
    const auto image = state.find(image_of_step(step));
    const auto* format = option_value<WordValue>(step, "-f");
    if (!recipe || image == state.end() || format == nullptr ||
        format->text != image->second.format) {
        return not_possible;
    }
    const OwnContent* own = &image->second.own;
    if (has_option(step, "-l")) {
        constexpr std::string_view by_id = "snapshot.id=";
        const auto* name = option_value<WordValue>(step, "-l");
        const std::string id = name == nullptr || !name->text.starts_with(by_id)
                                   ? std::string{}
                                   : name->text.substr(by_id.size());
        const auto snapshot = std::ranges::find(image->second.snapshots, id, &SnapshotState::id);
        // qemu-img shows a snapshot in the size of its image.
        if (snapshot == image->second.snapshots.end() || snapshot->own.size != own->size) {
            return not_possible;
        }
        own = &snapshot->own;
    }
    recipe->size = own->size;
    if (!can_be_made(*recipe)) {
        return not_possible;
    }
    make_image(state, *recipe, std::nullopt, content_of(state, image->first, *own));
    return {};
}

}  // namespace

const StepKind& overlay_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}, 1, 1},
        {"-q", ValueKind::none, {}},
        {"-o", ValueKind::options, {}, 0, 2},
        {"-b", ValueKind::image, {}},
        {"-F", ValueKind::word, {}},
        {"", ValueKind::image, {}, 1, 1},
        {"", ValueKind::size, {}},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"create",     "create",      Actor::tool, options,
                               draw_overlay, apply_overlay, made_images, false};
    return kind;
}

const StepKind& copy_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}, 1, 1},    {"-O", ValueKind::word, {}, 1, 1},
        {"-q", ValueKind::none, {}},          {"-p", ValueKind::none, {}},
        {"-o", ValueKind::options, {}, 0, 2}, {"-l", ValueKind::word, {}},
        {"", ValueKind::image, {}, 2, 2},     {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"convert", "convert",  Actor::tool, options,
                               draw_copy, apply_copy, made_images};
    return kind;
}

}  // namespace difffuzz
