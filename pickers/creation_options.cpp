#include "pickers/creation_options.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "images/format.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t default_cluster = 64 * kib;
constexpr std::uint64_t max_up_front_bytes = 16 * mib;
constexpr std::uint64_t max_up_front_clusters = 16'384;

using Words = std::string_view;
constexpr Words switch_words[] = {"on", "off"};
constexpr Words no_switch[] = {"maybe", "1"};
constexpr Words no_size[] = {"x", "64kb", "-1"};
constexpr Words compat_words[] = {"0.10", "1.1", "v2", "v3"};
constexpr Words no_compat[] = {"0.11", "v4", "3"};
constexpr Words no_number[] = {"x", "16bits"};
constexpr Words compression_words[] = {"zlib", "zstd"};
constexpr Words no_compression[] = {"lzma", "ZLIB"};
constexpr Words qcow2_preallocation[] = {"off", "metadata", "falloc", "full"};
constexpr Words no_qcow2_preallocation[] = {"some", "on"};
constexpr Words raw_preallocation[] = {"off", "falloc", "full"};
constexpr Words no_raw_preallocation[] = {"some", "metadata"};
constexpr Words vmdk_subformats[] = {"monolithicSparse", "streamOptimized"};
constexpr Words no_vmdk_subformat[] = {"sparse", "monolithicsparse"};
constexpr Words adapter_words[] = {"ide", "lsilogic", "buslogic", "legacyESX"};
constexpr Words no_adapter[] = {"scsi", "IDE"};
constexpr Words hardware_words[] = {"4", "6", "7", "10", "13", "21"};
constexpr Words tools_words[] = {"9", "10346", "2147483647"};
constexpr Words vpc_subformats[] = {"dynamic", "fixed"};
constexpr Words no_vpc_subformat[] = {"sparse", "Fixed"};
constexpr Words backing_words[] = {"raw", "qcow2", "vmdk", "vpc",      "vhdx",
                                   "vdi", "qed",   "qcow", "parallels"};

constexpr CreationOption option_table[] = {
    {"qcow2", "cluster_size", ValueKind::size, {}, no_size},
    {"qcow2", "compat", ValueKind::word, compat_words, no_compat},
    {"qcow2", "refcount_bits", ValueKind::number, {}, no_number},
    {"qcow2", "lazy_refcounts", ValueKind::word, switch_words, no_switch},
    {"qcow2", "extended_l2", ValueKind::word, switch_words, no_switch},
    {"qcow2", "compression_type", ValueKind::word, compression_words, no_compression},
    {"qcow2", "preallocation", ValueKind::word, qcow2_preallocation, no_qcow2_preallocation},
    {"qcow2", "backing_file", ValueKind::image, {}, {}},
    {"qcow2", "backing_fmt", ValueKind::word, backing_words, {}},
    {"raw", "preallocation", ValueKind::word, raw_preallocation, no_raw_preallocation},
    {"vmdk", "subformat", ValueKind::word, vmdk_subformats, no_vmdk_subformat},
    {"vmdk", "adapter_type", ValueKind::word, adapter_words, no_adapter},
    {"vmdk", "hwversion", ValueKind::word, hardware_words, {}},
    {"vmdk", "toolsversion", ValueKind::word, tools_words, {}},
    {"vmdk", "compat6", ValueKind::word, switch_words, no_switch},
    {"vmdk", "zeroed_grain", ValueKind::word, switch_words, no_switch},
    {"vmdk", "backing_file", ValueKind::image, {}, {}},
    {"vmdk", "backing_fmt", ValueKind::word, backing_words, {}},
    {"vpc", "subformat", ValueKind::word, vpc_subformats, no_vpc_subformat},
    {"vpc", "force_size", ValueKind::word, switch_words, no_switch},
    // The virtual size, for formats alike; only where no size stands on the command line.
    {"", "size", ValueKind::size, {}, no_size},
};

