#include "pickers/amend.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "images/virtual_content.hpp"
#include "pickers/amendment.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/growth.hpp"
#include "pickers/io_steps.hpp"
#include "pickers/state_images.hpp"
#include "pickers/state_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

using Words = std::string_view;

StepKinds kinds() {
    static const StepKind* const all[] = {&amend_kind(), &write_kind()};
    return all;
}

std::uint64_t draw_new_size(const Draws& draws, const ImageState& image) {
    const std::uint64_t before = image.own.size;
    const std::uint64_t steps[] = {sector_bytes, image.cluster, 3 * image.cluster, mib};
    const std::uint64_t step = draws.pick("step", steps);
    static constexpr Weighted<int> ways[] = {{0, 3}, {1, 5}, {2, 1}};
    switch (image.own.stale_tail ? 0 : draws.pick("way", ways)) {
        case 0:
            return before > step ? before - step : before;
        case 1:
            return std::min(before + step, largest_amended);
        default:
            return before;
    }
}

std::vector<FormatOption> draw_options(const Draws& draws, const ImageState& image) {
    std::vector<FormatOption> options;
    const bool old = draws.chance("old", image.version == 2 ? 50 : 30);
    if (draws.chance("compat", 60)) {
        static constexpr Weighted<bool> spellings[] = {{false, 3}, {true, 1}};
        const bool short_form = draws.pick("short", spellings);
        options.push_back({"compat", WordValue{old ? (short_form ? "v2" : "0.10")
                                                   : (short_form ? "v3" : "1.1")}});
    }
    if (draws.chance("lazy_refcounts", 35)) {
        options.push_back({"lazy_refcounts", WordValue{draws.chance("on", 60) ? "on" : "off"}});
    }
    if (draws.chance("refcount_bits", 35)) {
        const auto bits = std::int64_t{1} << draws.between("log", 0, 6);
        options.push_back({"refcount_bits", NumberValue{old ? 16 : bits}});
    }
    if (draws.chance("size", 25)) {
        options.push_back({"size", draw_spelling(draws.scope("size"),
                                                 draw_new_size(draws.scope("size"), image))});
    }
    return options;
}

std::optional<Step> draw(Case& c, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    std::vector<std::string> ids;
    for (const std::string& id : top_images(state)) {
        if (state.at(id).format == "qcow2") {
            ids.push_back(id);
        }
    }
    if (ids.empty()) {
        return std::nullopt;
    }
    const std::string id = draws.pick("image", std::span<const std::string>(ids));
    const ImageState& image = state.at(id);
    Step step{Actor::tool, "amend", "amend", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{image.format}});
    }
    for (const std::string_view flag : {"-q", "-p", "--force"}) {
        if (draws.chance("arg[" + std::string(flag) + "]", 10)) {
            step.arguments.push_back({std::string(flag), std::nullopt});
        }
    }
    if (draws.chance("arg[-t]", 15)) {
        step.arguments.push_back(
            {"-t", WordValue{std::string(draws.pick("arg[-t].mode", cache_words))}});
    }
    // Options that do not go together, or not with the image, are drawn again; what always goes is
    // to keep the version.
    constexpr unsigned tries = 6;
    for (unsigned i = 0; i <= tries; ++i) {
        const Draws again = draws.scope("arg[-o][" + std::to_string(i) + "]");
        std::vector<FormatOption> options = draw_options(again, image);
        if (i == tries) {
            options = {{"compat", WordValue{image.version == 2 ? "0.10" : "1.1"}}};
        }
        Step whole = step;
        if (!options.empty()) {
            add_creation_options(whole, again, std::move(options));
        }
        whole.arguments.push_back({"", ImageValue{id}});
        CaseState after = state;
        if (apply_amendment(c, whole, after).empty()) {
            return whole;
        }
    }
    return std::nullopt;
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState&) {
    return {image_of_step(step)};
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "amend";
    StateWish wish;
    wish.image.formats = {{"qcow2", 1}};
    wish.image.backing_formats = {{"qcow2", 5}, {"raw", 4}, {"vmdk", 1}};
    wish.image.max_size = 32 * mib;
    wish.image.max_content = 2 * mib;
    wish.image.backing_percent = 35;
    wish.version_2_percent = 35;
    wish.snapshots_percent = 25;
    draw_state_image(c, context, "src", wish);
    static constexpr Weighted<std::size_t> counts[] = {{1, 5}, {2, 4}, {3, 3}, {4, 2}};
    const std::size_t count = context.draws.pick("steps", counts);
    static constexpr unsigned weights[] = {3, 1};
    draw_steps(c, context, kinds(), weights, count);
    return c;
}

