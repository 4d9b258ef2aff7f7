// Rules that several pickers share: the envelope's common bounds and how to break them.
#pragma once

#include <string_view>

#include "pickers/picker.hpp"

namespace difffuzz {

// The step that a picker's rules are about: the case's last one.
const Step& last_step(const Case& c);
Step& last_step(Case& c);

// Replaces the value of `option`, or adds the option in front of the positional arguments.
void set_option(Step& step, std::string_view option, Value value);
void remove_option(Step& step, std::string_view option);
// Adds a flag in front of the positional arguments.
void add_flag(Step& step, std::string_view option);

// Formats that every supported qemu-img can open.
std::span<const std::string_view> known_formats();

// The words that `--output` takes.
std::span<const std::string_view> output_words();

// An option that no tool knows; pickers list it with max_count 0 and `unknown_option_rule`.
inline constexpr std::string_view unknown_option = "--no-such-option";
Rule unknown_option_rule();

// `-f` names no format that exists.
Rule unknown_format_rule();
// `--output` is none of human and json.
Rule unknown_output_rule();
// The positional image does not exist (an output that no step made).
Rule missing_file_rule();
// No positional image at all.
Rule no_file_rule();
// A second positional image.
Rule two_files_rule();
// `-f raw` on an image of another format: accepted by every tool, but the file is then another
// image than the one the case speaks of.
Rule own_format_rule();
// Every image that an argument or creation option names is one of the case.
Rule known_images_rule();
// `-f` names a format that has a signature which the image lacks.
Rule other_format_rule();

}  // namespace difffuzz
