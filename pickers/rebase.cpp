#include "pickers/rebase.hpp"

#include <algorithm>
#include <array>

#include "images/format.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/state_images.hpp"
#include "pickers/state_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::size_t longest_chain = 5;
// Both backing files are read from end to end, holes too.
constexpr std::uint64_t largest_compared = 256 * mib;

// Formats in which qemu-img can change the name of the backing file.
constexpr std::array<std::string_view, 2> rebasable{"qcow2", "qed"};

StepKinds kinds() {
    static const StepKind* const all[] = {&rebase_kind(), &write_kind()};
    return all;
}

bool is_safe(const Step& step) { return !has_option(step, "-u"); }

bool is_rebasable(std::string_view format) {
    return std::ranges::find(rebasable, format) != rebasable.end();
}

// The image that -b names; empty where it names none.
std::string named_base(const Step& step) {
    const auto* image = option_value<ImageValue>(step, "-b");
    return image == nullptr ? std::string{} : image->id;
}

bool is_in_chain(const CaseState& state, const std::string& id, const std::string& member) {
    const std::vector<std::string> chain = chain_of(state, id);
    return std::ranges::find(chain, member) != chain.end();
}

// An image of the chain from `id` down to `base` is shorter than the one above it.
bool is_short_above(const CaseState& state, const std::string& id, const std::string& base) {
    std::uint64_t least = state.at(id).own.size;
    for (const std::string& member : chain_of(state, id)) {
        if (state.at(member).own.size < least) {
            return true;
        }
        if (member == base) {
            break;
        }
    }
    return false;
}

// What speaks against the options that are about the backing file, beside the file.
std::string_view option_obstacle(const Step& step) {
    for (const std::string_view option : {"-t", "-T"}) {
        if (option_value<LiteralValue>(step, option) != nullptr) {
            return "not-a-cache-mode";
        }
    }
    if (find_argument(step, "-b") == nullptr && is_safe(step)) {
        return "no-backing-named";
    }
    if (option_value<LiteralValue>(step, "-F") != nullptr) {
        return "unknown-backing-format";
    }
    return named_base(step).empty() && has_option(step, "-F") ? "format-without-backing"
                                                              : std::string_view{};
}

// What speaks against the backing image that -b names.
std::string_view base_obstacle(const Case& c, const Step& step, const CaseState& state,
                               const std::string& id, const std::string& base) {
    const auto found = state.find(base);
    if (found == state.end()) {
        return find_output(c, base) == nullptr ? "known-images"
               : is_safe(step)                 ? "missing-backing-file"
                                               : "absent-backing-file";
    }
    if (is_in_chain(state, base, id)) {
        return is_safe(step) && !has_option(step, "-U") ? "backing-loop" : "unguarded-backing-loop";
    }
    const auto* format = option_value<WordValue>(step, "-F");
    if (format == nullptr) {
        return "backing-without-format";
    }
    const bool inside = is_in_chain(state, id, base);
    if (format->text != found->second.format) {
        return is_safe(step) && !inside && format->text != "raw" ? "other-backing-format"
                                                                 : "own-backing-format";
    }
    if (chain_of(state, base).size() >= longest_chain) {
        return "long-chain";
    }
    if (is_safe(step) && inside && is_short_above(state, id, base)) {
        return "short-image-above-base";
    }
    return {};
}

// Whether zeros that are to hide a new backing file come to nothing.
bool cannot_hide(const ImageState& image) {
    return image.format == "qcow2" && image.version == 2 && !image.backing;
}

// Whether what the image or one of its snapshots shows through another backing file is not known.
bool is_unsure(const ImageState& image, bool safe) {
    return (!safe && image.own.held_at_most) ||
           std::ranges::any_of(image.snapshots, [](const SnapshotState& snapshot) {
               return snapshot.own.held_at_most;
           });
}

std::string_view apply(const Case& c, const Step& step, CaseState& state) {
    std::string_view rule = common_obstacle(c, step, state);
    if (rule.empty()) {
        rule = option_obstacle(step);
    }
    const std::string id = image_of_step(step);
    const std::string base = named_base(step);
    if (rule.empty() && !base.empty()) {
        rule = base_obstacle(c, step, state, id, base);
    }
    if (!rule.empty()) {
        return rule;
    }
    if (!is_rebasable(state.at(id).format)) {
        return "backing-unsupported";
    }
    if (is_safe(step) && !base.empty() && cannot_hide(state.at(id))) {
        return "nothing-to-hide-with";
    }
    if (is_safe(step) && state.at(id).own.size > largest_compared) {
        return "slow";
    }
    if (is_unsure(state.at(id), is_safe(step))) {
        return "unsure-what-shows";
    }
    const std::optional<std::string> target = base.empty() ? std::nullopt : std::optional(base);
    is_safe(step) ? rebase_safely(state, id, target) : rebase_unsafely(state, id, target);
    return {};
}