constexpr LeftOut left_out_table[] = {
    {"nocow", "needs a disk with btrfs"},
    {"extent_size_hint", "no effect on files or output"},
    {"encryption", "asks for a password"},
    {"encrypt.format and all other encrypt.*", "asks for a password"},
    {"data_file", "images cannot have files of data yet"},
    {"data_file_raw", "images cannot have files of data yet"},
    {"subformat=monolithicFlat, twoGbMaxExtentSparse, twoGbMaxExtentFlat",
     "images cannot have several files yet"},
    {"preallocation (vmdk, vpc)", "no effect on files or output"},
};

const CreationOption* known_option(std::string_view format, std::string_view name) {
    const auto found = std::ranges::find_if(option_table, [&](const CreationOption& option) {
        return option.name == name && (option.format.empty() || option.format == format);
    });
    return found == std::end(option_table) ? nullptr : &*found;
}

bool is_literal(const Scalar& value) { return std::holds_alternative<LiteralValue>(value); }

std::string_view word_of(const std::vector<FormatOption>& options, std::string_view name) {
    const Scalar* value = find_creation_option(options, name);
    const auto* word = value == nullptr ? nullptr : std::get_if<WordValue>(value);
    return word == nullptr ? std::string_view{} : std::string_view(word->text);
}

