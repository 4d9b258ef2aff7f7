#include "pickers/convert.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "images/probed_format.hpp"
#include "pickers/backing_rules.hpp"
#include "pickers/bitmap_actions.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/convert_draw.hpp"
#include "pickers/convert_rules.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

constexpr std::string_view output_formats[] = {"raw", "qcow2", "vmdk", "vpc", "vdi", "vhdx"};

// The image that the output is to lie on: the source's own backing file, so that only what the
// source holds itself is copied, or, for a source without one, any image.
std::string draw_base(Case& c, const PickContext& context, const std::string& source) {
    if (const auto& backing = find_image(c, source)->backing) {
        return *backing;
    }
    ImageWish wish;
    wish.formats = {{"qcow2", 1}, {"raw", 1}};
    wish.max_size = 16 * mib;
    wish.max_content = 32 * kib;
    wish.backing_percent = 0;
    return draw_image(c, context, "base", wish);
}

constexpr Weighted<std::string_view> plain[] = {{"qcow2", 10}, {"raw", 7}, {"vmdk", 2}, {"vpc", 2}};
constexpr Weighted<std::string_view> compressing[] = {{"qcow2", 8}, {"vmdk", 1}};

void draw_bitmaps_flag(const Case& c, Step& step, const Draws& draws, const ConvertShape& shape) {
    const auto created = creation_options(step);
    const Scalar* compat = find_creation_option(created, "compat");
    const bool old = compat != nullptr &&
                     (*compat == Scalar{WordValue{"0.10"}} || *compat == Scalar{WordValue{"v2"}});
    const ImageRecipe& source = *find_image(c, "src");
    const unsigned percent = source.bitmaps.empty() ? 10 : 75;
    if (draws.chance("arg[--bitmaps]", percent) && !shape.several && shape.target == "qcow2" &&
        can_have_bitmaps(state_of(source)) && !old) {
        step.arguments.push_back({"--bitmaps", std::nullopt});
        if (draws.chance("arg[--skip-broken-bitmaps]", 25)) {
            step.arguments.push_back({"--skip-broken-bitmaps", std::nullopt});
        }
    }
}

Case draw(const PickContext& context, bool compressed) {
    Case c;
    c.operation = compressed ? "convert_compressed" : "convert";
    const Draws draws = context.draws.scope("step[0]");
    const ConvertShape shape = draw_convert_shape(
        draws, context.plan, compressed,
        compressed ? std::span<const Weighted<std::string_view>>(compressing) : plain);
    const std::vector<std::string> sources = draw_convert_sources(c, context, shape);
    c.outputs.push_back({std::string(target_id), std::string(shape.target)});

    Step step{Actor::tool, c.operation, "convert", ValidIntent{}, {}};
    if (shape.source_format || !shows_its_format(*find_image(c, sources.front()))) {
        step.arguments.push_back({"-f", WordValue{std::string(format_of(c, sources.front()))}});
    }
    if (shape.target != "raw" || draws.chance("arg[-O].given", 75)) {
        step.arguments.push_back({"-O", WordValue{std::string(shape.target)}});
    }
    if (compressed) {
        step.arguments.push_back({"-c", std::nullopt});
    }
    draw_sparse_option(step, draws, shape);
    const bool based = draws.chance("arg[-B]", 32) && shape.target == "qcow2" && !shape.several;
    std::uint64_t size = 0;
    for (const std::string& source : sources) {
        const ImageRecipe& image = *find_image(c, source);
        size += find_format(image.format)->actual_size(image);
    }
    std::vector<FormatOption> options = draw_creation_options(
        draws.scope("arg[-o]"), context.plan, {shape.target, size, based, compressed});
    if (based) {
        const std::string base = draw_base(c, context, sources.front());
        draw_backing(step, draws.scope("arg[-B]"), "-B", base, format_of(c, base), options);
    }
    add_creation_options(step, draws.scope("arg[-o]"), std::move(options));
    draw_convert_flags(step, draws, c, shape);
    draw_bitmaps_flag(c, step, draws, shape);
    for (const std::string& source : sources) {
        step.arguments.push_back({"", ImageValue{source}});
    }
    step.arguments.push_back({"", ImageValue{std::string(target_id)}});
    c.steps.push_back(std::move(step));
    return c;
}

Case draw_plain(const PickContext& context) { return draw(context, false); }
Case draw_compressed(const PickContext& context) { return draw(context, true); }

std::vector<OptionSpec> make_options(bool compressed) {
    return {
        {"-f", ValueKind::word, {}},
        {"-O", ValueKind::word, output_formats},
        {"-c", ValueKind::none, {}, compressed ? 1U : 0U, compressed ? 1U : 0U},
        {"-S", ValueKind::size, {}},
        {"-B", ValueKind::image, {}},
        {"-F", ValueKind::word, {}},
        {"-o", ValueKind::options, {}, 0, 2},
        {"-p", ValueKind::none, {}},
        {"-q", ValueKind::none, {}},
        {"-U", ValueKind::none, {}},
        {"-t", ValueKind::word, cache_words},
        {"-T", ValueKind::word, cache_words},
        {"-m", ValueKind::number, {}},
        {"-W", ValueKind::none, {}},
        {"-r", ValueKind::size, {}},
        // It excludes -c.
        {"-C", ValueKind::none, {}, 0, compressed ? 0U : 1U},
        {"--salvage", ValueKind::none, {}},
        {"--bitmaps", ValueKind::none, {}},
        {"--skip-broken-bitmaps", ValueKind::none, {}},
        {"", ValueKind::image, {}, 2, 4},
        {"-l", ValueKind::any, {}},
        // Drawn to be refused: another operation converts onto images that are there.
        {"-n", ValueKind::none, {}, 0, 0},
        {"--target-is-zero", ValueKind::none, {}, 0, 0},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
}

// Beside these, -o size, which has no effect.
constexpr LeftOut left_out[] = {
    {"--image-opts", "names protocols"},
    {"--target-image-opts", "names protocols"},
    {"--object", "asks for a password"},
};

}  // namespace

const Picker& convert_picker() {
    static const std::vector<OptionSpec> options = make_options(false);
    static const std::vector<Rule> rules = convert_rules(false);
    static const Picker picker{"convert", "convert", draw_plain, options, rules, left_out};
    return picker;
}

const Picker& convert_compressed_picker() {
    static const std::vector<OptionSpec> options = make_options(true);
    static const std::vector<Rule> rules = convert_rules(true);
    static const Picker picker{
        "convert_compressed", "convert", draw_compressed, options, rules, left_out};
    return picker;
}

std::vector<std::string> convert_sources(const Step& step) {
    std::vector<std::string> ids;
    for (const Argument* argument : positionals(step)) {
        const auto* image = argument->value ? std::get_if<ImageValue>(&*argument->value) : nullptr;
        if (image != nullptr && image->id != target_id) {
            ids.push_back(image->id);
        }
    }
    return ids;
}

std::uint64_t convert_size(const Case& c) {
    std::uint64_t size = 0;
    for (const std::string& source : convert_sources(last_step(c))) {
        const ImageRecipe* image = find_image(c, source);
        const Format* format = image == nullptr ? nullptr : find_format(image->format);
        size += format == nullptr ? 0 : format->actual_size(*image);
    }
    return size;
}

bool convert_is_dense(const Step& step) {
    const auto bytes = bytes_of(step, "-S");
    return bytes && *bytes == 0;
}

}  // namespace difffuzz
