#include "pickers/convert_rules.hpp"

#include <algorithm>

#include "images/probed_format.hpp"
#include "images/state_model.hpp"
#include "pickers/backing_rules.hpp"
#include "pickers/bitmap_actions.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/convert.hpp"
#include "pickers/convert_draw.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/snapshot_parameter.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

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
                return rate && *rate != 0 && *rate < idle_rate;
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

void remove_bitmaps(Step& step) {
    remove_option(step, "--bitmaps");
    remove_option(step, "--skip-broken-bitmaps");
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
                for (const std::string_view option : {"-o", "-B", "-F"}) {
                    remove_option(step, option);
                }
                remove_bitmaps(step);
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

bool cannot_copy_bitmaps(const Case& c) {
    const auto sources = convert_sources(last_step(c));
    const ImageRecipe* source = sources.size() == 1 ? find_image(c, sources.front()) : nullptr;
    return sources.size() > 1 || target_format(c) != "qcow2" || makes_version_2(c) ||
           (source != nullptr && !can_have_bitmaps(state_of(*source)));
}

Rule bitmaps_rule() {
    return {"bitmaps-unsupported", true,
            "--bitmaps needs one source, and images that can have bitmaps on both sides: qcow2, "
            "not of version 2",
            [](const Case& c) {
                const auto sources = convert_sources(last_step(c));
                return has_option(last_step(c), "--bitmaps") && !sources.empty() &&
                       cannot_copy_bitmaps(c);
            },
            [](Case& c, const Draws&) { add_flag(last_step(c), "--bitmaps"); },
            // Newer versions of qemu-img know bitmaps of parallels images.
            [](const Case& c) {
                return !has_option(last_step(c), "--bitmaps") && cannot_copy_bitmaps(c) &&
                       std::ranges::none_of(
                           convert_sources(last_step(c)),
                           [&](const std::string& id) { return format_of(c, id) == "parallels"; });
            }};
}

Rule broken_bitmaps_rule() {
    return {"skip-without-bitmaps", true, "--skip-broken-bitmaps needs --bitmaps",
            [](const Case& c) {
                return has_option(last_step(c), "--skip-broken-bitmaps") &&
                       !has_option(last_step(c), "--bitmaps");
            },
            [](Case& c, const Draws&) {
                Step& step = last_step(c);
                remove_bitmaps(step);
                add_flag(step, "--skip-broken-bitmaps");
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
                    remove_bitmaps(step);
                    remove_option(step, "-l");
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

Rule probed_rule() {
    return {"taken-for-raw", false, "the format of an image that does not show it is named",
            [](const Case& c) {
                return !has_option(last_step(c), "-f") &&
                       std::ranges::any_of(convert_sources(last_step(c)),
                                           [&](const std::string& id) {
                                               const ImageRecipe* image = find_image(c, id);
                                               return image != nullptr && !shows_its_format(*image);
                                           });
            }};
}

Rule no_snapshot_rule() {
    return {"no-such-snapshot",
            true,
            "-l must name a snapshot that the source has",
            [](const Case& c) {
                const Argument* parameter = find_argument(last_step(c), "-l");
                const ImageRecipe* source =
                    has_one_source(c) ? find_image(c, convert_sources(last_step(c)).front())
                                      : nullptr;
                return parameter != nullptr && source != nullptr &&
                       (!parameter->value || !named_snapshot(*source, *parameter->value));
            },
            [](Case& c, const Draws& draws) {
                set_option(last_step(c), "-l", draw_no_snapshot(draws));
            },
            has_one_source};
}

Rule several_snapshots_rule() {
    return {"snapshot-of-several-sources",
            true,
            "-l needs a single source",
            [](const Case& c) {
                return has_option(last_step(c), "-l") && convert_sources(last_step(c)).size() > 1;
            },
            [](Case& c, const Draws&) { set_option(last_step(c), "-l", WordValue{"1"}); },
            [](const Case& c) { return convert_sources(last_step(c)).size() > 1; }};
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

}  // namespace

std::vector<Rule> common_convert_rules() {
    return {
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
        probed_rule(),
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
        no_snapshot_rule(),
        several_snapshots_rule(),
    };
}

std::vector<Rule> convert_rules(bool compressed) {
    std::vector<Rule> rules = common_convert_rules();
    for (const Rule& more : {target_format_rule("-O"), target_is_zero_rule(), no_target_rule(),
                             bitmaps_rule(), broken_bitmaps_rule(), several_backing_rule(),
                             compressed ? always_compressed_rule() : never_compressed_rule()}) {
        rules.push_back(more);
    }
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

}  // namespace difffuzz
