#include "pickers/resize.hpp"

#include <algorithm>
#include <array>

#include "images/bytes.hpp"
#include "images/virtual_content.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/growth.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
// What is allocated at once, and with it time, stays small.
constexpr std::uint64_t max_allocated = 8 * mib;

constexpr std::array<std::string_view, 3> resizable{"raw", "qcow2", "qed"};
constexpr std::array<std::string_view, 4> modes{"off", "metadata", "falloc", "full"};

StepKinds kinds() {
    static const StepKind* const all[] = {&resize_kind(), &write_kind()};
    return all;
}

const SizeValue* size_argument(const Step& step) {
    for (const Argument* argument : positionals(step)) {
        if (const auto* size = std::get_if<SizeValue>(&*argument->value)) {
            return size;
        }
    }
    return nullptr;
}

std::string_view mode_of(const Step& step) {
    const auto* mode = option_value<WordValue>(step, "--preallocation");
    return mode == nullptr ? std::string_view("off") : std::string_view(mode->text);
}

bool is_resizable(const ImageState& image) {
    return std::ranges::find(resizable, image.format) != resizable.end();
}

std::uint64_t l1_entries(const ImageState& image, std::uint64_t size) {
    const std::uint64_t entry = image.extended_l2 ? 16 : 8;
    return divide_up(size, image.cluster * (image.cluster / entry));
}

// What qemu-img holds against the step, in the order in which it looks.
std::string_view refusal(const Step& step, const ImageState& image) {
    const auto size = resized_to(step, image.own.size);
    if (!size) {
        return "size-not-positive";
    }
    if (*size <= image.own.size && mode_of(step) != "off") {
        return "preallocation-without-growth";
    }
    if (*size < image.own.size && !has_option(step, "--shrink")) {
        return "shrink-without-flag";
    }
    if (!is_resizable(image)) {
        return "format-cannot-resize";
    }
    if (image.format != "raw" && *size % sector_bytes != 0) {
        return "size-not-sectors";
    }
    if (image.format == "raw" && mode_of(step) == "metadata") {
        return "mode-of-another-format";
    }
    return {};
}

std::string_view apply(const Case& c, const Step& step, CaseState& state) {
    const std::string id = image_of_step(step);
    const auto image = state.find(id);
    if (image == state.end()) {
        return find_output(c, id) != nullptr ? "missing-file" : "known-images";
    }
    const auto* format = option_value<WordValue>(step, "-f");
    if (format != nullptr && format->text != image->second.format) {
        return "own-format";
    }
    if (size_argument(step) == nullptr) {
        return "size-not-a-number";
    }
    if (const std::string_view rule = refusal(step, image->second); !rule.empty()) {
        return rule;
    }
    const std::uint64_t size = *resized_to(step, image->second.own.size);
    if (image->second.format == "qed" && size < image->second.own.size) {
        return "format-cannot-shrink";
    }
    if (const std::string_view rule = resize_obstacle(state, image->second, size); !rule.empty()) {
        return rule;
    }
    if (mode_of(step) != "off" && (image->second.freed || !image->second.bitmaps.empty())) {
        return "preallocation-of-freed-clusters";
    }
    if (mode_of(step) == "metadata" && image->second.own.size % image->second.cluster != 0) {
        return "metadata-in-last-cluster";
    }
    if (size > image->second.own.size && image->second.format == "qed" && image->second.backing) {
        return "qed-on-backing";
    }
    if (mode_of(step) == "metadata" &&
        (image->second.cluster < 4096 ||
         l1_entries(image->second, size) > l1_entries(image->second, image->second.own.size))) {
        return "metadata-in-freed-clusters";
    }
    if (size > image->second.own.size && mode_of(step) != "off" &&
        size - image->second.own.size > max_allocated) {
        return "allocates-too-much";
    }
    // Clusters past a new end go, and preallocation gives refcounts and tables a new place.
    image->second.freed |= size < image->second.own.size || mode_of(step) != "off";
    resize_image(state, id, round_up(size, sector_bytes));
    return {};
}

std::uint64_t draw_new_size(const Draws& draws, const ImageState& image, bool allocates) {
    const std::uint64_t size = image.own.size;
    const std::uint64_t cluster = std::max<std::uint64_t>(image.cluster, sector_bytes);
    const std::uint64_t steps[] = {sector_bytes, 4096, cluster, 65536, mib, 3 * mib, 5 * cluster};
    const std::uint64_t step = std::min(draws.pick("step", steps), max_allocated);
    static constexpr Weighted<int> ways[] = {{0, 5}, {1, 4}, {2, 1}, {3, 1}};
    switch (allocates ? 0 : draws.pick("way", ways)) {
        case 0:
            return size + step;
        case 1:
            return size > step ? size - step : sector_bytes;
        case 2:
            return size;
        default:
            // The first size past what one L2 table maps, or far away.
            return draws.chance("far", 50) ? size + (std::uint64_t{cluster < 4096 ? 1U : 32U} << 27)
                                           : round_up(size + 1, cluster * (cluster / 8));
    }
}