std::optional<std::uint64_t> number_of(const std::vector<FormatOption>& options,
                                       std::string_view name) {
    const Scalar* value = find_creation_option(options, name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (const auto* size = std::get_if<SizeValue>(value)) {
        return size->bytes;
    }
    const auto* number = std::get_if<NumberValue>(value);
    return number == nullptr || number->value < 0
               ? std::nullopt
               : std::optional(static_cast<std::uint64_t>(number->value));
}

bool is_cluster_size(std::uint64_t bytes) {
    return std::has_single_bit(bytes) && bytes >= 512 && bytes <= 2 * mib;
}
bool is_refcount_width(std::uint64_t bits) { return std::has_single_bit(bits) && bits <= 64; }

bool is_version_2(const std::vector<FormatOption>& options) {
    const std::string_view compat = word_of(options, "compat");
    return compat == "0.10" || compat == "v2";
}

// The cluster size asked for where it is one, else the default.
std::uint64_t cluster_of(const std::vector<FormatOption>& options) {
    const auto asked = number_of(options, "cluster_size");
    return asked && is_cluster_size(*asked) ? *asked : default_cluster;
}

bool has_preallocation(const std::vector<FormatOption>& options) {
    const std::string_view mode = word_of(options, "preallocation");
    return !mode.empty() && mode != "off";
}

bool has_backing(const Case& c) {
    const Step& step = last_step(c);
    return has_option(step, "-b") || has_option(step, "-B") ||
           find_creation_option(creation_options(step), "backing_file") != nullptr;
}

// Bytes of an entry of a second-level table.
std::uint64_t table_entry(const std::vector<FormatOption>& options) {
    return word_of(options, "extended_l2") == "on" ? 16 : 8;
}

// --- drawing -----------------------------------------------------------------------------------

void draw_switch(const Draws& draws, std::string_view name, unsigned percent, bool may_be_on,
                 std::vector<FormatOption>& options) {
    if (draws.chance(std::string(name), percent)) {
        const bool on = draws.chance(std::string(name) + ".on", 75) && may_be_on;
        options.push_back({std::string(name), WordValue{on ? "on" : "off"}});
    }
}

template <std::size_t n>
void draw_word(const Draws& draws, std::string_view name, unsigned percent, const Words (&words)[n],
               std::vector<FormatOption>& options) {
    if (draws.chance(std::string(name), percent)) {
        options.push_back({std::string(name),
                           WordValue{std::string(draws.pick(std::string(name) + ".word", words))}});
    }
}

void draw_preallocation(const Draws& draws, const TargetWish& wish, std::uint64_t cluster,
                        bool allowed, std::vector<FormatOption>& options) {
    if (!draws.chance("preallocation", 25)) {
        return;
    }
    std::vector<Words> modes{"off"};
    if (allowed && !wish.compressed) {
        const bool few = wish.size / cluster <= max_up_front_clusters;
        if (few && wish.format == "qcow2") {
            modes.push_back("metadata");
        }
        if (few && wish.size <= max_up_front_bytes) {
            modes.push_back("falloc");
            modes.push_back("full");
        }
    }
    options.push_back(
        {"preallocation",
         WordValue{std::string(draws.pick("preallocation.mode", std::span<const Words>(modes)))}});
}

void draw_qcow2(const Draws& draws, const Plan& plan, const TargetWish& wish,
                std::vector<FormatOption>& options) {
    const bool old = draws.chance("compat.old", 12);
    if (old || draws.chance("compat", 25)) {
        static constexpr Weighted<bool> spellings[] = {{false, 2}, {true, 1}};
        const bool short_form = draws.pick("compat.short", spellings);
        options.push_back({"compat", WordValue{old ? (short_form ? "v2" : "0.10")
                                                   : (short_form ? "v3" : "1.1")}});
    }
    std::uint64_t cluster = default_cluster;
    if (draws.chance("cluster_size", 65)) {
        // The tables of small clusters grow with the size of the image; on a backing file each
        // cluster of zeros may be one of its own.
        const std::uint64_t most = wish.backing ? 32'768 : 262'144;
        unsigned smallest = 9;
        while (smallest < 16 && wish.size >> smallest > most) {
            ++smallest;
        }
        // Every cluster that is touched is compressed as a whole, which takes time for large ones.
        const bool small = wish.compressed && draws.chance("cluster_size.small", 90);
        cluster = std::uint64_t{1} << draws.between("cluster_size.bits", smallest, small ? 17 : 21);
        options.push_back({"cluster_size", draw_spelling(draws.scope("cluster_size"), cluster)});
    }
    if (draws.chance("refcount_bits", 25)) {
        const auto bits = std::int64_t{1} << draws.between("refcount_bits.log", 0, 6);
        options.push_back({"refcount_bits", NumberValue{old ? 16 : bits}});
    }
    draw_switch(draws, "lazy_refcounts", 20, !old, options);
    draw_switch(draws, "extended_l2", 20, !old && cluster >= 16 * kib, options);
    if (draws.chance("compression_type", 25)) {
        const bool zstd =
            draws.chance("compression_type.zstd", 60) && !old && plan.has_feature("zstd");
        options.push_back({"compression_type", WordValue{zstd ? "zstd" : "zlib"}});
    }
    draw_preallocation(draws, wish, cluster,
                       !wish.backing || word_of(options, "extended_l2") == "on", options);
}

void draw_vmdk(const Draws& draws, const TargetWish& wish, std::vector<FormatOption>& options) {
    if (wish.backing) {
        draw_word(draws, "adapter_type", 20, adapter_words, options);
        return;
    }
    draw_word(draws, "subformat", 50, vmdk_subformats, options);
    draw_word(draws, "adapter_type", 30, adapter_words, options);
    draw_word(draws, "toolsversion", 15, tools_words, options);
    draw_switch(draws, "compat6", 20, true, options);
    if (word_of(options, "compat6") != "on") {
        draw_word(draws, "hwversion", 25, hardware_words, options);
    }
    draw_switch(draws, "zeroed_grain", 25, true, options);
}

// --- rules -------------------------------------------------------------------------------------

bool fits(const CreationOption& option, const Scalar& value) {
    switch (option.kind) {
        case ValueKind::size:
            return std::holds_alternative<SizeValue>(value);
        case ValueKind::number:
            return std::holds_alternative<NumberValue>(value);
        case ValueKind::image:
            return std::holds_alternative<ImageValue>(value);
        case ValueKind::word: {
            const auto* word = std::get_if<WordValue>(&value);
            return word != nullptr &&
                   std::ranges::find(option.words, word->text) != option.words.end();
        }
        default:
            return false;
    }
}

bool shape_broken(const Case& c) {
    const auto options = creation_options(last_step(c));
    for (const FormatOption& option : options) {
        const CreationOption* known = known_option(target_format(c), option.name);
        if (known != nullptr && !is_literal(option.value) && !fits(*known, option.value)) {
            return true;
        }
        if (std::ranges::count(options, option.name, &FormatOption::name) > 1) {
            return true;
        }
    }
    return false;
}

Rule shape_rule() {
    return {"creation-options-shape", false,
            "each creation option once and of its own type; the last one of several counts, so a "
            "tool need not refuse them",
            shape_broken};
}

Rule unknown_creation_option_rule() {
    return {"unknown-creation-option", true, "-o must name options that the format has",
            [](const Case& c) {
                const auto options = creation_options(last_step(c));
                return std::ranges::any_of(options, [&](const FormatOption& option) {
                    return known_option(target_format(c), option.name) == nullptr;
                });
            },
            [](Case& c, const Draws& draws) {
                static constexpr Words others[] = {"no_such_option", "cluster_sizes",
                                                   "cluster_size", "adapter_type", "force_size"};
                std::vector<Words> names;
                for (const Words name : others) {
                    if (known_option(target_format(c), name) == nullptr) {
                        names.push_back(name);
                    }
                }
                set_creation_option(last_step(c),
                                    draws.pick("option", std::span<const Words>(names)),
                                    WordValue{"on"});
            }};
}

std::vector<const CreationOption*> options_with_ill_typed(std::string_view format) {
    std::vector<const CreationOption*> found;
    for (const CreationOption& option : option_table) {
        if (option.format == format && !option.ill_typed.empty()) {
            found.push_back(&option);
        }
    }
    return found;
}

Rule creation_option_value_rule() {
    return {"creation-option-value",
            true,
            "a creation option's value must be of its type",
            [](const Case& c) {
                const auto options = creation_options(last_step(c));
                return std::ranges::any_of(options, [&](const FormatOption& option) {
                    return is_literal(option.value) &&
                           known_option(target_format(c), option.name) != nullptr;
                });
            },
            [](Case& c, const Draws& draws) {
                const auto candidates = options_with_ill_typed(target_format(c));
                const CreationOption& option =
                    *candidates[draws.between("option", 0, candidates.size() - 1)];
                set_creation_option(
                    last_step(c), option.name,
                    LiteralValue{std::string(draws.pick("value", option.ill_typed))});
            },
            [](const Case& c) { return !options_with_ill_typed(target_format(c)).empty(); }};
}

bool makes_qcow2(const Case& c) { return target_format(c) == "qcow2"; }

bool out_of_range(const Case& c, std::string_view name, bool (*accepts)(std::uint64_t)) {
    const auto number = number_of(creation_options(last_step(c)), name);
    return makes_qcow2(c) && number && !accepts(*number);
}

Rule cluster_size_rule() {
    return {"cluster-size-range",
            true,
            "cluster_size must be a power of two from 512 to 2 MiB",
            [](const Case& c) { return out_of_range(c, "cluster_size", is_cluster_size); },
            [](Case& c, const Draws& draws) {
                static constexpr std::uint64_t sizes[] = {0,       1,        256,     513,    1000,
                                                          3 * kib, 96 * kib, 3 * mib, 4 * mib};
                set_creation_option(last_step(c), "cluster_size",
                                    plain_size(draws.pick("cluster_size", sizes)));
            },
            makes_qcow2};
}

Rule refcount_bits_rule() {
    return {"refcount-bits-range",
            true,
            "refcount_bits must be a power of two from 1 to 64",
            [](const Case& c) { return out_of_range(c, "refcount_bits", is_refcount_width); },
            [](Case& c, const Draws& draws) {
                static constexpr std::int64_t widths[] = {0, 3, 15, 63, 65, 128, 1024};
                set_creation_option(last_step(c), "refcount_bits",
                                    NumberValue{draws.pick("refcount_bits", widths)});
            },
            makes_qcow2};
}

// Features of a qcow2 image that version 2 has not.
enum class Feature { refcount_bits, lazy_refcounts, extended_l2, zstd };

bool asks_for(Feature feature, const std::vector<FormatOption>& options) {
    switch (feature) {
        case Feature::refcount_bits: {
            const auto bits = number_of(options, "refcount_bits");
            return bits && is_refcount_width(*bits) && *bits != 16;
        }
        case Feature::lazy_refcounts:
            return word_of(options, "lazy_refcounts") == "on";
        case Feature::extended_l2:
            return word_of(options, "extended_l2") == "on";
        case Feature::zstd:
            return word_of(options, "compression_type") == "zstd";
    }
    return false;
}

template <Feature feature>
bool needs_version_3(const Case& c) {
    const auto options = creation_options(last_step(c));
    return makes_qcow2(c) && is_version_2(options) && asks_for(feature, options);
}

template <Feature feature>
void ask_of_version_2(Case& c, const Draws& draws) {
    Step& step = last_step(c);
    for (const std::string_view name : {"refcount_bits", "lazy_refcounts", "extended_l2",
                                        "compression_type", "cluster_size", "preallocation"}) {
        erase_creation_option(step, name);
    }
    // Nor can version 2 take them.
    remove_option(step, "--bitmaps");
    set_creation_option(step, "compat", WordValue{draws.chance("short", 30) ? "v2" : "0.10"});
    switch (feature) {
        case Feature::refcount_bits: {
            static constexpr std::int64_t widths[] = {1, 2, 4, 8, 32, 64};
            set_creation_option(step, "refcount_bits", NumberValue{draws.pick("bits", widths)});
            break;
        }
        case Feature::lazy_refcounts:
            set_creation_option(step, "lazy_refcounts", WordValue{"on"});
            break;
        case Feature::extended_l2:
            set_creation_option(step, "extended_l2", WordValue{"on"});
            break;
        case Feature::zstd:
            set_creation_option(step, "compression_type", WordValue{"zstd"});
            break;
    }
}

template <Feature feature>
Rule version_rule(std::string_view name, std::string_view why) {
    return {name, true, why, needs_version_3<feature>, ask_of_version_2<feature>, makes_qcow2};
}

Rule extended_l2_rule() {
    return {"extended-l2-small-clusters",
            true,
            "extended_l2 needs clusters of at least 16 KiB",
            [](const Case& c) {
                const auto options = creation_options(last_step(c));
                return makes_qcow2(c) && word_of(options, "extended_l2") == "on" &&
                       cluster_of(options) < 16 * kib;
            },
            [](Case& c, const Draws& draws) {
                static constexpr std::uint64_t sizes[] = {512, 1 * kib, 4 * kib, 8 * kib};
                Step& step = last_step(c);
                erase_creation_option(step, "compat");
                erase_creation_option(step, "preallocation");
                set_creation_option(step, "extended_l2", WordValue{"on"});
                set_creation_option(step, "cluster_size",
                                    suffixed_size(draws.pick("cluster_size", sizes)));
            },
            makes_qcow2};
}

Rule preallocation_with_backing_rule() {
    return {"preallocation-with-backing",
            true,
            "an image with a backing file is preallocated only with extended_l2",
            [](const Case& c) {
                const auto options = creation_options(last_step(c));
                return makes_qcow2(c) && has_backing(c) && has_preallocation(options) &&
                       word_of(options, "extended_l2") != "on";
            },
            [](Case& c, const Draws&) {
                Step& step = last_step(c);
                erase_creation_option(step, "extended_l2");
                erase_creation_option(step, "cluster_size");
                set_creation_option(step, "preallocation", WordValue{"metadata"});
            },
            [](const Case& c) {
                return makes_qcow2(c) && has_backing(c) && !has_option(last_step(c), "-c");
            }};
}

Rule compressed_preallocation_rule() {
    return {"preallocation-with-compression",
            true,
            "-c and preallocation exclude one another",
            [](const Case& c) {
                return has_option(last_step(c), "-c") &&
                       has_preallocation(creation_options(last_step(c)));
            },
            [](Case& c, const Draws&) {
                Step& step = last_step(c);
                erase_creation_option(step, "cluster_size");
                set_creation_option(step, "preallocation", WordValue{"metadata"});
            },
            [](const Case& c) {
                return makes_qcow2(c) && has_option(last_step(c), "-c") && !has_backing(c);
            }};
}

Rule hardware_version_rule() {
    return {"compat6-with-hwversion",
            true,
            "compat6 fixes the hardware version",
            [](const Case& c) {
                const auto options = creation_options(last_step(c));
                return target_format(c) == "vmdk" && word_of(options, "compat6") == "on" &&
                       find_creation_option(options, "hwversion") != nullptr;
            },
            [](Case& c, const Draws& draws) {
                set_creation_option(last_step(c), "compat6", WordValue{"on"});
                set_creation_option(
                    last_step(c), "hwversion",
                    WordValue{std::string(draws.pick("hwversion", hardware_words))});
            },
            [](const Case& c) { return target_format(c) == "vmdk"; }};
}

template <char letter>
bool names_another_format(const Case& c) {
    static constexpr char option[] = {'-', letter, '\0'};
    if (option_value<LiteralValue>(last_step(c), option) != nullptr) {
        return false;
    }
    const auto* word = option_value<WordValue>(last_step(c), option);
    return (word == nullptr ? std::string_view("raw") : word->text) != target_format(c);
}

}  // namespace

