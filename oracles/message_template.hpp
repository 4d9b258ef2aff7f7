// What a tool said, with everything taken out that belongs to the case and not to the bug.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"

namespace difffuzz {

inline constexpr std::size_t max_template_bytes = 200;

// `message` on one line with abstracted
//   numbers, decimal or hexadecimal, with fraction and unit ("64k", "0x10", "196 KiB")  -> <n>
//   text in single or double quotes                                          -> '<name>', "<name>"
//   one of `names`, as a word of its own                                     -> <file>
//   absolute paths, and relative ones that start with a dot                  -> <path>
//   generated node names ("#block123")                                       -> <node>
//   UUIDs                                                                    -> <id>
//   words above 64 bytes                                                     -> <word>
//   control characters and bytes that are no UTF-8                           -> <bytes>
// White space is collapsed. Digits inside a word stay ("qcow2"). The result is valid UTF-8, at most
// max_template_bytes long (cut at a word, with "…"), and its own template.
std::string message_template(std::string_view message, const std::vector<std::string>& names = {});

// The file names of a case's images and outputs, longest first: the `names` of message_template.
std::vector<std::string> case_file_names(const Case& c);

// The first line of `text` that is not blank, without its end; empty if there is none.
std::string_view first_line(std::string_view text);

// `line` without a leading "NAME: ", where NAME is argv[0] of the tool, its base name, or a path
// that ends in it.
std::string_view strip_tool_prefix(std::string_view line, std::string_view argv0);

}  // namespace difffuzz