SizeValue spelled(const Draws& draws, std::uint64_t size, std::uint64_t before) {
    if (size != before && draws.chance("relative", 35)) {
        const bool grows = size > before;
        SizeValue value = draw_spelling(draws, grows ? size - before : before - size);
        value.as.insert(0, grows ? "+" : "-");
        return value;
    }
    return draw_spelling(draws, size);
}

std::optional<Step> draw(Case&, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    std::vector<std::string> ids;
    for (const std::string& id : top_images(state)) {
        if (is_resizable(state.at(id)) &&
            !(state.at(id).own.stale_tail && state.at(id).own.size <= sector_bytes)) {
            ids.push_back(id);
        }
    }
    if (ids.empty()) {
        return std::nullopt;
    }
    const std::string id = draws.pick("image", std::span<const std::string>(ids));
    const ImageState& image = state.at(id);
    Step step{Actor::tool, "resize", "resize", ValidIntent{}, {}};
    const bool explicit_format = image.format == "raw" || draws.chance("arg[-f]", 80);
    if (explicit_format) {
        step.arguments.push_back({"-f", WordValue{image.format}});
    }
    if (draws.chance("arg[-q]", 15)) {
        step.arguments.push_back({"-q", std::nullopt});
    }
    const bool may_allocate = !image.own.stale_tail && image.format != "qed" && !image.backing &&
                              !image.extended_l2 && image.snapshots.empty() &&
                              image.bitmaps.empty() && !image.freed;
    std::string_view mode = "off";
    if (may_allocate && draws.chance("arg[--preallocation]", 30)) {
        mode = draws.pick("mode", std::span<const std::string_view>(modes));
        if (mode == "metadata" && (image.format == "raw" || image.own.size % image.cluster != 0 ||
                                   image.cluster < 4096)) {
            mode = "full";
        }
        step.arguments.push_back({"--preallocation", WordValue{std::string(mode)}});
    }
    std::uint64_t size = draw_new_size(draws, image, mode != "off");
    if (image.format == "qed") {
        size = std::max(size, image.own.size);
    }
    if (!resize_obstacle(state, image, size).empty() || (image.format == "qed" && image.backing)) {
        size = std::min(size, image.own.size);
    }
    if (image.format == "qed") {
        size = std::max(size, image.own.size);
    }
    if (mode == "metadata" && l1_entries(image, size) > l1_entries(image, image.own.size)) {
        set_option(step, "--preallocation", WordValue{"falloc"});
    }
    if (size < image.own.size || draws.chance("arg[--shrink]", 10)) {
        step.arguments.push_back({"--shrink", std::nullopt});
    }
    step.arguments.push_back({"", ImageValue{id}});
    step.arguments.push_back({"", spelled(draws, size, image.own.size)});
    return step;
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState&) {
    return {image_of_step(step)};
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "resize";
    ImageWish wish;
    wish.formats = {{"qcow2", 6}, {"raw", 3}, {"qed", 1}};
    wish.min_size = sector_bytes;
    wish.max_size = 64 * mib;
    wish.backing_percent = 30;
    draw_image(c, context, "src", wish);
    static constexpr Weighted<std::size_t> counts[] = {{1, 6}, {2, 3}, {3, 2}, {4, 1}};
    const std::size_t count = context.draws.pick("steps", counts);
    static constexpr unsigned weights[] = {2, 1};
    draw_steps(c, context, kinds(), weights, count);
    return c;
}

// A rule that the state decides about.
Rule state_rule(std::string_view name, std::string_view why, bool (*broken)(const Case&),
                void (*break_it)(Case&, const Draws&), bool (*applicable)(const Case&)) {
    return {name, true, why, broken, break_it, applicable};
}

template <RuleName name>
constexpr auto breaks = last_step_breaks<name, kinds>;

std::uint64_t size_before(const Case& c) {
    const CaseState state = state_before(c, kinds(), c.steps.size() - 1);
    return state.at(image_of_step(last_step(c))).own.size;
}

void replace_size(Case& c, Value value) { last_step(c).arguments.back().value = std::move(value); }

