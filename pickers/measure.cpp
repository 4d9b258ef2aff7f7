#include "pickers/measure.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "pickers/creation_options.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/measured_convert.hpp"
#include "pickers/snapshot_parameter.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
constexpr std::uint64_t size_max = 9'223'372'036'854'775'807;
// The largest multiple of 512 within it: what raw rounds up to stays a signed number.
constexpr std::uint64_t raw_size_max = size_max / 512 * 512;
// qcow2: entries of the largest first-level table (32 MiB) that qemu-img makes.
constexpr std::uint64_t qcow2_max_tables = 4'194'304;

struct SizeOption {
    static constexpr std::string_view option = "--size";
    static constexpr std::string_view text_rule = "size-not-a-size";
    static constexpr std::string_view range_rule = "size-out-of-range";
    static constexpr std::uint64_t max = size_max;
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "k", "4kk", "-64k"};
    static constexpr std::uint64_t outside[] = {9'223'372'036'854'775'808U,
                                                10'376'293'541'461'622'784U};
};

// Targets that the reference can measure, then those that it knows and cannot.
constexpr std::array<std::string_view, 9> target_words{"raw",  "qcow2", "vmdk", "vpc",      "vdi",
                                                       "vhdx", "qed",   "qcow", "parallels"};
constexpr std::size_t measurable_targets = 2;
constexpr std::span<const std::string_view> unmeasurable =
    std::span(target_words).subspan(measurable_targets);

bool has_file(const Case& c) { return !positionals(last_step(c)).empty(); }
bool has_size(const Case& c) { return has_option(last_step(c), SizeOption::option); }
bool by_size(const Case& c) { return has_size(c) && !has_file(c); }
bool makes_qcow2(const Case& c) { return target_format(c) == "qcow2"; }

// The largest virtual size that the target can have; nothing where its options are not sound.
std::optional<std::uint64_t> largest_target(const Case& c) {
    if (!makes_qcow2(c)) {
        return raw_size_max;
    }
    const auto options = creation_options(last_step(c));
    std::uint64_t cluster = 64 * kib;
    if (const Scalar* value = find_creation_option(options, "cluster_size")) {
        const auto* size = std::get_if<SizeValue>(value);
        if (size == nullptr || !std::has_single_bit(size->bytes) || size->bytes < 512 ||
            size->bytes > 2 * mib) {
            return std::nullopt;
        }
        cluster = size->bytes;
    }
    const Scalar* extended = find_creation_option(options, "extended_l2");
    const bool wide = extended != nullptr && *extended == Scalar{WordValue{"on"}};
    if (wide && cluster < 16 * kib) {
        return std::nullopt;
    }
    return qcow2_max_tables * cluster * (cluster / (wide ? 16 : 8));
}

std::uint64_t draw_measured_size(const Draws& draws, std::uint64_t cluster, std::uint64_t largest) {
    enum class Kind { usual, power, limit, none };
    static constexpr Weighted<Kind> kinds[] = {
        {Kind::usual, 66}, {Kind::power, 20}, {Kind::limit, 10}, {Kind::none, 4}};
    switch (draws.pick("kind", kinds)) {
        case Kind::usual:
            return draw_size(draws, cluster, 1, 5 * gib);
        case Kind::power: {
            const auto bits = static_cast<unsigned>(std::bit_width(largest)) - 1;
            const std::uint64_t power = std::uint64_t{1} << draws.between("power", 20, bits);
            return power - (draws.chance("less", 30) ? draws.between("by", 1, 64 * kib) : 0);
        }
        case Kind::limit:
            return largest - (draws.chance("less", 50) ? draws.between("by", 1, 64 * kib) : 0);
        case Kind::none:
            return 0;
    }
    return 0;
}

// measure reads compatibility levels in their long form only.
void spell_out_compat(std::vector<FormatOption>& options) {
    for (FormatOption& option : options) {
        if (option.name == "compat") {
            const bool old = option.value == Scalar{WordValue{"v2"}} ||
                             option.value == Scalar{WordValue{"0.10"}};
            option.value = WordValue{old ? "0.10" : "1.1"};
        }
    }
}

