#include "pickers/convert_existing.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "images/probed_format.hpp"
#include "images/virtual_content.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/convert.hpp"
#include "pickers/convert_draw.hpp"
#include "pickers/convert_rules.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

constexpr std::string_view target_formats[] = {"raw", "qcow2", "vmdk", "vpc", "vdi"};
constexpr Weighted<std::string_view> targets[] = {
    {"qcow2", 10}, {"raw", 7}, {"vmdk", 2}, {"vpc", 2}, {"vdi", 1}};

std::uint64_t actual_size(const ImageRecipe& image) {
    const Format* format = find_format(image.format);
    return format == nullptr ? 0 : format->actual_size(image);
}

// Whether the last name on the command line is the target's.
bool named_target(const Case& c) {
    const auto names = positionals(last_step(c));
    const auto* image = names.empty() ? nullptr : std::get_if<ImageValue>(&*names.back()->value);
    return image != nullptr && image->id == target_id;
}

// The image to write to: of the size of what is read, or somewhat larger.
void draw_target(Case& c, const PickContext& context, const Draws& draws, const ConvertShape& shape,
                 std::uint64_t size, bool empty) {
    ImageWish wish = every_image();
    wish.formats = {{shape.target, 1}};
    wish.min_size = size;
    wish.max_size = draws.chance("larger", 35) ? size + draws.between("larger.by", 1, mib) : size;
    wish.max_content = empty ? 0 : 256 * kib;
    if (shape.target == "vmdk") {
        // Not of all subformats can what is there be written over.
        wish.variety = ImageVariety::options;
    }
    // Whether the zeros of a source hide a backing file depends on more than the options.
    wish.backing_percent = 0;
    draw_image(c, context, std::string(target_id), wish);
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "convert_existing";
    const Draws draws = context.draws.scope("step[0]");
    ConvertShape shape = draw_convert_shape(draws, context.plan, false, targets);
    // Zeros are written, too.
    shape.max_size = 16 * mib;
    const std::vector<std::string> sources = draw_convert_sources(c, context, shape);
    std::uint64_t size = 0;
    for (const std::string& source : sources) {
        size += actual_size(*find_image(c, source));
    }
    const bool zero = draws.chance("arg[--target-is-zero]", 30);
    draw_target(c, context, draws, shape, size, zero);

    Step step{Actor::tool, c.operation, "convert", ValidIntent{}, {}};
    step.arguments.push_back({"-n", std::nullopt});
    if (zero) {
        step.arguments.push_back({"--target-is-zero", std::nullopt});
    }
    if (shape.source_format || !shows_its_format(*find_image(c, sources.front()))) {
        step.arguments.push_back({"-f", WordValue{std::string(format_of(c, sources.front()))}});
    }
    step.arguments.push_back({"-O", WordValue{std::string(shape.target)}});
    draw_sparse_option(step, draws, shape);
    draw_convert_flags(step, draws, c, shape);
    for (const std::string& source : sources) {
        step.arguments.push_back({"", ImageValue{source}});
    }
    step.arguments.push_back({"", ImageValue{std::string(target_id)}});
    c.steps.push_back(std::move(step));
    return c;
}

// --- rules -------------------------------------------------------------------------------------

Rule created_rule() {
    return {"creates-its-target", false,
            "without -n the target is made anew, which other operations draw",
            [](const Case& c) { return !has_option(last_step(c), "-n"); }};
}

Rule missing_target_rule() {
    return {"no-target-to-fill", true, "-n needs a target that exists",
            [](const Case& c) { return named_target(c) && find_image(c, target_id) == nullptr; },
            [](Case& c, const Draws&) {
                const std::string format(format_of(c, target_id));
                std::erase_if(c.images,
                              [](const ImageRecipe& image) { return image.id == target_id; });
                c.outputs.push_back({std::string(target_id), format});
            }};
}

ImageRecipe smallest(ImageRecipe image) {
    image.size = sector_bytes;
    image.content.clear();
    image.snapshots.clear();
    image.bitmaps.clear();
    return image;
}

Rule small_target_rule() {
    return {"target-too-small",
            true,
            "the target must be as large as what is read",
            [](const Case& c) {
                const ImageRecipe* target = existing_target(c);
                return target != nullptr && actual_size(*target) < convert_size(c);
            },
            [](Case& c, const Draws&) {
                for (ImageRecipe& image : c.images) {
                    if (image.id == target_id) {
                        image = smallest(image);
                    }
                }
            },
            [](const Case& c) {
                const ImageRecipe small = smallest(*existing_target(c));
                return broken_recipe(small).empty() && actual_size(small) < convert_size(c);
            }};
}

