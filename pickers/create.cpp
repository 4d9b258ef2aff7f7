#include "pickers/create.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "pickers/backing_rules.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"
#include "pickers/spelling.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
constexpr std::uint64_t tib = 1024 * gib;

// The largest size of a valid draw. Images without a reader of ours are read back by way of a raw
// file, and the geometry of vpc changes its rules below this.
std::uint64_t largest_drawn(std::string_view format) {
    if (format == "qcow2") {
        return 8 * tib;
    }
    return format == "raw" ? 5 * gib : 512 * mib;
}

// Larger ones are refused by the format. vpc: 0xff000000 sectors (block/vpc.c, VHD_MAX_SECTORS);
// qcow2: a first-level table of 32 MiB (docs/interop/qcow2.txt).
std::uint64_t largest_size(const Case& c) {
    const std::string_view format = target_format(c);
    if (format == "vpc") {
        return std::uint64_t{0xff000000} * 512;
    }
    if (format == "qcow2") {
        const auto options = creation_options(last_step(c));
        const Scalar* extended = find_creation_option(options, "extended_l2");
        const bool wide = extended != nullptr && *extended == Scalar{WordValue{"on"}};
        // Smaller clusters with extended_l2 are another rule's.
        const std::uint64_t cluster =
            wide ? std::max(target_cluster(c), 16 * kib) : target_cluster(c);
        return cluster * (cluster / (wide ? 16 : 8)) * (4 * mib);
    }
    return largest_drawn(format);
}

std::uint64_t draw_virtual_size(const Draws& draws, std::string_view format) {
    enum class Kind { usual, zero, large };
    static constexpr Weighted<Kind> kinds[] = {
        {Kind::usual, 85}, {Kind::zero, 4}, {Kind::large, 11}};
    const bool structured = format == "vmdk" || format == "vpc";
    switch (draws.pick("kind", kinds)) {
        case Kind::zero:
            // Nobody can open an empty image of these.
            if (!structured) {
                return 0;
            }
            break;
        case Kind::large: {
            const unsigned bits = format == "qcow2" ? 42 : 28;
            const std::uint64_t base = std::uint64_t{1} << draws.between("bits", 26, bits);
            return base + draws.between("sectors", 0, base / 512) * 512;
        }
        case Kind::usual:
            break;
    }
    return draw_size(draws, 64 * kib, 1, std::min(largest_drawn(format), 5 * gib));
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "create";
    const Draws draws = context.draws.scope("step[0]");
    static constexpr Weighted<std::string_view> all[] = {
        {"qcow2", 10}, {"raw", 4}, {"vmdk", 3}, {"vpc", 3}};
    std::vector<Weighted<std::string_view>> declared;
    for (const auto& format : all) {
        if (context.plan.has_format(format.value)) {
            declared.push_back(format);
        }
    }
    const std::string_view format =
        draws.pick("format", std::span<const Weighted<std::string_view>>(declared));
    c.outputs.push_back({std::string(target_id), std::string(format)});

    const bool backed = draws.chance("arg[-b]", format == "vmdk" ? 20 : 40) &&
                        (format == "qcow2" || format == "vmdk");
    const bool absent = backed && draws.chance("absent", 10) && format == "qcow2";
    const bool unsafe = draws.chance("arg[-u]", 5) || absent;
    std::uint64_t size = draw_virtual_size(draws.scope("size"), format);
    bool sized = true;
    std::string backing;
    if (absent) {
        static constexpr std::string_view formats[] = {"qcow2", "raw"};
        backing = "absent";
        c.outputs.push_back({backing, std::string(draws.pick("absent.format", formats))});
    } else if (backed) {
        ImageWish wish = every_image();
        wish.max_content = 1 * mib;
        if (format == "vmdk") {
            wish.formats = {{"vmdk", 1}};
            wish.variety = ImageVariety::options;
        }
        backing = draw_image(c, context, "base", wish);
        sized = unsafe || draws.chance("size.given", 50);
        if (!sized) {
            const ImageRecipe& base = *find_image(c, backing);
            size = find_format(base.format)->actual_size(base);
        }
    }

    Step step{Actor::tool, "create", "create", ValidIntent{}, {}};
    if (format != "raw" || draws.chance("arg[-f]", 70)) {
        step.arguments.push_back({"-f", WordValue{std::string(format)}});
    }
    if (draws.chance("arg[-q]", 20)) {
        step.arguments.push_back({"-q", std::nullopt});
    }
    if (unsafe) {
        step.arguments.push_back({"-u", std::nullopt});
    }
    std::vector<FormatOption> options =
        draw_creation_options(draws.scope("arg[-o]"), context.plan, {format, size, backed, false});
    if (backed) {
        draw_backing(step, draws.scope("arg[-b]"), "-b", backing, format_of(c, backing), options);
    }
    const SizeValue spelled = draw_any_spelling(draws.scope("size"), size);
    const bool as_option = draws.chance("size.option", 12);
    if (sized && as_option) {
        options.push_back({"size", spelled});
    }
    add_creation_options(step, draws.scope("arg[-o]"), std::move(options));
    step.arguments.push_back({"", ImageValue{std::string(target_id)}});
    if (sized && !as_option) {
        step.arguments.push_back({"", spelled});
    }
    c.steps.push_back(std::move(step));
    return c;
}

