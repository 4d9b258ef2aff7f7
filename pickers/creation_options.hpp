// The creation options of the formats that a tool writes ("-o cluster_size=64k"): how to draw them,
// and the rules that bound them. For every operation that makes an image.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pickers/picker.hpp"

namespace difffuzz {

// The output of a step that makes one image.
inline constexpr std::string_view target_id = "out";

// What bounds the options of an image to be made.
struct TargetWish {
    std::string_view format;
    std::uint64_t size = 0;   // virtual size, bytes
    bool backing = false;     // it gets a backing file
    bool compressed = false;  // it is written compressed, which excludes preallocation
};

// A creation option that a format documents and that is drawn.
struct CreationOption {
    std::string_view format;
    std::string_view name;
    ValueKind kind = ValueKind::word;             // size, number, word or image
    std::span<const std::string_view> words;      // for word: all that are allowed
    std::span<const std::string_view> ill_typed;  // texts that are no value of it; may be empty
};
std::span<const CreationOption> known_creation_options();
// Those that are not drawn, and why.
std::span<const LeftOut> creation_options_left_out();

// Options for the target, in random order of the dice but stable order of names; may be empty. All
// that is allocated up front stays within 16 MiB and 16,384 clusters.
std::vector<FormatOption> draw_creation_options(const Draws& draws, const Plan& plan,
                                                const TargetWish& wish);

// Gives `options` to the step as one -o, or now and then as two.
void add_creation_options(Step& step, const Draws& draws, std::vector<FormatOption> options);

// All options of the step's -o lists, in order.
std::vector<FormatOption> creation_options(const Step& step);
// The last one of that name; null when absent. The result lives in `options`.
const Scalar* find_creation_option(const std::vector<FormatOption>& options, std::string_view name);
// Removes every one of that name from the step's lists, and lists that this leaves empty.
void erase_creation_option(Step& step, std::string_view name);
// Replaces the option, or adds it to the first list or to one of its own.
void set_creation_option(Step& step, std::string_view name, Scalar value);

// The format of the image that the last step makes; empty when it makes none.
std::string_view target_format(const Case& c);
// The recipe that describes the image that the last step makes from nothing with virtual size
// `size`: for the size models of images/.
ImageRecipe target_recipe(const Case& c, std::uint64_t size);
// Clusters that the target's format allocates at once (64 KiB where it has none), bytes; never 0.
std::uint64_t target_cluster(const Case& c);
// Whether the last step makes a qcow2 image of version 2.
bool makes_version_2(const Case& c);
// What the last step allocates whatever the content is, for its cost: bytes and clusters.
struct UpFront {
    std::uint64_t bytes = 0;
    std::uint64_t clusters = 0;
};
UpFront target_up_front(const Case& c, std::uint64_t size);

// The format word of `option` ("-f" or "-O") must be the format that the output is looked at with;
// raw where it is absent.
Rule target_format_rule(std::string_view option);

// The rules for all of this; a picker adds them to its own. `compressed`: its images are always
// written with -c, which excludes preallocation altogether.
std::vector<Rule> creation_option_rules(bool compressed = false);

}  // namespace difffuzz
