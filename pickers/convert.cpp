#include "pickers/convert.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "pickers/backing_rules.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
constexpr std::uint64_t max_sparse_size = 16 * mib;
constexpr std::int64_t max_coroutines = 16;

constexpr std::string_view output_formats[] = {"raw", "qcow2", "vmdk", "vpc"};

enum class Sparse { absent, zero, value };

// What the draw of a whole case is decided by, before the images are drawn.
struct Shape {
    bool compressed = false;
    std::string_view target;
    Sparse sparse = Sparse::absent;
    bool several = false;
    bool source_format = true;
};

Shape draw_shape(const Draws& draws, const Plan& plan, bool compressed) {
    static constexpr Weighted<std::string_view> plain[] = {
        {"qcow2", 10}, {"raw", 7}, {"vmdk", 2}, {"vpc", 2}};
    static constexpr Weighted<std::string_view> compressing[] = {{"qcow2", 8}, {"vmdk", 1}};
    std::vector<Weighted<std::string_view>> targets;
    for (const auto& target : compressed ? std::span<const Weighted<std::string_view>>(compressing)
                                         : std::span<const Weighted<std::string_view>>(plain)) {
        if (plan.has_format(target.value)) {
            targets.push_back(target);
        }
    }
    static constexpr Weighted<Sparse> sparse[] = {
        {Sparse::absent, 60}, {Sparse::value, 28}, {Sparse::zero, 12}};
    Shape shape;
    shape.compressed = compressed;
    shape.target = draws.pick("arg[-O]", std::span<const Weighted<std::string_view>>(targets));
    shape.sparse = draws.pick("arg[-S].kind", sparse);
    shape.several = draws.chance("several", 10);
    shape.source_format = draws.chance("arg[-f]", 85);
    return shape;
}

ImageWish source_wish(const Shape& shape) {
    ImageWish wish;
    wish.max_content = 4 * mib;
    if (shape.target == "vmdk" || shape.target == "vpc") {
        // The output is read back by way of a raw file.
        wish.max_size = 64 * mib;
    }
    if (shape.sparse == Sparse::zero) {
        wish.max_size = shape.compressed ? 1 * mib : 8 * mib;
    }
    if (shape.compressed) {
        wish.max_content = 1 * mib;
    }
    return wish;
}

std::vector<std::string> draw_sources(Case& c, const PickContext& context, const Shape& shape) {
    ImageWish wish = source_wish(shape);
    std::vector<std::string> sources{draw_image(c, context, "src", wish)};
    if (shape.several) {
        wish.max_content = 64 * kib;
        wish.max_size = std::min(wish.max_size, shape.sparse == Sparse::zero ? 2 * mib : 8 * mib);
        wish.backing_percent /= 2;
        const std::string format(format_of(c, "src"));
        if (shape.source_format) {
            // -f holds for all of them.
            wish.formats = {{format, 1}};
        }
        const unsigned more = context.draws.scope("step[0]").chance("third", 25) ? 2 : 1;
        for (unsigned i = 0; i < more; ++i) {
            sources.push_back(draw_image(c, context, i == 0 ? "second" : "third", wish));
        }
    }
    return sources;
}

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

SizeValue draw_sparse_size(const Draws& draws) {
    static constexpr std::uint64_t sizes[] = {512,      1 * kib, 4 * kib,        8 * kib,
                                              64 * kib, 1 * mib, max_sparse_size};
    const std::uint64_t bytes = draws.chance("odd", 30)
                                    ? 512 * draws.between("sectors", 1, max_sparse_size / 512)
                                    : draws.pick("bytes", sizes);
    return draw_spelling(draws, bytes);
}

// Nothing reaches these rates, so no time passes in waiting.
SizeValue draw_rate(const Draws& draws) {
    static constexpr std::uint64_t rates[] = {0, 64 * gib, 1024 * gib, 8192 * gib};
    return suffixed_size(draws.pick("rate", rates));
}