void add_options(Step& step, const PickContext& context, const Draws& draws,
                 std::string_view target, const std::string& file, std::string_view format) {
    // Nothing is allocated, so that the size need not bound the options.
    std::vector<FormatOption> options =
        draw_creation_options(draws.scope("arg[-o]"), context.plan, {target, mib, false, false});
    spell_out_compat(options);
    const bool preallocated = std::ranges::any_of(
        options, [](const FormatOption& option) { return option.name == "preallocation"; });
    if (target == "qcow2" && !file.empty() && !preallocated &&
        draws.chance("arg[-o].backing_file", 10)) {
        options.push_back({"backing_file", ImageValue{file}});
        options.push_back({"backing_fmt", WordValue{std::string(format)}});
    }
    add_creation_options(step, draws.scope("arg[-o]"), std::move(options));
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "measure";
    const Draws draws = context.draws.scope("step[0]");
    std::string file;
    if (!draws.chance("by-size", 45)) {
        file = draw_image(c, context, "src", every_image());
    }
    c.steps.push_back({Actor::tool, "measure", "measure", ValidIntent{}, {}});
    Step& step = last_step(c);
    static constexpr Weighted<std::string_view> targets[] = {{"", 15}, {"raw", 20}, {"qcow2", 65}};
    const std::string_view target = draws.pick("arg[-O]", targets);
    if (!target.empty()) {
        step.arguments.push_back({"-O", WordValue{std::string(target)}});
        add_options(step, context, draws, target, file, format_of(c, file));
    }
    static constexpr Weighted<std::string_view> outputs[] = {{"", 25}, {"human", 10}, {"json", 65}};
    if (const auto output = draws.pick("arg[--output]", outputs); !output.empty()) {
        step.arguments.push_back({"--output", WordValue{std::string(output)}});
    }
    if (draws.chance("arg[-U]", 10)) {
        step.arguments.push_back({"-U", std::nullopt});
    }
    if (file.empty()) {
        const Draws size = draws.scope("arg[--size]");
        const std::uint64_t bytes = draw_measured_size(size, target_cluster(c), *largest_target(c));
        step.arguments.push_back(
            {"--size", size.chance("plain", 40) ? plain_size(bytes) : draw_spelling(size, bytes)});
        return c;
    }
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{std::string(format_of(c, file))}});
    }
    const ImageRecipe& image = *find_image(c, file);
    if (!image.snapshots.empty() && draws.chance("arg[-l]", 60)) {
        step.arguments.push_back({"-l", draw_snapshot_parameter(draws.scope("arg[-l]"), image)});
    }
    step.arguments.push_back({"", ImageValue{file}});
    // What breaks a rule has no convert that it is the measure of. (The same draw as pick_case().)
    const bool refused = context.draws.chance("intent.refused", context.plan.refused_percent);
    if (draws.chance("convert", 25) && !refused) {
        add_convert_to_measure(c);
    }
    return c;
}

Rule for_files(Rule rule) {
    rule.applicable = has_file;
    return rule;
}

Rule nothing_to_measure_rule() {
    return {"nothing-to-measure", true, "a size or an image must be given",
            [](const Case& c) { return !has_file(c) && !has_size(c); },
            [](Case& c, const Draws&) {
                remove_option(last_step(c), SizeOption::option);
                remove_option(last_step(c), "-f");
                remove_option(last_step(c), "-l");
                remove_option(last_step(c), "");
            }};
}

Rule size_and_file_rule() {
    return {"size-and-file",
            true,
            "a size and an image exclude one another",
            [](const Case& c) { return has_file(c) && has_size(c); },
            [](Case& c, const Draws& draws) {
                set_option(last_step(c), SizeOption::option,
                           suffixed_size(draws.between("size", 1, 1024) * kib));
            },
            has_file};
}

Rule format_without_file_rule() {
    return {"format-without-file",
            true,
            "-f is about an image",
            [](const Case& c) { return by_size(c) && has_option(last_step(c), "-f"); },
            [](Case& c, const Draws& draws) {
                set_option(last_step(c), "-f",
                           WordValue{std::string(draws.pick("format", known_formats()))});
            },
            by_size};
}

