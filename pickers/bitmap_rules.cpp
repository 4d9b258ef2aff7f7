#include <algorithm>
#include <array>

#include "images/format.hpp"
#include "pickers/bitmap.hpp"
#include "pickers/bitmap_actions.hpp"
#include "pickers/byte_names.hpp"
#include "pickers/rules.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::string_view no_bitmap = "nothing";  // never drawn as a name

template <RuleName name>
constexpr auto breaks = last_step_breaks<name, bitmap_kinds>;

template <RuleName name>
Rule state_rule(std::string_view why, void (*break_it)(Case&, const Draws&),
                bool (*applicable)(const Case&) = nullptr) {
    return {name.text, true, why, breaks<name>, break_it, applicable};
}

template <RuleName name>
Rule bound(std::string_view why) {
    return {name.text, false, why, breaks<name>};
}

bool adds(const Case& c) { return has_option(last_step(c), "--add"); }
bool names_file(const Case& c) { return has_option(last_step(c), "-b"); }

// Whether the bitmap of the last step is there before it, or after it.
bool exists(const Case& c, std::size_t steps) {
    const CaseState state = state_before(c, bitmap_kinds(), steps);
    const auto name = bitmap_of_step(last_step(c));
    return find_bitmap(state.at(image_of_step(last_step(c))), *name) != nullptr;
}
bool exists_before(const Case& c) { return exists(c, c.steps.size() - 1); }
bool exists_after(const Case& c) { return exists(c, c.steps.size()); }

// All that the last step does is `action`.
void set_action(Case& c, Argument action) {
    Step& step = last_step(c);
    std::erase_if(step.arguments, [](const Argument& argument) {
        return is_bitmap_action(argument.option) || argument.option == "-b" ||
               argument.option == "-F" || argument.option == "-g";
    });
    step.arguments.insert(step.arguments.begin(), std::move(action));
}

// Behind what the step does already.
void add_action(Case& c, Argument action) {
    auto& arguments = last_step(c).arguments;
    arguments.insert(std::ranges::find(arguments, std::string(), &Argument::option),
                     std::move(action));
}

void set_name(Case& c, const std::string& name) {
    last_step(c).arguments.back().value = byte_name(name);
}

ImageRecipe extra_image(std::string_view format, std::uint64_t size) {
    ImageRecipe extra;
    extra.id = "extra";
    extra.format = format;
    extra.size = size;
    return extra;
}

// The image as version 2 would have it, where our builder makes it.
std::optional<ImageRecipe> as_version_2(const Case& c) {
    ImageRecipe image = *find_image(c, image_of_step(last_step(c)));
    std::erase_if(image.options,
                  [](const FormatOption& option) { return option.name != "cluster_size"; });
    image.options.push_back({"compat", WordValue{"0.10"}});
    image.bitmaps.clear();
    return find_format(image.format)->validate(image).empty() ? std::optional(image) : std::nullopt;
}

struct GranularityOption {
    static constexpr std::string_view option = "-g";
    static constexpr std::string_view text_rule = "granularity-not-a-size";
    static constexpr std::string_view texts[] = {"abc", "", "-1", "4Q", "4kk"};
};
struct SourceFormatOption {
    static constexpr std::string_view option = "-F";
    static constexpr std::string_view text_rule = "unknown-source-format";
    static constexpr std::string_view texts[] = {"qcow9", "RAW", "none"};
};

std::vector<Rule> word_rules() {
    return {
        state_rule<"no-name">("an image and the name of a bitmap must be given",
                              [](Case& c, const Draws& draws) {
                                  if (draws.chance("both", 30)) {
                                      remove_option(last_step(c), "");
                                  } else {
                                      last_step(c).arguments.pop_back();
                                  }
                              }),
        state_rule<"too-many-names">(
            "one bitmap is named, not two",
            [](Case& c, const Draws&) {
                last_step(c).arguments.push_back({"", WordValue{std::string(no_bitmap)}});
            }),
        state_rule<"no-action">("something must be done",
                                [](Case& c, const Draws&) {
                                    std::erase_if(last_step(c).arguments, [](const auto& argument) {
                                        return is_bitmap_action(argument.option);
                                    });
                                }),
        state_rule<"granularity-without-add">(
            "-g is for bitmaps that are added",
            [](Case& c, const Draws&) { set_option(last_step(c), "-g", suffixed_size(65536)); },
            [](const Case& c) { return !adds(c); }),
        text_rule<GranularityOption>("-g must be a size", adds),
        state_rule<"granularity-range">(
            "a granularity is a power of two from 512 to 2 GiB",
            [](Case& c, const Draws& draws) {
                static constexpr std::uint64_t sizes[] = {
                    1, 256, 513, 1000, 65537, 3 * 65536, 2 * max_bitmap_granularity};
                set_option(last_step(c), "-g", suffixed_size(draws.pick("granularity", sizes)));
            },
            adds),
        state_rule<"source-file-without-merge">(
            "-b is for bitmaps that are merged",
            [](Case& c, const Draws&) {
                set_option(last_step(c), "-b", ImageValue{c.images.front().id});
            },
            [](const Case& c) { return !has_option(last_step(c), "--merge"); }),
        state_rule<"source-format-without-file">(
            "-F is for the file that -b names",
            [](Case& c, const Draws&) { set_option(last_step(c), "-F", WordValue{"qcow2"}); },
            [](const Case& c) { return !names_file(c); }),
    };
}