void draw_flags(Step& step, const Draws& draws, const Case& c, const Shape& shape) {
    const auto flag = [&](std::string_view name, unsigned percent, bool allowed = true) {
        if (draws.chance("arg[" + std::string(name) + "]", percent) && allowed) {
            step.arguments.push_back({std::string(name), std::nullopt});
        }
    };
    const auto cache = [&](std::string_view name, unsigned percent) {
        const std::string path = "arg[" + std::string(name) + "]";
        if (draws.chance(path, percent)) {
            step.arguments.push_back({std::string(name), WordValue{std::string(draws.pick(
                                                             path + ".mode", cache_words))}});
        }
    };
    flag("-p", 15);
    flag("-q", 10);
    flag("-U", 12);
    cache("-t", 20);
    cache("-T", 15);
    if (draws.chance("arg[-m]", 25)) {
        step.arguments.push_back({"-m", NumberValue{static_cast<std::int64_t>(
                                            draws.between("arg[-m].count", 1, max_coroutines))}});
    }
    // A stream-optimised vmdk is written front to back.
    flag("-W", 15, shape.target != "vmdk");
    if (draws.chance("arg[-r]", 8)) {
        step.arguments.push_back({"-r", draw_rate(draws.scope("arg[-r]"))});
    }
    const bool offload =
        draws.chance("arg[-C]", 10) && !shape.compressed && shape.sparse == Sparse::absent;
    if (offload) {
        step.arguments.push_back({"-C", std::nullopt});
    }
    flag("--salvage", 8, !offload);
    const auto created = creation_options(step);
    const Scalar* compat = find_creation_option(created, "compat");
    const bool old = compat != nullptr &&
                     (*compat == Scalar{WordValue{"0.10"}} || *compat == Scalar{WordValue{"v2"}});
    flag("--bitmaps", 12,
         !shape.several && shape.target == "qcow2" && format_of(c, "src") == "qcow2" && !old);
}

Case draw(const PickContext& context, bool compressed) {
    Case c;
    c.operation = compressed ? "convert_compressed" : "convert";
    const Draws draws = context.draws.scope("step[0]");
    const Shape shape = draw_shape(draws, context.plan, compressed);
    const std::vector<std::string> sources = draw_sources(c, context, shape);
    c.outputs.push_back({std::string(target_id), std::string(shape.target)});

    Step step{Actor::tool, c.operation, "convert", ValidIntent{}, {}};
    if (shape.source_format) {
        step.arguments.push_back({"-f", WordValue{std::string(format_of(c, sources.front()))}});
    }
    if (shape.target != "raw" || draws.chance("arg[-O].given", 75)) {
        step.arguments.push_back({"-O", WordValue{std::string(shape.target)}});
    }
    if (compressed) {
        step.arguments.push_back({"-c", std::nullopt});
    }
    if (shape.sparse == Sparse::zero) {
        step.arguments.push_back({"-S", SizeValue{0, "0"}});
    } else if (shape.sparse == Sparse::value) {
        step.arguments.push_back({"-S", draw_sparse_size(draws.scope("arg[-S]"))});
    }
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
    draw_flags(step, draws, c, shape);
    for (const std::string& source : sources) {
        step.arguments.push_back({"", ImageValue{source}});
    }
    step.arguments.push_back({"", ImageValue{std::string(target_id)}});
    c.steps.push_back(std::move(step));
    return c;
}

Case draw_plain(const PickContext& context) { return draw(context, false); }
Case draw_compressed(const PickContext& context) { return draw(context, true); }

// --- rules -------------------------------------------------------------------------------------

bool has_one_source(const Case& c) { return convert_sources(last_step(c)).size() == 1; }

struct CoroutineOption {
    static constexpr std::string_view option = "-m";
    static constexpr std::string_view text_rule = "coroutines-not-a-number";
    static constexpr std::string_view texts[] = {"abc", "", "4x", "0x"};
};
struct SparseOption {
    static constexpr std::string_view option = "-S";
    static constexpr std::string_view text_rule = "sparse-size-not-a-size";
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "4kk"};
};
struct RateOption {
    static constexpr std::string_view option = "-r";
    static constexpr std::string_view text_rule = "rate-not-a-size";
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "4kk"};
};
struct OutputFormatOption {
    static constexpr std::string_view option = "-O";
    static constexpr std::string_view text_rule = "unknown-output-format";
    static constexpr std::string_view texts[] = {"qcow9", "RAW", "vdmk", "", "bochs", "cloop"};
};

Rule coroutine_range_rule() {
    return {"coroutines-out-of-range", true, "-m must be from 1 to 16",
            [](const Case& c) {
                const auto count = number_of(last_step(c), "-m");
                return count && (*count < 1 || *count > max_coroutines);
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::int64_t counts[] = {-1, 0, 17, 64, 1'000'000};
                set_option(last_step(c), "-m", NumberValue{draws.pick("count", counts)});
            }};
}

Rule sparse_range_rule() {
    return {"sparse-size-range", true, "-S must be a multiple of 512 up to 16 MiB",
            [](const Case& c) {
                const auto bytes = bytes_of(last_step(c), "-S");
                return bytes && (*bytes % 512 != 0 || *bytes > max_sparse_size);
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::uint64_t sizes[] = {1,     511,      513,     1000,
                                                          66666, 17 * mib, 16 * gib};
                remove_option(last_step(c), "-C");
                set_option(last_step(c), "-S", suffixed_size(draws.pick("bytes", sizes)));
            }};
}