Rule snapshot_without_file_rule() {
    return {"snapshot-without-file",
            true,
            "-l is about an image",
            [](const Case& c) { return by_size(c) && has_option(last_step(c), "-l"); },
            [](Case& c, const Draws&) { set_option(last_step(c), "-l", WordValue{"1"}); },
            by_size};
}

Rule no_snapshot_rule() {
    return {"no-such-snapshot",
            true,
            "-l must name a snapshot that the image has",
            [](const Case& c) {
                const Argument* parameter = find_argument(last_step(c), "-l");
                const auto* image =
                    has_file(c)
                        ? std::get_if<ImageValue>(&*positionals(last_step(c)).front()->value)
                        : nullptr;
                const ImageRecipe* source = image == nullptr ? nullptr : find_image(c, image->id);
                return parameter != nullptr && source != nullptr &&
                       (!parameter->value || !named_snapshot(*source, *parameter->value));
            },
            [](Case& c, const Draws& draws) {
                set_option(last_step(c), "-l", draw_no_snapshot(draws));
            },
            has_file};
}

Rule unknown_target_rule() {
    return {"unknown-target", true, "-O must name a format that exists",
            [](const Case& c) { return option_value<LiteralValue>(last_step(c), "-O") != nullptr; },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view words[] = {"qcow9", "RAW", "vdmk", "none"};
                remove_option(last_step(c), "-o");
                set_option(last_step(c), "-O",
                           LiteralValue{std::string(draws.pick("target", words))});
            }};
}

Rule unmeasurable_target_rule() {
    return {"unmeasurable-target", true, "raw and qcow2 alone can be measured",
            [](const Case& c) {
                const auto* word = option_value<WordValue>(last_step(c), "-O");
                return word != nullptr &&
                       std::ranges::find(unmeasurable, word->text) != unmeasurable.end();
            },
            [](Case& c, const Draws& draws) {
                remove_option(last_step(c), "-o");
                set_option(last_step(c), "-O",
                           WordValue{std::string(draws.pick("target", unmeasurable))});
            }};
}

Rule too_large_rule() {
    return {"size-too-large",
            true,
            "the clusters must be large enough for the size",
            [](const Case& c) {
                const auto size = bytes_of(last_step(c), SizeOption::option);
                const auto largest = largest_target(c);
                return makes_qcow2(c) && size && *size <= size_max && largest && *size > *largest;
            },
            [](Case& c, const Draws& draws) {
                const std::uint64_t largest = *largest_target(c);
                set_option(last_step(c), SizeOption::option,
                           plain_size(draws.chance("barely", 50)
                                          ? largest + draws.between("by", 1, 64 * kib)
                                          : draws.between("size", 2 * largest, size_max)));
            },
            [](const Case& c) { return by_size(c) && makes_qcow2(c); }};
}

// What makes a raw size round up past the largest signed number.
Rule rounding_overflow_rule() {
    return {
        "size-rounding-overflow", false,
        "a raw size stays a signed number when rounded up to 512; the reference lets it overflow",
        [](const Case& c) {
            const auto size = bytes_of(last_step(c), SizeOption::option);
            return !makes_qcow2(c) && size && *size <= size_max && *size > raw_size_max;
        }};
}

Rule short_compat_rule() {
    return {
        "short-compat",
        true,
        "compat is 0.10 or 1.1; the short forms are known to create only",
        [](const Case& c) {
            const auto options = creation_options(last_step(c));
            const Scalar* compat = find_creation_option(options, "compat");
            return compat != nullptr &&
                   (*compat == Scalar{WordValue{"v2"}} || *compat == Scalar{WordValue{"v3"}});
        },
        [](Case& c, const Draws&) { set_creation_option(last_step(c), "compat", WordValue{"v3"}); },
        makes_qcow2};
}