std::span<const CreationOption> known_creation_options() { return option_table; }

std::span<const LeftOut> creation_options_left_out() { return left_out_table; }

std::vector<FormatOption> draw_creation_options(const Draws& draws, const Plan& plan,
                                                const TargetWish& wish) {
    std::vector<FormatOption> options;
    if (!draws.chance("any", 75)) {
        return options;
    }
    if (wish.format == "qcow2") {
        draw_qcow2(draws, plan, wish, options);
    } else if (wish.format == "raw") {
        draw_preallocation(draws, wish, default_cluster, true, options);
    } else if (wish.format == "vmdk") {
        draw_vmdk(draws, wish, options);
    } else if (wish.format == "vpc") {
        draw_word(draws, "subformat", 50, vpc_subformats, options);
        draw_switch(draws, "force_size", 50, true, options);
    }
    return options;
}

void add_creation_options(Step& step, const Draws& draws, std::vector<FormatOption> options) {
    if (options.empty()) {
        return;
    }
    OptionList rest;
    if (options.size() > 1 && draws.chance("split", 15)) {
        const auto at = options.begin() + static_cast<std::ptrdiff_t>(
                                              draws.between("split.at", 1, options.size() - 1));
        rest.options.assign(at, options.end());
        options.erase(at, options.end());
    }
    step.arguments.push_back({"-o", OptionList{std::move(options)}});
    if (!rest.options.empty()) {
        step.arguments.push_back({"-o", std::move(rest)});
    }
}