Rule sparse_text_rule() {
    Rule rule = text_rule<SparseOption>("-S must be a size");
    rule.applicable = [](const Case& c) { return !has_option(last_step(c), "-C"); };
    return rule;
}

Rule slow_rate_rule() {
    return {"slow-rate", false,
            "a rate that data can reach makes the command wait; accepted by all",
            [](const Case& c) {
                const auto rate = bytes_of(last_step(c), "-r");
                return rate && *rate != 0 && *rate < 64 * gib;
            }};
}

Rule no_output_rule() {
    return {"no-output",
            true,
            "the output must be named",
            [](const Case& c) { return positionals(last_step(c)).size() == 1; },
            [](Case& c, const Draws&) { last_step(c).arguments.pop_back(); },
            has_one_source};
}

// A subject may overwrite what it should not, but no case of ours asks for it.
Rule output_position_rule() {
    return {"output-position", false,
            "the last image must be the output and no other one; qemu-img writes over an input "
            "where locks do not keep it from that",
            [](const Case& c) {
                const auto names = positionals(last_step(c));
                for (std::size_t i = 1; i < names.size(); ++i) {
                    const auto& id = std::get<ImageValue>(*names[i]->value).id;
                    if ((id == target_id) != (i + 1 == names.size()) ||
                        (id != target_id && find_image(c, id) == nullptr)) {
                        return true;
                    }
                }
                return false;
            }};
}

Rule several_formats_rule() {
    return {"several-formats", false,
            "-f holds for all sources; raw is accepted for any, the first one is another rule's",
            [](const Case& c) {
                const auto* word = option_value<WordValue>(last_step(c), "-f");
                const auto sources = convert_sources(last_step(c));
                return word != nullptr && !sources.empty() &&
                       word->text == format_of(c, sources.front()) &&
                       std::ranges::any_of(sources, [&](const std::string& id) {
                           return format_of(c, id) != word->text;
                       });
            }};
}

Rule compression_rule() {
    return {"compression-unsupported",
            true,
            "-c needs a format that has compression",
            [](const Case& c) {
                const std::string_view target = target_format(c);
                return has_option(last_step(c), "-c") && (target == "raw" || target == "vpc");
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view formats[] = {"raw", "vpc"};
                const std::string format(draws.pick("format", formats));
                Step& step = last_step(c);
                for (const std::string_view option : {"-o", "-B", "-F", "--bitmaps"}) {
                    remove_option(step, option);
                }
                for (OutputImage& output : c.outputs) {
                    output.format = format;
                }
                set_option(step, "-O", WordValue{format});
            },
            [](const Case& c) { return has_option(last_step(c), "-c"); }};
}

Rule offload_rule() {
    return {
        "copy-offload-conflict", true, "-C excludes -S, -c and --salvage",
        [](const Case& c) {
            const Step& step = last_step(c);
            return has_option(step, "-C") && (has_option(step, "-S") || has_option(step, "-c") ||
                                              has_option(step, "--salvage"));
        },
        [](Case& c, const Draws& draws) {
            Step& step = last_step(c);
            if (!has_option(step, "-C")) {
                add_flag(step, "-C");
            }
            if (has_option(step, "-S") || has_option(step, "-c") || has_option(step, "--salvage")) {
                return;
            }
            if (draws.chance("salvage", 50)) {
                add_flag(step, "--salvage");
            } else {
                set_option(step, "-S", suffixed_size(4 * kib));
            }
        }};
}

Rule bitmaps_rule() {
    return {"bitmaps-unsupported",
            true,
            "--bitmaps needs one source, and formats that have bitmaps on both sides: qcow2, the "
            "target "
            "not of version 2",
            [](const Case& c) {
                const auto sources = convert_sources(last_step(c));
                return has_option(last_step(c), "--bitmaps") && !sources.empty() &&
                       (sources.size() > 1 || target_format(c) != "qcow2" || makes_version_2(c) ||
                        format_of(c, sources.front()) != "qcow2");
            },
            [](Case& c, const Draws&) { add_flag(last_step(c), "--bitmaps"); },
            [](const Case& c) {
                return !has_option(last_step(c), "--bitmaps") &&
                       (!has_one_source(c) || target_format(c) != "qcow2" || makes_version_2(c) ||
                        format_of(c, convert_sources(last_step(c)).front()) != "qcow2");
            }};
}