// The images that could back `id`: those that do not lie on it.
std::vector<std::string> bases_for(const CaseState& state, const std::string& id, bool safe) {
    std::vector<std::string> bases;
    for (const auto& [other, image] : state) {
        const bool troubled =
            safe && is_in_chain(state, id, other) && is_short_above(state, id, other);
        if (!is_in_chain(state, other, id) && !troubled &&
            chain_of(state, other).size() < longest_chain) {
            bases.push_back(other);
        }
    }
    return bases;
}

void draw_cache(Step& step, const Draws& draws, std::string_view option) {
    const std::string path = "arg[" + std::string(option) + "]";
    if (draws.chance(path, 15)) {
        const std::string_view mode = draws.pick(path + ".mode", cache_words);
        step.arguments.push_back({std::string(option), WordValue{std::string(mode)}});
    }
}

void draw_flags(Step& step, const Draws& draws) {
    for (const std::string_view flag : {"-q", "-p", "-U"}) {
        if (draws.chance("arg[" + std::string(flag) + "]", flag == "-U" ? 8 : 12)) {
            step.arguments.push_back({std::string(flag), std::nullopt});
        }
    }
}

std::optional<Step> draw(Case&, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    std::vector<std::string> ids;
    for (const std::string& id : top_images(state)) {
        if (is_rebasable(state.at(id).format)) {
            ids.push_back(id);
        }
    }
    if (ids.empty()) {
        return std::nullopt;
    }
    const std::string id = draws.pick("image", std::span<const std::string>(ids));
    const ImageState& image = state.at(id);
    Step step{Actor::tool, "rebase", "rebase", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{image.format}});
    }
    draw_flags(step, draws);
    draw_cache(step, draws, "-t");
    draw_cache(step, draws, "-T");
    const bool safe = image.own.held_at_most || !draws.chance("arg[-u]", 25);
    if (!safe) {
        step.arguments.push_back({"-u", std::nullopt});
    }
    const std::vector<std::string> bases = bases_for(state, id, safe);
    const bool none = bases.empty() || (safe && cannot_hide(image));
    if (draws.chance("none", 20) || none) {
        // Without -b, -u takes the backing file away, too.
        if (safe || draws.chance("arg[-b]", 70)) {
            step.arguments.push_back({"-b", LiteralValue{""}});
        }
    } else {
        const std::string base = draws.pick("base", std::span<const std::string>(bases));
        step.arguments.push_back({"-b", ImageValue{base}});
        step.arguments.push_back({"-F", WordValue{state.at(base).format}});
    }
    step.arguments.push_back({"", ImageValue{id}});
    return step;
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState&) {
    return {image_of_step(step)};
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "rebase";
    StateWish wish;
    wish.image.formats = {{"qcow2", 1}};
    wish.image.backing_formats = {{"qcow2", 18}, {"raw", 12}, {"vmdk", 3}, {"vpc", 3},
                                  {"vhdx", 1},   {"vdi", 1},  {"qcow", 1}, {"parallels", 1}};
    wish.image.max_size = 16 * mib;
    wish.image.max_content = 1 * mib;
    wish.image.backing_percent = 85;
    wish.qed_percent = 8;
    draw_state_image(c, context, "src", wish);
    StateWish other = wish;
    other.image.formats = {{"qcow2", 15}, {"raw", 15}, {"vmdk", 3}, {"vpc", 3},
                           {"vhdx", 1},   {"vdi", 1},  {"qcow", 1}, {"parallels", 1}};
    other.image.backing_percent = 25;
    other.qed_percent = 0;
    draw_state_image(c, context, "new", other);
    for (ImageRecipe& image : c.images) {
        if (is_unsure(state_of(image), true)) {
            image.snapshots.clear();
        }
    }
    static constexpr Weighted<std::size_t> counts[] = {{1, 5}, {2, 3}, {3, 2}, {4, 1}};
    const std::size_t count = context.draws.pick("steps", counts);
    const unsigned weights[] = {3, has_qed(c) ? 0U : 1U};
    draw_steps(c, context, kinds(), weights, count);
    return c;
}

CaseState state_at_last(const Case& c) { return state_before(c, kinds(), c.steps.size() - 1); }

bool names_base(const Case& c) { return !named_base(last_step(c)).empty(); }
bool is_safe_last(const Case& c) { return is_safe(last_step(c)); }
bool is_safe_onto_base(const Case& c) { return names_base(c) && is_safe_last(c); }