std::vector<FormatOption> creation_options(const Step& step) {
    std::vector<FormatOption> options;
    for (const Argument& argument : step.arguments) {
        const auto* list = argument.option == "-o" && argument.value
                               ? std::get_if<OptionList>(&*argument.value)
                               : nullptr;
        if (list != nullptr) {
            options.insert(options.end(), list->options.begin(), list->options.end());
        }
    }
    return options;
}

const Scalar* find_creation_option(const std::vector<FormatOption>& options,
                                   std::string_view name) {
    const auto found =
        std::find_if(options.rbegin(), options.rend(),
                     [&](const FormatOption& option) { return option.name == name; });
    return found == options.rend() ? nullptr : &found->value;
}

void erase_creation_option(Step& step, std::string_view name) {
    for (Argument& argument : step.arguments) {
        if (argument.option == "-o" && argument.value) {
            if (auto* list = std::get_if<OptionList>(&*argument.value)) {
                std::erase_if(list->options,
                              [&](const FormatOption& option) { return option.name == name; });
            }
        }
    }
    std::erase_if(step.arguments, [](const Argument& argument) {
        return argument.option == "-o" && argument.value == Value{OptionList{}};
    });
}

void set_creation_option(Step& step, std::string_view name, Scalar value) {
    erase_creation_option(step, name);
    const FormatOption option{std::string(name), std::move(value)};
    for (Argument& argument : step.arguments) {
        if (argument.option == "-o" && argument.value) {
            if (auto* list = std::get_if<OptionList>(&*argument.value)) {
                list->options.push_back(option);
                return;
            }
        }
    }
    set_option(step, "-o", OptionList{{option}});
}