void ask_for_narrow_refcounts_of_version_2(Case& c, const Draws& draws) {
    static constexpr std::int64_t widths[] = {1, 2, 4, 8, 32, 64};
    Step& step = last_step(c);
    for (const std::string_view name : {"lazy_refcounts", "extended_l2", "compression_type"}) {
        erase_creation_option(step, name);
    }
    // Clusters stay as they are: the size may need them.
    set_creation_option(step, "compat", WordValue{"0.10"});
    set_creation_option(step, "refcount_bits", NumberValue{draws.pick("bits", widths)});
}

void give_value_that_measure_reads(Case& c, const Draws& draws) {
    static constexpr std::pair<std::string_view, std::string_view> values[] = {
        {"cluster_size", "x"},    {"refcount_bits", "x"},    {"lazy_refcounts", "maybe"},
        {"extended_l2", "maybe"}, {"preallocation", "some"}, {"compat", "0.11"}};
    const auto& [name, text] = values[draws.between("value", 0, std::size(values) - 1)];
    set_creation_option(last_step(c), name, LiteralValue{std::string(text)});
}

// The rules of creation options as far as measure has them: it works out sizes only, and looks at
// no more than it needs for that.
std::vector<Rule> measured_creation_rules() {
    static constexpr std::string_view unread[] = {"lazy-refcounts-need-v3", "extended-l2-needs-v3",
                                                  "zstd-needs-v3", "preallocation-with-backing"};
    std::vector<Rule> rules;
    for (Rule rule : creation_option_rules()) {
        if (rule.name == "compat6-with-hwversion") {
            // About a format that cannot be measured.
            continue;
        }
        if (rule.name == "creation-option-value") {
            rule.break_it = give_value_that_measure_reads;
            rule.applicable = makes_qcow2;
        } else if (rule.name == "refcount-bits-need-v3") {
            rule.break_it = ask_for_narrow_refcounts_of_version_2;
        } else if (std::ranges::find(unread, rule.name) != std::end(unread)) {
            rule.enforced = false;
            rule.break_it = nullptr;
        }
        rules.push_back(rule);
    }
    return rules;
}

Rule ignored_option_rule() {
    Rule rule = unknown_option_rule();
    rule.enforced = false;
    rule.why = "every option must be one that the command has; 7.2 says so and goes on";
    rule.break_it = nullptr;
    return rule;
}

std::vector<Rule> all_rules() {
    std::vector<Rule> rules{
        ignored_option_rule(),
        unknown_output_rule(),
        for_files(unknown_format_rule()),
        for_files(missing_file_rule()),
        for_files(two_files_rule()),
        for_files(other_format_rule()),
        own_format_rule(),
        nothing_to_measure_rule(),
        size_and_file_rule(),
        format_without_file_rule(),
        snapshot_without_file_rule(),
        no_snapshot_rule(),
        text_rule<SizeOption>("a size", by_size),
        range_rule<SizeOption>("at most 9223372036854775807", by_size),
        unknown_target_rule(),
        unmeasurable_target_rule(),
        too_large_rule(),
        rounding_overflow_rule(),
        short_compat_rule(),
        convert_to_measure_rule(),
    };
    for (const Rule& rule : measured_creation_rules()) {
        rules.push_back(rule);
    }
    return rules;
}

}  // namespace

const Picker& measure_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, known_formats()},
        {"-O", ValueKind::word, target_words},
        {"-o", ValueKind::options, {}, 0, 2},
        {"--output", ValueKind::word, output_words()},
        {"-U", ValueKind::none, {}},
        {"-l", ValueKind::any, {}},
        {SizeOption::option, ValueKind::size, {}},
        {"", ValueKind::image, {}, 0, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const std::vector<Rule> rules = all_rules();
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const StepKind kind{
        "measure",
        "measure",
        Actor::tool,
        options,
        [](Case&, const PickContext&, const CaseState&) { return std::optional<Step>{}; },
        [](const Case&, const Step&, CaseState&) { return std::string_view{}; },
        [](const Case&, const Step&, const CaseState&) { return std::vector<std::string>{}; }};
    static const StepKind* const kinds[] = {&kind, &measured_convert_kind()};
    static const Picker picker{"measure", "measure", draw_valid, options, rules, left_out, kinds};
    return picker;
}

}  // namespace difffuzz
