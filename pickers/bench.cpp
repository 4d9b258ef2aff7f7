#include "pickers/bench.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "images/format.hpp"
#include "images/recipe_rules.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;

// The boot signature of a master boot record, by which cautious tools tell raw disks from text.
constexpr std::uint64_t signature_offset = 510;
constexpr std::array<std::uint8_t, 2> signature{0x55, 0xaa};

struct CountOption {
    static constexpr std::string_view option = "-c";
    static constexpr std::string_view text_rule = "count-not-a-number";
    static constexpr std::string_view range_rule = "count-out-of-range";
    static constexpr std::uint64_t max = bench_argument_max;
    static constexpr std::string_view texts[] = {"abc", "1k", "1.5", "", "10 ", "0x"};
    static constexpr std::int64_t outside[] = {-1, -256, 2'147'483'648, 4'294'967'297};
};

struct DepthOption {
    static constexpr std::string_view option = "-d";
    static constexpr std::string_view text_rule = "depth-not-a-number";
    static constexpr std::string_view range_rule = "depth-out-of-range";
    static constexpr std::uint64_t max = bench_argument_max;
    static constexpr std::string_view texts[] = {"abc", "1k", "1.5", "", "8,", "0x"};
    static constexpr std::int64_t outside[] = {-1, -64, 2'147'483'648, 4'294'967'297};
};

struct BufferOption {
    static constexpr std::string_view option = "-s";
    static constexpr std::string_view text_rule = "buffer-not-a-size";
    static constexpr std::string_view range_rule = "buffer-out-of-range";
    static constexpr std::uint64_t max = bench_argument_max;
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "k", "4kk", "-4k"};
    static constexpr std::uint64_t outside[] = {2'147'483'648, 3'221'225'472, 1'099'511'627'776};
};

struct StepOption {
    static constexpr std::string_view option = "-S";
    static constexpr std::string_view text_rule = "step-not-a-size";
    static constexpr std::string_view range_rule = "step-out-of-range";
    static constexpr std::uint64_t max = bench_argument_max;
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "k", "4kk", "-4k"};
    static constexpr std::uint64_t outside[] = {2'147'483'648, 3'221'225'472, 1'099'511'627'776};
};

struct OffsetOption {
    static constexpr std::string_view option = "-o";
    static constexpr std::string_view text_rule = "offset-not-a-size";
    static constexpr std::string_view range_rule = "offset-out-of-range";
    static constexpr std::uint64_t max = bench_offset_max;
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "k", "4kk", "-4k"};
    static constexpr std::uint64_t outside[] = {9'223'372'036'854'775'808U,
                                                10'376'293'541'461'622'784U};
};

struct PatternOption {
    static constexpr std::string_view option = "--pattern";
    static constexpr std::string_view text_rule = "pattern-not-a-number";
    static constexpr std::string_view range_rule = "pattern-out-of-range";
    static constexpr std::uint64_t max = 255;
    static constexpr std::string_view texts[] = {"abc", "1k", "a", "", "0xg"};
    static constexpr std::int64_t outside[] = {-1, 256, 257, 65'536, 4'294'967'296};
};

struct IntervalOption {
    static constexpr std::string_view option = "--flush-interval";
    static constexpr std::string_view text_rule = "interval-not-a-number";
    static constexpr std::string_view range_rule = "interval-out-of-range";
    static constexpr std::uint64_t max = bench_argument_max;
    static constexpr std::string_view texts[] = {"abc", "4k", "1.5", "", "16,"};
    static constexpr std::int64_t outside[] = {-1, -64, 2'147'483'648, 4'294'967'297};
};

const ImageRecipe* image_of(const Case& c) {
    const auto names = positionals(last_step(c));
    if (names.empty() || !names.front()->value) {
        return nullptr;
    }
    const auto* image = std::get_if<ImageValue>(&*names.front()->value);
    return image == nullptr ? nullptr : find_image(c, image->id);
}

bool writes(const Case& c) { return has_option(last_step(c), "-w"); }

bool is_between(std::optional<std::int64_t> value, std::uint64_t low, std::uint64_t high) {
    return value && *value >= 0 && static_cast<std::uint64_t>(*value) >= low &&
           static_cast<std::uint64_t>(*value) <= high;
}

// The interval of a step that has one which the reference can read, else 0.
std::int64_t live_interval(const Case& c) {
    const auto interval = number_of(last_step(c), IntervalOption::option);
    return is_between(interval, 1, IntervalOption::max) ? *interval : 0;
}