// --- breaking rules
// -------------------------------------------------------------------------------

void ask(Case& c, std::vector<FormatOption> options) {
    Step& step = last_step(c);
    remove_option(step, "-o");
    set_option(step, "-o", OptionList{std::move(options)});
}

ImageState image_at_last(const Case& c) {
    return state_before(c, kinds(), c.steps.size() - 1).at(image_of_step(last_step(c)));
}

// A small image with one of the features that version 2 lacks, in place of the step's image; those
// that the format's builder cannot make are left out.
std::vector<ImageRecipe> featured_images() {
    ImageRecipe plain;
    plain.id = "extra";
    plain.format = "qcow2";
    plain.size = 1 * mib;
    std::vector<ImageRecipe> images(3, plain);
    images[0].options = {{"compression_type", WordValue{"zstd"}}};
    images[0].content = {{WriteKind::compressed, 0, 65536, ByteFill{7}}};
    images[1].options = {{"extended_l2", WordValue{"on"}}};
    images[2].options = {{"data_file", WordValue{"extra.data"}}};
    std::erase_if(images, [](const ImageRecipe& image) {
        return !find_format("qcow2")->validate(image).empty();
    });
    return images;
}

void break_downgrade(Case& c, const Draws& draws) {
    const std::vector<ImageRecipe> images = featured_images();
    c.images.push_back(images[draws.between("feature", 0, images.size() - 1)]);
    for (Argument& argument : last_step(c).arguments) {
        if (argument.option.empty()) {
            argument.value = ImageValue{"extra"};
        }
    }
    ask(c, {{"compat", WordValue{"0.10"}}});
}

void break_value(Case& c, const Draws& draws) {
    static constexpr Words texts[][2] = {
        {"compat", "0.11"},     {"compat", "v4"}, {"lazy_refcounts", "maybe"},
        {"refcount_bits", "x"}, {"size", "1x"},   {"size", "-1"}};
    const auto& text = texts[draws.between("text", 0, std::size(texts) - 1)];
    ask(c, {{std::string(text[0]), LiteralValue{std::string(text[1])}}});
}

std::vector<Rule> option_rules() {
    return {
        enforced_rule<"no-options", kinds>(
            "-o must be given", [](Case& c, const Draws&) { remove_option(last_step(c), "-o"); }),
        enforced_rule<"amend-unsupported", kinds>(
            "only some formats have options that can be amended",
            [](Case& c, const Draws&) { use_raw_image(c); }),
        enforced_rule<"creation-only-option", kinds>(
            "what an image is made with cannot be amended",
            [](Case& c, const Draws& draws) {
                static const FormatOption options[] = {
                    {"cluster_size", plain_size(65536)},     {"extended_l2", WordValue{"off"}},
                    {"compression_type", WordValue{"zlib"}}, {"preallocation", WordValue{"off"}},
                    {"encryption", WordValue{"off"}},
                };
                ask(c, {options[draws.between("option", 0, std::size(options) - 1)]});
            }),
        enforced_rule<"no-data-file", kinds>(
            "what is about a data file needs one",
            [](Case& c, const Draws& draws) {
                if (draws.chance("raw", 50)) {
                    ask(c, {{"data_file_raw", WordValue{"on"}}});
                } else {
                    ask(c, {{"data_file", WordValue{"other.data"}}});
                }
            },
            [](const Case& c) { return !image_at_last(c).data_file; }),
        enforced_rule<"unknown-creation-option", kinds>(
            "-o must name options that the format has",
            [](Case& c, const Draws& draws) {
                static constexpr Words names[] = {"no_such_option", "compatible", "adapter_type",
                                                  "lazy_refcount"};
                ask(c, {{std::string(draws.pick("option", names)), WordValue{"on"}}});
            }),
        enforced_rule<"creation-option-value", kinds>("an option's value must be of its type",
                                                      break_value),
        bounding_rule<"creation-options-shape", kinds>(
            "each option once and of its own type; the last one of several counts"),
        bounding_rule<"backing-by-amend", kinds>(
            "the backing file is for rebase: qemu-img 5.2 amends it, 7.2 to 10.0 refuse"),
        bounding_rule<"data-file-by-amend", kinds>(
            "the name of a data file stays: nobody could read the image"),
    };
}