Rule several_backing_rule() {
    return {"backing-with-several-sources",
            true,
            "-B needs a single source",
            [](const Case& c) {
                return named_backing(last_step(c)) && target_format(c) == "qcow2" &&
                       convert_sources(last_step(c)).size() > 1;
            },
            [](Case& c, const Draws&) {
                Step& step = last_step(c);
                const std::string source = convert_sources(step).front();
                if (!named_backing(step)) {
                    erase_creation_option(step, "preallocation");
                    set_option(step, "-B", ImageValue{source});
                    set_option(step, "-F", WordValue{std::string(format_of(c, source))});
                }
                if (has_one_source(c)) {
                    remove_option(step, "--bitmaps");
                    step.arguments.insert(step.arguments.end() - 1, {"", ImageValue{source}});
                }
            },
            [](const Case& c) { return target_format(c) == "qcow2"; }};
}

Rule target_is_zero_rule() {
    return {"target-is-zero-without-n", true, "--target-is-zero is for a target that exists",
            [](const Case& c) {
                return has_option(last_step(c), "--target-is-zero") &&
                       !has_option(last_step(c), "-n");
            },
            [](Case& c, const Draws&) { add_flag(last_step(c), "--target-is-zero"); }};
}

Rule no_target_rule() {
    return {"no-target-to-fill", true, "-n needs a target that exists, which no step made",
            [](const Case& c) { return has_option(last_step(c), "-n"); },
            [](Case& c, const Draws&) { add_flag(last_step(c), "-n"); }};
}

Rule no_snapshot_rule() {
    return {"no-such-snapshot", true, "-l must name a snapshot that the source has; it has none",
            [](const Case& c) { return has_option(last_step(c), "-l"); },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view names[] = {"snap", "1", "snapshot.name=snap"};
                set_option(last_step(c), "-l", WordValue{std::string(draws.pick("name", names))});
            }};
}

// Rule::broken takes no more than the case, so each row has its own.
Rule never_compressed_rule() {
    return {"compresses", false, "this operation never compresses; another one does",
            [](const Case& c) { return has_option(last_step(c), "-c"); }};
}
Rule always_compressed_rule() {
    return {"does-not-compress", false, "this operation always compresses; another one does not",
            [](const Case& c) { return !has_option(last_step(c), "-c"); }};
}

std::vector<Rule> make_rules(bool compressed) {
    std::vector<Rule> rules{
        unknown_option_rule(),
        unknown_format_rule(),
        missing_file_rule(),
        no_file_rule(),
        other_format_rule(),
        own_format_rule(),
        known_images_rule(),
        no_output_rule(),
        output_position_rule(),
        several_formats_rule(),
        target_format_rule("-O"),
        text_rule<OutputFormatOption>("-O must name a format that can be written"),
        text_rule<CoroutineOption>("-m must be a number"),
        coroutine_range_rule(),
        sparse_text_rule(),
        sparse_range_rule(),
        text_rule<RateOption>("-r must be a size"),
        slow_rate_rule(),
        text_rule<TargetCacheOption>("-t must be a cache mode"),
        text_rule<SourceCacheOption>("-T must be a cache mode"),
        offload_rule(),
        bitmaps_rule(),
        several_backing_rule(),
        target_is_zero_rule(),
        no_target_rule(),
        no_snapshot_rule(),
        compressed ? always_compressed_rule() : never_compressed_rule(),
    };
    if (compressed) {
        rules.push_back(compression_rule());
    }
    for (std::vector<Rule> more : {backing_rules("-B"), creation_option_rules(compressed)}) {
        rules.insert(rules.end(), more.begin(), more.end());
    }
    if (compressed) {
        // Whatever has compression has backing files, too.
        std::erase_if(rules, [](const Rule& rule) { return rule.name == "backing-unsupported"; });
    }
    return rules;
}

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
        {"", ValueKind::image, {}, 2, 4},
        // Only ever refused as yet.
        {"-n", ValueKind::none, {}, 0, 0},
        {"--target-is-zero", ValueKind::none, {}, 0, 0},
        {"-l", ValueKind::word, {}, 0, 0},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
}

// Of the options that are drawn: -l, -n and --target-is-zero only to be refused, since images
// cannot have snapshots yet and nothing stands at the output; -o size has no effect.
constexpr LeftOut left_out[] = {
    {"--image-opts", "names protocols"},
    {"--target-image-opts", "names protocols"},
    {"--object", "asks for a password"},
};

}  // namespace

const Picker& convert_picker() {
    static const std::vector<OptionSpec> options = make_options(false);
    static const std::vector<Rule> rules = make_rules(false);
    static const Picker picker{"convert", "convert", draw_plain, options, rules, left_out};
    return picker;
}

const Picker& convert_compressed_picker() {
    static const std::vector<OptionSpec> options = make_options(true);
    static const std::vector<Rule> rules = make_rules(true);
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