Rule created_options_rule() {
    return {"options-of-existing-target", true, "-o is for a target that is made",
            [](const Case& c) { return has_option(last_step(c), "-o"); },
            [](Case& c, const Draws&) {
                set_option(last_step(c), "-o", OptionList{{{"size", plain_size(mib)}}});
            }};
}

Rule other_target_format_rule() {
    return {"other-target-format", true, "the target must be of the format that -O names",
            [](const Case& c) {
                const ImageRecipe* target = existing_target(c);
                const auto* word = option_value<WordValue>(last_step(c), "-O");
                return target != nullptr && word != nullptr && word->text != "raw" &&
                       word->text != target->format;
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view words[] = {"qcow2", "vmdk"};
                const bool first = format_of(c, target_id) != words[0];
                const bool second = format_of(c, target_id) != words[1];
                const std::size_t at =
                    first && second ? draws.between("format", 0, 1) : (first ? 0U : 1U);
                set_option(last_step(c), "-O", WordValue{std::string(words[at])});
            }};
}

Rule raw_target_rule() {
    return {"target-as-raw", false,
            "the target must be of the format that -O names; raw is accepted for any, and is what "
            "no -O means",
            [](const Case& c) {
                const ImageRecipe* target = existing_target(c);
                const Argument* format = find_argument(last_step(c), "-O");
                const auto* word = option_value<WordValue>(last_step(c), "-O");
                return target != nullptr && target->format != "raw" &&
                       (format == nullptr || (word != nullptr && word->text == "raw"));
            }};
}

Rule not_zero_rule() {
    return {"target-is-not-zero", false,
            "tools trust --target-is-zero: what else the target holds stays where zeros belong",
            [](const Case& c) {
                const ImageRecipe* target = existing_target(c);
                return target != nullptr && has_option(last_step(c), "--target-is-zero") &&
                       (!target->content.empty() || target->backing);
            }};
}

Rule backed_target_rule() {
    return {"target-with-backing", false, "targets with a backing file are not drawn",
            [](const Case& c) {
                const ImageRecipe* target = existing_target(c);
                return target != nullptr && target->backing.has_value();
            }};
}

std::vector<Rule> all_rules() {
    std::vector<Rule> rules = common_convert_rules();
    for (const Rule& more :
         {created_rule(), missing_target_rule(), small_target_rule(), created_options_rule(),
          other_target_format_rule(), raw_target_rule(), not_zero_rule(), backed_target_rule()}) {
        rules.push_back(more);
    }
    return rules;
}

}  // namespace

const Picker& convert_existing_picker() {
    static const OptionSpec options[] = {
        {"-n", ValueKind::none, {}, 1, 1},
        {"--target-is-zero", ValueKind::none, {}},
        {"-f", ValueKind::word, {}},
        {"-O", ValueKind::word, target_formats},
        {"-S", ValueKind::size, {}},
        {"-p", ValueKind::none, {}},
        {"-q", ValueKind::none, {}},
        {"-U", ValueKind::none, {}},
        {"-t", ValueKind::word, cache_words},
        {"-T", ValueKind::word, cache_words},
        {"-m", ValueKind::number, {}},
        {"-W", ValueKind::none, {}},
        {"-r", ValueKind::size, {}},
        {"-C", ValueKind::none, {}},
        {"--salvage", ValueKind::none, {}},
        {"-l", ValueKind::any, {}},
        {"", ValueKind::image, {}, 2, 4},
        {"-o", ValueKind::options, {}, 0, 0},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const std::vector<Rule> rules = all_rules();
    static const LeftOut left_out[] = {
        {"-c", "whether it succeeds depends on what clusters the target has"},
        {"-B", "another operation draws it, for a target that is made"},
        {"-F", "another operation draws it, for a target that is made"},
        {"--bitmaps", "another operation draws it, for a target that is made"},
        {"--image-opts", "names protocols"},
        {"--target-image-opts", "names protocols"},
        {"--object", "asks for a password"},
    };
    static const Picker picker{"convert_existing", "convert", draw_valid, options, rules, left_out};
    return picker;
}

const ImageRecipe* existing_target(const Case& c) {
    return named_target(c) ? find_image(c, target_id) : nullptr;
}

}  // namespace difffuzz