// The byte that a recipe leaves at `offset`, as far as uniform fills tell.
std::optional<std::uint8_t> byte_at(const ImageRecipe& image, std::uint64_t offset) {
    for (auto write = image.content.rbegin(); write != image.content.rend(); ++write) {
        if (offset >= write->offset && offset - write->offset < write->length) {
            const auto* fill = std::get_if<ByteFill>(&write->fill);
            return fill != nullptr && write->kind == WriteKind::write ? std::optional(fill->byte)
                                                                      : std::nullopt;
        }
    }
    return std::nullopt;
}

bool has_signature(const ImageRecipe& image) {
    for (std::size_t i = 0; i < signature.size(); ++i) {
        if (byte_at(image, signature_offset + i) != signature[i]) {
            return false;
        }
    }
    return true;
}

// A stream takes whole grains, and each only once. In parallels, 128 MiB are allocated ahead: more
// than the files of a case of this size may grow to.
bool is_only_read(const ImageRecipe& image) {
    return image.format == "parallels" ||
           (image.format == "vmdk" &&
            word_option(image, "subformat", "monolithicSparse") == "streamOptimized");
}

// qcow allocates its clusters of 512 bytes one by one: 32 MiB of them take half a minute.
std::uint64_t max_transfer(const ImageRecipe& image) {
    return image.format == "qcow" ? find_format("qcow")->cluster_bytes(image) * 4096
                                  : bench_max_transfer;
}