std::vector<Rule> source_rules() {
    return {
        state_rule<"missing-source-file">(
            "the file that -b names must exist",
            [](Case& c, const Draws&) {
                c.outputs.push_back({"absent", "qcow2"});
                set_option(last_step(c), "-b", ImageValue{"absent"});
            },
            names_file),
        text_rule<SourceFormatOption>("-F must name a format that exists", names_file),
        state_rule<"other-source-format">(
            "the file that -b names must be of the format that -F names",
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view formats[] = {"vmdk", "vpc"};
                set_option(last_step(c), "-F",
                           WordValue{std::string(draws.pick("format", formats))});
            },
            names_file),
        state_rule<"own-source-format">(
            "read as raw, a file has no bitmaps",
            [](Case& c, const Draws&) { set_option(last_step(c), "-F", WordValue{"raw"}); },
            names_file),
        state_rule<"source-in-use">(
            "the file that -b names must be another one: this one is being written",
            [](Case& c, const Draws&) {
                Step& step = last_step(c);
                set_option(step, "-b", ImageValue{image_of_step(step)});
                set_option(step, "-F", WordValue{"qcow2"});
            },
            [](const Case& c) { return has_option(last_step(c), "--merge"); }),
        state_rule<"no-such-source-bitmap">(
            "what is merged must exist",
            [](Case& c, const Draws&) {
                add_action(c, {"--merge", byte_name(std::string(no_bitmap))});
            },
            exists_after),
        state_rule<"source-of-another-size">(
            "only bitmaps of disks of one size are merged",
            [](Case& c, const Draws&) {
                const ImageRecipe& image = *find_image(c, image_of_step(last_step(c)));
                ImageRecipe extra = extra_image("qcow2", image.size + 65536);
                extra.bitmaps = {{"b0", 65536, true, {}}};
                c.images.push_back(extra);
                set_action(c, {"--merge", WordValue{"b0"}});
                set_option(last_step(c), "-b", ImageValue{extra.id});
                set_option(last_step(c), "-F", WordValue{"qcow2"});
            },
            [](const Case& c) { return find_format("qcow2")->bitmaps && exists_before(c); }),
    };
}

std::vector<Rule> image_rules() {
    return {
        state_rule<"bitmap-exists">("a name is used once in an image",
                                    [](Case& c, const Draws&) {
                                        if (!exists_after(c)) {
                                            add_action(c, {"--add", std::nullopt});
                                        }
                                        add_action(c, {"--add", std::nullopt});
                                    }),
        state_rule<"no-such-bitmap">(
            "a bitmap must exist, except for --add",
            [](Case& c, const Draws& draws) {
                const std::string action(draws.pick("action", bitmap_actions().subspan(1)));
                const bool merges = action == "--merge";
                const auto source = *bitmap_of_step(last_step(c));
                set_action(c, {action, merges ? std::optional(byte_name(source)) : std::nullopt});
                set_name(c, std::string(no_bitmap));
            }),
        state_rule<"empty-name">("a bitmap's name is not empty",
                                 [](Case& c, const Draws&) {
                                     set_action(c, {"--add", std::nullopt});
                                     set_name(c, "");
                                 }),
        state_rule<"name-too-long">("a bitmap's name has at most 1023 bytes",
                                    [](Case& c, const Draws&) {
                                        set_action(c, {"--add", std::nullopt});
                                        set_name(c, std::string(max_bitmap_name + 1, 'n'));
                                    }),
        state_rule<"version-2">(
            "qcow2 images of version 2 have no bitmaps",
            [](Case& c, const Draws&) {
                const ImageRecipe old = *as_version_2(c);
                std::ranges::replace_if(
                    c.images, [&](const ImageRecipe& image) { return image.id == old.id; }, old);
            },
            [](const Case& c) { return c.steps.size() == 1 && as_version_2(c).has_value(); }),
        state_rule<"format-without-bitmaps">(
            "other formats have no bitmaps",
            [](Case& c, const Draws& draws) {
                c.images.push_back(extra_image("raw", 65536));
                // Not --add: what qemu-img then says holds a number of its own.
                static constexpr std::string_view actions[] = {"--remove", "--clear", "--enable",
                                                               "--disable"};
                set_action(c, {std::string(draws.pick("action", actions)), std::nullopt});
                Step& step = last_step(c);
                set_option(step, "", ImageValue{"extra"});
                set_option(step, "-f", WordValue{"raw"});
            }),
        bound<"too-many-bits">("tools would do it, but it takes memory"),
    };
}

std::vector<Rule> all_rules() {
    std::vector<Rule> rules{unknown_option_rule(), unknown_format_rule(), known_images_rule(),
                            missing_file_rule(),   own_format_rule(),     other_format_rule()};
    for (std::vector<Rule> more : {word_rules(), source_rules(), image_rules()}) {
        rules.insert(rules.end(), more.begin(), more.end());
    }
    return rules;
}

}  // namespace

std::span<const Rule> bitmap_rules() {
    static const std::vector<Rule> rules = all_rules();
    return rules;
}

}  // namespace difffuzz