// --- rules -------------------------------------------------------------------------------------

// The positional size, of whatever type; null where there is none.
const Value* size_argument(const Step& step) {
    const auto names = positionals(step);
    return names.size() < 2 || !names[1]->value ? nullptr : &*names[1]->value;
}

bool is_named(const Case& c) { return !positionals(last_step(c)).empty(); }

// The size is taken from the backing file where none is given.
bool has_backing_size(const Case& c) {
    return named_backing(last_step(c)) && !has_option(last_step(c), "-u");
}

void set_size(Step& step, Value value) {
    erase_creation_option(step, "size");
    if (size_argument(step) == nullptr) {
        step.arguments.push_back({"", std::move(value)});
    } else {
        step.arguments.back().value = std::move(value);
    }
}

bool is_negative(const std::string& text) { return text.starts_with('-'); }

const LiteralValue* literal_size(const Case& c) {
    const Value* value = size_argument(last_step(c));
    return value == nullptr ? nullptr : std::get_if<LiteralValue>(value);
}

Rule positional_rule() {
    return {"positional-kinds", false, "an output, then a size", [](const Case& c) {
                const auto names = positionals(last_step(c));
                if (names.empty()) {
                    return false;
                }
                const auto* image = std::get_if<ImageValue>(&*names.front()->value);
                const Value* size = size_argument(last_step(c));
                return image == nullptr || image->id != target_id ||
                       (size != nullptr && !std::holds_alternative<SizeValue>(*size) &&
                        !std::holds_alternative<LiteralValue>(*size));
            }};
}

Rule no_size_rule() {
    return {"no-size",
            true,
            "without a backing file a size must be given",
            [](const Case& c) {
                const Step& step = last_step(c);
                return is_named(c) && !has_backing_size(c) && size_argument(step) == nullptr &&
                       find_creation_option(creation_options(step), "size") == nullptr;
            },
            [](Case& c, const Draws&) {
                Step& step = last_step(c);
                erase_creation_option(step, "size");
                if (size_argument(step) != nullptr) {
                    step.arguments.pop_back();
                }
            },
            [](const Case& c) { return !has_backing_size(c); }};
}

Rule size_text_rule() {
    return {"size-not-a-size", true, "the size must be a number of bytes",
            [](const Case& c) {
                const LiteralValue* literal = literal_size(c);
                return literal != nullptr && !is_negative(literal->text);
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view texts[] = {
                    "abc", "1Q", "1.5", "1kk", "0x", "", "1,5M", "1MB", "1MiB", "1 M", "M", "1.5b"};
                set_size(last_step(c), LiteralValue{std::string(draws.pick("text", texts))});
            }};
}

Rule negative_size_rule() {
    return {"negative-size", true, "the size must not be negative",
            [](const Case& c) {
                const LiteralValue* literal = literal_size(c);
                return literal != nullptr && is_negative(literal->text);
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view texts[] = {"-1", "-512", "-1M", "-0x10"};
                set_size(last_step(c), LiteralValue{std::string(draws.pick("text", texts))});
            }};
}

constexpr std::uint64_t size_max = 9'223'372'036'854'775'807U;

Rule size_range_rule() {
    return {"size-out-of-range", true, "the size must be below 2^63",
            [](const Case& c) {
                const auto size = create_size(c);
                return size && *size > size_max;
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::uint64_t sizes[] = {9'223'372'036'854'775'808U,
                                                          10'376'293'541'461'622'784U,
                                                          18'446'744'073'709'551'615U};
                set_size(last_step(c), draws.chance("suffix", 50)
                                           ? suffixed_size(draws.pick("size", sizes))
                                           : plain_size(draws.pick("size", sizes)));
                // Tables for it are never made.
                erase_creation_option(last_step(c), "preallocation");
            }};
}

Rule too_large_rule() {
    return {"too-large-for-format",
            true,
            "the format must be able to hold the size",
            [](const Case& c) {
                const auto size = create_size(c);
                return size && *size <= size_max && *size > largest_size(c) &&
                       (target_format(c) == "vpc" || target_format(c) == "qcow2");
            },
            [](Case& c, const Draws& draws) {
                Step& step = last_step(c);
                if (target_format(c) == "vpc") {
                    static constexpr std::uint64_t sizes[] = {2041 * gib, 3 * tib, 64 * tib};
                    set_size(step, suffixed_size(draws.pick("size", sizes)));
                    return;
                }
                for (const std::string_view name : {"preallocation", "extended_l2"}) {
                    erase_creation_option(step, name);
                }
                set_creation_option(step, "cluster_size", plain_size(512));
                static constexpr std::uint64_t sizes[] = {129 * gib, 160 * gib, 200 * gib};
                set_size(step, suffixed_size(draws.pick("size", sizes)));
            },
            [](const Case& c) { return target_format(c) == "vpc" || target_format(c) == "qcow2"; }};
}

