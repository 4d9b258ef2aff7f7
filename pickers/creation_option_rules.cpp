#include <algorithm>

#include "pickers/creation_option_values.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

using Words = std::string_view;

bool is_literal(const Scalar& value) { return std::holds_alternative<LiteralValue>(value); }

bool has_backing(const Case& c) {
    const Step& step = last_step(c);
    return has_option(step, "-b") || has_option(step, "-B") ||
           find_creation_option(creation_options(step), "backing_file") != nullptr;
}

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
    for (const CreationOption& option : known_creation_options()) {
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
                set_creation_option(last_step(c), "hwversion",
                                    WordValue{std::string(draws.pick(
                                        "hwversion", known_option("vmdk", "hwversion")->words))});
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