std::string_view target_format(const Case& c) {
    if (const OutputImage* output = find_output(c, target_id)) {
        return output->format;
    }
    const auto* word = option_value<WordValue>(last_step(c), "-O");
    return word == nullptr ? std::string_view{} : std::string_view(word->text);
}

ImageRecipe target_recipe(const Case& c, std::uint64_t size) {
    ImageRecipe recipe;
    recipe.id = target_id;
    recipe.format = target_format(c);
    recipe.size = size;
    recipe.options = creation_options(last_step(c));
    return recipe;
}

bool makes_version_2(const Case& c) {
    return makes_qcow2(c) && is_version_2(creation_options(last_step(c)));
}

std::uint64_t target_cluster(const Case& c) {
    return makes_qcow2(c) ? cluster_of(creation_options(last_step(c))) : default_cluster;
}

UpFront target_up_front(const Case& c, std::uint64_t size) {
    const auto options = creation_options(last_step(c));
    const std::uint64_t cluster = target_cluster(c);
    UpFront cost;
    if (makes_qcow2(c)) {
        // One first-level entry per table of the second level.
        const std::uint64_t tables = size / cluster / (cluster / table_entry(options)) + 1;
        cost.bytes += tables * 8 + 4 * cluster;
        cost.clusters += tables * 8 / cluster + 4;
    }
    const std::string_view mode = word_of(options, "preallocation");
    if (mode == "full" || mode == "falloc") {
        cost.bytes += size;
    }
    if (has_preallocation(options)) {
        cost.clusters += size / cluster;
    }
    return cost;
}

Rule target_format_rule(std::string_view option) {
    return {"own-output-format", false,
            "the output must be looked at with the format it was made with",
            option == "-f" ? names_another_format<'f'> : names_another_format<'O'>};
}

std::vector<Rule> creation_option_rules(bool compressed) {
    return {
        shape_rule(),
        unknown_creation_option_rule(),
        creation_option_value_rule(),
        cluster_size_rule(),
        refcount_bits_rule(),
        version_rule<Feature::refcount_bits>("refcount-bits-need-v3",
                                             "version 2 has refcounts of 16 bits only"),
        version_rule<Feature::lazy_refcounts>("lazy-refcounts-need-v3",
                                              "version 2 has no lazy refcounts"),
        version_rule<Feature::extended_l2>("extended-l2-needs-v3", "version 2 has no extended_l2"),
        version_rule<Feature::zstd>("zstd-needs-v3", "version 2 compresses with zlib only"),
        extended_l2_rule(),
        compressed ? compressed_preallocation_rule() : preallocation_with_backing_rule(),
        hardware_version_rule(),
    };
}

}  // namespace difffuzz