std::vector<Rule> value_rules() {
    return {
        enforced_rule<"refcount-bits-range", kinds>(
            "refcounts have 1, 2, 4, ... or 64 bits",
            [](Case& c, const Draws& draws) {
                static constexpr std::int64_t bits[] = {0, 3, 7, 24, 65, 128};
                ask(c, {{"compat", WordValue{"1.1"}},
                        {"refcount_bits", NumberValue{draws.pick("bits", bits)}}});
            }),
        enforced_rule<"version-2-refcount-bits", kinds>(
            "version 2 has refcounts of 16 bits",
            [](Case& c, const Draws& draws) {
                static constexpr std::int64_t bits[] = {1, 8, 32, 64};
                ask(c, {{"compat", WordValue{"0.10"}},
                        {"refcount_bits", NumberValue{draws.pick("bits", bits)}}});
            }),
        enforced_rule<"version-2-lazy-refcounts", kinds>(
            "version 2 has no lazy refcounts",
            [](Case& c, const Draws&) {
                ask(c, {{"compat", WordValue{"0.10"}}, {"lazy_refcounts", WordValue{"on"}}});
            },
            [](const Case& c) {
                const ImageState image = image_at_last(c);
                return !image.lazy_refcounts && image.refcount_bits == 16;
            }),
        enforced_rule<"version-2-feature", kinds>(
            "version 2 has no extended L2 entries, no data file, and nothing compressed with zstd",
            break_downgrade, [](const Case&) { return !featured_images().empty(); }),
        enforced_rule<"size-not-sectors", kinds>(
            "the size is a multiple of 512",
            [](Case& c, const Draws& draws) {
                ask(c, {{"size",
                         plain_size(image_at_last(c).own.size + draws.between("odd", 1, 511))}});
            }),
        bounding_rule<"contradiction", kinds>(
            "version 2 and lazy refcounts are not asked for at once; tools let it pass where the "
            "image has them"),
        bounding_rule<"refcounts-too-narrow", kinds>(
            "refcounts can count all snapshots, and all compressed clusters in one; tools refuse "
            "what does not fit, which depends on the layout"),
        bounding_rule<"slow-conversion", kinds>(
            "the width of refcounts is changed in small clusters only: the time grows with the "
            "square of their size"),
        bounding_rule<"size-bound", kinds>("images stay small, and not empty"),
        bounding_rule<"downgrade-with-bitmaps", kinds>(
            "an image with bitmaps keeps its version: qemu-img 5.2 to 10.0 leak them"),
        bounding_rule<"downgrade-with-resized-snapshots", kinds>(
            "tools refuse version 2 where a snapshot has another size than the image"),
    };
}

}  // namespace

const StepKind& amend_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},          {"-q", ValueKind::none, {}},
        {"-p", ValueKind::none, {}},          {"--force", ValueKind::none, {}},
        {"-t", ValueKind::word, cache_words}, {"-o", ValueKind::options, {}, 0, 2},
        {"", ValueKind::image, {}, 1, 1},     {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const StepKind kind{"amend", "amend",         Actor::tool, options,
                               draw,    apply_amendment, changes};
    return kind;
}

const Picker& amend_picker() {
    static const std::vector<Rule> rules = [] {
        std::vector<Rule> all = common_rules<kinds>();
        all.push_back(text_rule<TargetCacheOption>("-t must be a cache mode"));
        for (const std::vector<Rule>& more :
             {option_rules(), value_rules(), growth_rules<kinds>()}) {
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"amend", "amend",  draw_valid, amend_kind().options,
                               rules,   left_out, kinds()};
    return picker;
}

}  // namespace difffuzz