bool is_onto_foreign_base(const Case& c) {
    if (!is_safe_onto_base(c)) {
        return false;
    }
    return !is_in_chain(state_at_last(c), image_of_step(last_step(c)), named_base(last_step(c)));
}

std::vector<Rule> own_rules() {
    return {
        qed_write_rule(),
        text_rule<TargetCacheOption>("-t must be a cache mode"),
        text_rule<SourceCacheOption>("-T must be a cache mode"),
        enforced_rule<"no-backing-named", kinds>(
            "without -u, -b must be given",
            [](Case& c, const Draws&) { remove_option(last_step(c), "-b"); }, is_safe_last),
        enforced_rule<"missing-backing-file", kinds>(
            "without -u, the new backing file must exist",
            [](Case& c, const Draws&) {
                c.outputs.push_back(
                    {"absent", std::string(format_of(c, named_base(last_step(c))))});
                set_option(last_step(c), "-b", ImageValue{"absent"});
            },
            is_safe_onto_base),
        enforced_rule<"unknown-backing-format", kinds>(
            "-F must name a format that exists",
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view words[] = {"qcow9", "RAW", "vdmk", "none"};
                set_option(last_step(c), "-F",
                           LiteralValue{std::string(draws.pick("format", words))});
            },
            names_base),
        enforced_rule<"other-backing-format", kinds>(
            "without -u, a new backing file from outside of the chain must be of the format that "
            "-F names",
            [](Case& c, const Draws& draws) {
                std::vector<std::string_view> others;
                for (const std::string_view format : known_formats()) {
                    if (format != "raw" && format != format_of(c, named_base(last_step(c)))) {
                        others.push_back(format);
                    }
                }
                set_option(last_step(c), "-F",
                           WordValue{std::string(
                               draws.pick("format", std::span<const std::string_view>(others)))});
            },
            is_onto_foreign_base),
        enforced_rule<"backing-loop", kinds>(
            "without -u and -U, an image cannot lie on itself",
            [](Case& c, const Draws&) {
                const std::string id = image_of_step(last_step(c));
                set_option(last_step(c), "-b", ImageValue{id});
                set_option(last_step(c), "-F", WordValue{std::string(format_of(c, id))});
            },
            [](const Case& c) { return is_safe_last(c) && !has_option(last_step(c), "-U"); }),
        enforced_rule<"backing-unsupported", kinds>(
            "the format must have backing files that can be changed",
            [](Case& c, const Draws&) { use_raw_image(c); }),
        bounding_rule<"absent-backing-file", kinds>(
            "with -u too the backing file exists, or nobody could read the image"),
        bounding_rule<"unguarded-backing-loop", kinds>(
            "with -u and -U tools let an image lie on itself"),
        bounding_rule<"backing-without-format", kinds>(
            "a backing file comes with its format: qemu-img 5.2 warns without, 7.2 to 10.0 "
            "refuse"),
        bounding_rule<"format-without-backing", kinds>(
            "-F comes with a backing file; tools leave it alone"),
        bounding_rule<"own-backing-format", kinds>(
            "the backing file is of the format that -F names; with -u, as raw, or in the chain "
            "already any is accepted, and the image then reads as another one or not at all"),
        bounding_rule<"long-chain", kinds>("chains stay short"),
        bounding_rule<"slow", kinds>("a safe rebase of a large image takes time"),
        bounding_rule<"short-image-above-base", kinds>(
            "no image above the new backing file is shorter than one on top of it: qemu-img 5.2 "
            "never ends"),
        bounding_rule<"nothing-to-hide-with", kinds>(
            "no safe rebase of a version 2 image without a backing file onto one: qemu-img 5.2 to "
            "10.0 then show the new one where the image had zeros"),
        bounding_rule<"unsure-what-shows", kinds>(
            "no -u where the model does not know what the image holds itself: after a rebase "
            "without -u, or zeros written without a backing file"),
    };
}

}  // namespace

const StepKind& rebase_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},
        {"-q", ValueKind::none, {}},
        {"-p", ValueKind::none, {}},
        {"-U", ValueKind::none, {}},
        {"-t", ValueKind::word, cache_words},
        {"-T", ValueKind::word, cache_words},
        {"-u", ValueKind::none, {}},
        {"-b", ValueKind::any, {}},
        {"-F", ValueKind::word, {}},
        {"", ValueKind::image, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"rebase", "rebase", Actor::tool, options, draw, apply, changes};
    return kind;
}

const Picker& rebase_picker() {
    static const std::vector<Rule> rules = [] {
        std::vector<Rule> all = common_rules<kinds>();
        const std::vector<Rule> more = own_rules();
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"rebase", "rebase", draw_valid, rebase_kind().options,
                               rules,    left_out, kinds()};
    return picker;
}

}  // namespace difffuzz