Rule size_bound_rule() {
    return {"size-bound", false, "larger images are accepted by tools but not looked at by us",
            [](const Case& c) {
                const auto size = create_size(c);
                return size && *size <= std::min(size_max, largest_size(c)) &&
                       *size > largest_drawn(target_format(c));
            }};
}

Rule size_twice_rule() {
    return {"size-twice",
            true,
            "the size may be given only once",
            [](const Case& c) {
                const Step& step = last_step(c);
                return size_argument(step) != nullptr &&
                       find_creation_option(creation_options(step), "size") != nullptr;
            },
            [](Case& c, const Draws&) {
                set_creation_option(last_step(c), "size", suffixed_size(1 * mib));
            },
            [](const Case& c) { return size_argument(last_step(c)) != nullptr; }};
}

Rule extra_argument_rule() {
    return {"extra-argument",
            true,
            "nothing may follow the size",
            [](const Case& c) { return positionals(last_step(c)).size() > 2; },
            [](Case& c, const Draws&) {
                last_step(c).arguments.push_back({"", suffixed_size(2 * mib)});
            },
            [](const Case& c) { return size_argument(last_step(c)) != nullptr; }};
}

Rule missing_backing_rule() {
    return {"missing-backing-file",
            true,
            "the backing file must exist, or -u be given",
            [](const Case& c) {
                const auto backing = named_backing(last_step(c));
                return backing && find_image(c, *backing) == nullptr &&
                       !has_option(last_step(c), "-u");
            },
            [](Case& c, const Draws&) {
                Step& step = last_step(c);
                const std::string backing = *named_backing(step);
                c.outputs.push_back({"absent", std::string(format_of(c, backing))});
                if (has_option(step, "-b")) {
                    set_option(step, "-b", ImageValue{"absent"});
                } else {
                    set_creation_option(step, "backing_file", ImageValue{"absent"});
                }
            },
            [](const Case& c) { return named_backing(last_step(c)) && has_backing_size(c); }};
}

Rule vmdk_backing_rule() {
    return {
        "parent-not-vmdk",
        true,
        "a vmdk lies on a vmdk only",
        [](const Case& c) {
            const auto backing = named_backing(last_step(c));
            return target_format(c) == "vmdk" && backing && find_image(c, *backing) != nullptr &&
                   format_of(c, *backing) != "vmdk";
        },
        [](Case& c, const Draws&) {
            ImageRecipe other;
            other.id = "extra";
            other.format = "raw";
            other.size = 64 * kib;
            c.images.push_back(other);
            set_option(last_step(c), "-b", ImageValue{other.id});
            set_option(last_step(c), "-F", WordValue{"raw"});
        },
        [](const Case& c) { return target_format(c) == "vmdk" && !named_backing(last_step(c)); }};
}

}  // namespace

std::optional<std::uint64_t> create_size(const Case& c) {
    const Step& step = last_step(c);
    if (const Value* value = size_argument(step)) {
        const auto* size = std::get_if<SizeValue>(value);
        return size == nullptr ? std::nullopt : std::optional(size->bytes);
    }
    const auto options = creation_options(step);
    if (const Scalar* value = find_creation_option(options, "size")) {
        const auto* size = std::get_if<SizeValue>(value);
        return size == nullptr ? std::nullopt : std::optional(size->bytes);
    }
    const auto backing = named_backing(step);
    const ImageRecipe* base = backing ? find_image(c, *backing) : nullptr;
    const Format* format = base == nullptr ? nullptr : find_format(base->format);
    return format == nullptr ? std::nullopt : std::optional(format->actual_size(*base));
}

const Picker& create_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, known_formats()},
        {"-q", ValueKind::none, {}},
        {"-u", ValueKind::none, {}},
        {"-b", ValueKind::image, {}},
        {"-F", ValueKind::word, known_formats()},
        {"-o", ValueKind::options, {}, 0, 2},
        {"", ValueKind::any, {}, 1, 2},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const std::vector<Rule> rules = [] {
        std::vector<Rule> all{
            unknown_option_rule(), unknown_format_rule(),    no_file_rule(),
            known_images_rule(),   target_format_rule("-f"), positional_rule(),
            no_size_rule(),        size_text_rule(),         negative_size_rule(),
            size_range_rule(),     too_large_rule(),         size_bound_rule(),
            size_twice_rule(),     extra_argument_rule(),    missing_backing_rule(),
            vmdk_backing_rule(),
        };
        for (std::vector<Rule> more : {backing_rules("-b"), creation_option_rules()}) {
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
    };
    static const Picker picker{"create", "create", draw_valid, options, rules, left_out};
    return picker;
}

}  // namespace difffuzz