std::uint64_t draw_buffer(const Draws& draws, std::uint64_t cap) {
    static constexpr std::uint64_t usual_sizes[] = {512, kib, 4 * kib, 8 * kib, 16 * kib, 64 * kib};
    static constexpr std::uint64_t straddling_sizes[] = {4095,   4097,   12'288,
                                                         65'535, 65'537, 131'072};
    static constexpr std::uint64_t large_sizes[] = {256 * kib, 512 * kib, 1024 * kib, 2048 * kib};
    enum class Kind { usual, straddling, large, any };
    static constexpr Weighted<Kind> kinds[] = {
        {Kind::usual, 68}, {Kind::straddling, 18}, {Kind::large, 8}, {Kind::any, 6}};
    std::span<const std::uint64_t> wanted = usual_sizes;
    switch (draws.pick("arg[-s].kind", kinds)) {
        case Kind::usual:
            break;
        case Kind::straddling:
            wanted = straddling_sizes;
            break;
        case Kind::large:
            wanted = large_sizes;
            break;
        case Kind::any:
            return draws.between("arg[-s]", 1, std::min(cap, 64 * kib));
    }
    std::vector<std::uint64_t> fitting;
    std::ranges::copy_if(wanted, std::back_inserter(fitting),
                         [&](std::uint64_t size) { return size <= cap; });
    if (fitting.empty()) {
        return draws.between("arg[-s]", 1, cap);
    }
    return draws.pick("arg[-s]", std::span<const std::uint64_t>(fitting));
}

std::uint64_t draw_step(const Draws& draws, std::uint64_t bufsize) {
    static constexpr std::uint64_t power_steps[] = {512, 4 * kib, 64 * kib, 128 * kib, 256 * kib};
    static constexpr std::uint64_t odd_steps[] = {1, 513, 777, 1000, 4097, 65'537};
    enum class Kind { none, buffer, power, odd };
    static constexpr Weighted<Kind> kinds[] = {
        {Kind::none, 35}, {Kind::buffer, 33}, {Kind::power, 16}, {Kind::odd, 16}};
    switch (draws.pick("arg[-S].kind", kinds)) {
        case Kind::none:
            return 0;
        case Kind::buffer:
            return bufsize;
        case Kind::power:
            return draws.pick("arg[-S]", power_steps);
        case Kind::odd:
            return draws.pick("arg[-S]", odd_steps);
    }
    return 0;
}

std::uint64_t draw_first_offset(const Draws& draws, std::uint64_t most) {
    enum class Kind { none, sector, any };
    static constexpr Weighted<Kind> kinds[] = {
        {Kind::none, 50}, {Kind::sector, 25}, {Kind::any, 25}};
    switch (draws.pick("arg[-o].kind", kinds)) {
        case Kind::none:
            return 0;
        case Kind::sector:
            return draws.between("arg[-o]", 0, most / 512) * 512;
        case Kind::any:
            return draws.between("arg[-o]", 0, most);
    }
    return 0;
}

// A plan that stays linear in an image of `size` bytes.
BenchPlan draw_plan(const Draws& draws, std::uint64_t size, bool may_write, std::uint64_t most) {
    BenchPlan plan;
    plan.image_size = size;
    plan.bufsize = draw_buffer(draws, std::min(size / 4, bench_max_buffer));
    plan.step = draw_step(draws, plan.bufsize);
    const std::uint64_t room = size - 1 - plan.bufsize;
    const std::uint64_t fitting = std::min({room / effective_step(plan) + 1, most / plan.bufsize,
                                            draws.between("arg[-c]", 1, bench_max_count)});
    plan.count = static_cast<std::uint32_t>(fitting);
    plan.offset = draw_first_offset(draws, room - (fitting - 1) * effective_step(plan));
    plan.depth = draws.chance("arg[-d].one", 25)
                     ? 1
                     : static_cast<std::uint32_t>(draws.between("arg[-d]", 1, bench_max_depth));
    plan.pattern = static_cast<std::uint8_t>(draws.between("arg[--pattern]", 0, 255));
    plan.write = may_write && draws.chance("arg[-w]", 50);
    return plan;
}

void add_write_flags(Step& step, const Draws& draws, const BenchPlan& plan) {
    step.arguments.push_back({"-w", std::nullopt});
    enum class Kind { absent, zero, some };
    static constexpr Weighted<Kind> kinds[] = {
        {Kind::absent, 40}, {Kind::zero, 20}, {Kind::some, 40}};
    std::uint64_t interval = 0;
    switch (draws.pick("arg[--flush-interval].kind", kinds)) {
        case Kind::absent:
            return;
        case Kind::zero:
            break;
        case Kind::some:
            interval = draws.between("arg[--flush-interval]", plan.depth,
                                     std::max(plan.depth, 4 * plan.count));
            break;
    }
    step.arguments.push_back(
        {"--flush-interval", NumberValue{static_cast<std::int64_t>(interval)}});
    if (interval != 0 && draws.chance("arg[--no-drain]", 50)) {
        step.arguments.push_back({"--no-drain", std::nullopt});
    }
}

SizeValue spelled(const Draws& draws, std::string_view option, std::uint64_t bytes) {
    const std::string name = "arg[" + std::string(option) + "]";
    return draws.chance(name + ".plain", 60) ? plain_size(bytes)
                                             : draw_spelling(draws.scope(name), bytes);
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "bench";
    ImageWish wish = every_image();
    wish.min_size = 64 * kib;
    wish.max_size = bench_max_image;
    wish.max_content = 2048 * kib;
    const std::string id = draw_image(c, context, "src", wish);
    ImageRecipe& image = c.images.back();
    const bool raw = image.format == "raw";
    if (raw) {
        for (std::size_t i = 0; i < signature.size(); ++i) {
            image.content.push_back(
                {WriteKind::write, signature_offset + i, 1, ByteFill{signature[i]}});
        }
    }
    const Draws draws = context.draws.scope("step[0]");
    const BenchPlan plan = draw_plan(draws, find_format(image.format)->actual_size(image),
                                     !is_only_read(image), max_transfer(image));
    Step step{Actor::tool, "bench", "bench", ValidIntent{}, {}};
    step.arguments = {
        {"-f", WordValue{image.format}},          {"-c", NumberValue{plan.count}},
        {"-d", NumberValue{plan.depth}},          {"-s", spelled(draws, "-s", plan.bufsize)},
        {"-S", spelled(draws, "-S", plan.step)},  {"--pattern", NumberValue{plan.pattern}},
        {"-o", spelled(draws, "-o", plan.offset)}};
    if (plan.write) {
        add_write_flags(step, draws, plan);
    } else if (draws.chance("arg[-U]", 10)) {
        step.arguments.push_back({"-U", std::nullopt});
    }
    step.arguments.push_back({"", ImageValue{id}});
    c.steps.push_back(step);
    return c;
}

// A wish outside of the envelope that some reference carries out nevertheless.
Rule accepted(std::string_view name, std::string_view why, bool (*broken)(const Case&)) {
    return {name, false, why, broken};
}

Rule flush_without_write_rule() {
    return {"flush-without-write",
            true,
            "an interval other than 0 needs -w",
            [](const Case& c) { return !writes(c) && live_interval(c) != 0; },
            [](Case& c, const Draws& draws) {
                set_option(last_step(c), IntervalOption::option,
                           NumberValue{static_cast<std::int64_t>(
                               draws.between("interval", bench_max_depth, 1000))});
            },
            [](const Case& c) { return !writes(c); }};
}

Rule flush_below_depth_rule() {
    return {"flush-below-depth",
            true,
            "an interval other than 0 is at least the depth",
            [](const Case& c) {
                const auto depth = number_of(last_step(c), DepthOption::option);
                return writes(c) && live_interval(c) != 0 &&
                       is_between(depth, 0, DepthOption::max) && live_interval(c) < *depth;
            },
            [](Case& c, const Draws& draws) {
                const std::uint64_t depth = draws.between("depth", 2, bench_max_depth);
                set_option(last_step(c), DepthOption::option,
                           NumberValue{static_cast<std::int64_t>(depth)});
                set_option(last_step(c), IntervalOption::option,
                           NumberValue{
                               static_cast<std::int64_t>(draws.between("interval", 1, depth - 1))});
            },
            writes};
}

Rule shared_write_rule() {
    return {"shared-write",
            true,
            "-U needs an image that is only read",
            [](const Case& c) { return writes(c) && has_option(last_step(c), "-U"); },
            [](Case& c, const Draws&) { add_flag(last_step(c), "-U"); },
            writes};
}

bool starts_past_end(const Case& c) {
    const auto plan = bench_plan_of(c);
    return plan && plan->count == 1 && has_fault(*plan, BenchFault::first_request_past_end);
}

// With one request, so that none that fits is on its way when the reference gives up.
Rule start_past_end_rule() {
    return {"start-past-end", true, "the only request lies within the image", starts_past_end,
            [](Case& c, const Draws& draws) {
                const BenchPlan plan = *bench_plan_of(c);
                const std::uint64_t first = plan.image_size - plan.bufsize + 1;
                set_option(last_step(c), CountOption::option, NumberValue{1});
                set_option(last_step(c), OffsetOption::option,
                           plain_size(draws.chance("crossing", 50)
                                          ? first + draws.between("into", 0, plan.bufsize - 1)
                                          : draws.between("beyond", first, bench_offset_max / 2)));
            }};
}

}  // namespace

std::optional<BenchPlan> bench_plan_of(const Case& c) {
    const Step& step = last_step(c);
    const ImageRecipe* image = image_of(c);
    const Format* format = image == nullptr ? nullptr : find_format(image->format);
    if (format == nullptr) {
        return std::nullopt;
    }
    BenchPlan plan;
    plan.image_size = format->actual_size(*image);
    plan.write = writes(c);
    plan.no_drain = has_option(step, "--no-drain");
    bool readable = true;
    const auto read = [&]<typename Option, typename T>(Option, T& member) {
        if (!has_option(step, Option::option)) {
            return;
        }
        std::optional<std::uint64_t> value;
        if constexpr (takes_size<Option>) {
            value = bytes_of(step, Option::option);
        } else if (const auto number = number_of(step, Option::option); number && *number >= 0) {
            value = static_cast<std::uint64_t>(*number);
        }
        if (value && *value <= Option::max) {
            member = static_cast<T>(*value);
        } else {
            readable = false;
        }
    };
    read(CountOption{}, plan.count);
    read(DepthOption{}, plan.depth);
    read(BufferOption{}, plan.bufsize);
    read(StepOption{}, plan.step);
    read(OffsetOption{}, plan.offset);
    read(PatternOption{}, plan.pattern);
    read(IntervalOption{}, plan.flush_interval);
    return readable ? std::optional(plan) : std::nullopt;
}

const Picker& bench_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}, 1},
        {CountOption::option, ValueKind::number, {}, 1},
        {DepthOption::option, ValueKind::number, {}, 1},
        {BufferOption::option, ValueKind::size, {}, 1},
        {StepOption::option, ValueKind::size, {}, 1},
        {PatternOption::option, ValueKind::number, {}, 1},
        {OffsetOption::option, ValueKind::size, {}, 1},
        {"-w", ValueKind::none, {}},
        {IntervalOption::option, ValueKind::number, {}},
        {"--no-drain", ValueKind::none, {}},
        {"-U", ValueKind::none, {}},
        {"", ValueKind::image, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static constexpr std::string_view number = "a plain number";
    static constexpr std::string_view size = "a size";
    static constexpr std::string_view argument = "at most 2147483647";
    static const Rule rules[] = {
        unknown_option_rule(),
        unknown_format_rule(),
        missing_file_rule(),
        no_file_rule(),
        two_files_rule(),
        other_format_rule(),
        text_rule<CountOption>(number),
        range_rule<CountOption>(argument),
        text_rule<DepthOption>(number),
        range_rule<DepthOption>(argument),
        text_rule<BufferOption>(size),
        range_rule<BufferOption>(argument),
        text_rule<StepOption>(size),
        range_rule<StepOption>(argument),
        text_rule<OffsetOption>(size),
        range_rule<OffsetOption>("at most 9223372036854775807"),
        text_rule<PatternOption>(number),
        range_rule<PatternOption>("0 to 255"),
        text_rule<IntervalOption>(number),
        range_rule<IntervalOption>(argument),
        flush_without_write_rule(),
        flush_below_depth_rule(),
        shared_write_rule(),
        start_past_end_rule(),
        own_format_rule(),
        accepted("count-zero", "at least one request; 7.2 accepts 0 and does nothing",
                 [](const Case& c) { return number_of(last_step(c), CountOption::option) == 0; }),
        accepted("depth-zero", "a depth of at least 1; 7.2 hangs on 0",
                 [](const Case& c) { return number_of(last_step(c), DepthOption::option) == 0; }),
        accepted("buffer-zero", "at least one byte; 7.2 accepts requests of 0 bytes",
                 [](const Case& c) { return bytes_of(last_step(c), BufferOption::option) == 0U; }),
        accepted("count-large", "up to 256 requests; more are accepted and cost time",
                 [](const Case& c) {
                     return is_between(number_of(last_step(c), CountOption::option),
                                       bench_max_count + 1, CountOption::max);
                 }),
        accepted("depth-large", "up to 64 in parallel; more are accepted",
                 [](const Case& c) {
                     return is_between(number_of(last_step(c), DepthOption::option),
                                       bench_max_depth + 1, DepthOption::max);
                 }),
        accepted("buffer-large", "up to 2 MiB; more is accepted and costs memory",
                 [](const Case& c) {
                     const auto bytes = bytes_of(last_step(c), BufferOption::option);
                     return bytes && *bytes > bench_max_buffer && *bytes <= BufferOption::max;
                 }),
        accepted("not-linear",
                 "the schedule ends before the image does: versions differ in how they wrap, and "
                 "accept it",
                 [](const Case& c) {
                     const auto plan = bench_plan_of(c);
                     return plan && plan->count != 0 && plan->bufsize != 0 &&
                            !stays_linear(*plan) && !starts_past_end(c);
                 }),
        accepted("no-drain-alone", "--no-drain needs an interval; it is ignored without",
                 [](const Case& c) {
                     return has_option(last_step(c), "--no-drain") &&
                            (!has_option(last_step(c), IntervalOption::option) ||
                             number_of(last_step(c), IntervalOption::option) == 0);
                 }),
        accepted("zero-interval-on-read", "an interval comes with -w; 0 is accepted without",
                 [](const Case& c) {
                     return !writes(c) && number_of(last_step(c), IntervalOption::option) == 0;
                 }),
        accepted(
            "write-format",
            "-w on no streamOptimized vmdk, whose grains are written whole and once, and on no "
            "parallels, which takes 128 MiB at a time",
            [](const Case& c) {
                const ImageRecipe* image = image_of(c);
                return writes(c) && image != nullptr && is_only_read(*image);
            }),
        accepted("image-large", "an image of at most 64 MiB; larger ones are accepted",
                 [](const Case& c) {
                     const ImageRecipe* image = image_of(c);
                     return image != nullptr && image->size > bench_max_image;
                 }),
        accepted("raw-without-signature",
                 "a boot signature on raw, which cautious tools want to see before they read",
                 [](const Case& c) {
                     const ImageRecipe* image = image_of(c);
                     return image != nullptr && image->format == "raw" && !has_signature(*image);
                 }),
    };
    static const LeftOut left_out[] = {
        {"-i", "no effect on files or output"},
        {"-n", "no effect on files or output"},
        {"-q", "no effect on files or output"},
        {"-t", "no effect on files or output"},
    };
    static const Picker picker{"bench", "bench", draw_valid, options, rules, left_out};
    return picker;
}

}  // namespace difffuzz