std::vector<Rule> own_rules() {
    return {
        unknown_option_rule(),
        unknown_format_rule(),
        known_images_rule(),
        missing_file_rule(),
        own_format_rule(),
        state_rule(
            "size-not-a-number", "the size is a number", breaks<"size-not-a-number">,
            [](Case& c, const Draws&) { replace_size(c, LiteralValue{"big"}); },
            [](const Case& c) { return mode_of(last_step(c)) == "off"; }),
        state_rule(
            "size-not-positive", "at least one byte is left", breaks<"size-not-positive">,
            [](Case& c, const Draws&) {
                const std::uint64_t size = round_up(size_before(c), 1024);
                replace_size(c, SizeValue{size, "-" + std::to_string(size / 1024) + "k"});
            },
            [](const Case& c) { return mode_of(last_step(c)) == "off"; }),
        state_rule(
            "shrink-without-flag", "an image shrinks only with --shrink",
            breaks<"shrink-without-flag">,
            [](Case& c, const Draws&) {
                remove_option(last_step(c), "--shrink");
                replace_size(c, plain_size(sector_bytes));
            },
            [](const Case& c) {
                return mode_of(last_step(c)) == "off" && size_before(c) > sector_bytes;
            }),
        state_rule(
            "preallocation-without-growth", "only what grows is preallocated",
            breaks<"preallocation-without-growth">,
            [](Case& c, const Draws&) {
                set_option(last_step(c), "--preallocation", WordValue{"full"});
                replace_size(c, plain_size(size_before(c)));
            },
            nullptr),
        state_rule(
            "size-not-sectors", "a structured image's size is a multiple of 512",
            breaks<"size-not-sectors">,
            [](Case& c, const Draws& draws) {
                replace_size(c, plain_size(size_before(c) + draws.between("odd", 1, 511)));
            },
            [](const Case& c) {
                return format_of(c, image_of_step(last_step(c))) == "qcow2" &&
                       size_before(c) % sector_bytes == 0;
            }),
        {"format-cannot-resize", false, "other formats cannot be resized; none of them is drawn",
         breaks<"format-cannot-resize">},
        {"format-cannot-shrink", false, "qed images only grow; none is shrunk",
         breaks<"format-cannot-shrink">},
        {"mode-of-another-format", false, "raw images have no metadata to preallocate",
         breaks<"mode-of-another-format">},
        {"metadata-in-last-cluster", false,
         "metadata is preallocated only where the image ends with a cluster: qemu-img 7.2 to 10.0 "
         "else "
         "make a zeroed last cluster show the bytes that it was allocated with",
         breaks<"metadata-in-last-cluster">},
        {"preallocation-of-freed-clusters", false,
         "nothing is preallocated where clusters were given back, as those of bitmaps are with "
         "every write and those of the refcounts by an earlier preallocation: qemu-img 5.2 to "
         "10.0 then show what is left in them",
         breaks<"preallocation-of-freed-clusters">},
        {"metadata-in-freed-clusters", false,
         "metadata is preallocated only where the L1 table stays in its place: qemu-img 7.2 to "
         "10.0 "
         "else make the image show bytes of the old table",
         breaks<"metadata-in-freed-clusters">},
        {"qed-on-backing", false,
         "qed images on a backing file do not grow: the reference refuses where the file is longer",
         breaks<"qed-on-backing">},
        {"allocates-too-much", false, "tools would allocate it, but it takes long",
         breaks<"allocates-too-much">},
    };
}

}  // namespace

std::optional<std::uint64_t> resized_to(const Step& step, std::uint64_t before) {
    const SizeValue* size = size_argument(step);
    if (size == nullptr) {
        return std::nullopt;
    }
    if (size->as.starts_with('-')) {
        return size->bytes < before ? std::optional(before - size->bytes) : std::nullopt;
    }
    const std::uint64_t asked = size->bytes + (size->as.starts_with('+') ? before : 0);
    return asked == 0 ? std::nullopt : std::optional(asked);
}

const StepKind& resize_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},
        {"-q", ValueKind::none, {}},
        {"--preallocation", ValueKind::word, modes},
        {"--shrink", ValueKind::none, {}},
        {"", ValueKind::image, {}, 1, 1},
        {"", ValueKind::size, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"resize", "resize", Actor::tool, options,
                               draw,     apply,    changes,     false};
    return kind;
}

const Picker& resize_picker() {
    static const std::vector<Rule> rules = [] {
        std::vector<Rule> all = growth_rules<kinds>();
        const std::vector<Rule> more = own_rules();
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"resize", "resize", draw_valid, resize_kind().options,
                               rules,    left_out, kinds()};
    return picker;
}

}  // namespace difffuzz
