// The backing file of an image that a step makes: "-b FILE -F FORMAT" or "-B FILE -F FORMAT", or
// the creation options backing_file and backing_fmt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pickers/picker.hpp"

namespace difffuzz {

// The backing image that the step names, by option or creation option; nothing where it names none.
std::optional<std::string> named_backing(const Step& step);

// Names `backing` of format `format` as backing file: mostly by `option` ("-b" or "-B") and -F, now
// and then by creation options, which go to the front of `options`. Appends to the step.
void draw_backing(Step& step, const Draws& draws, std::string_view option,
                  const std::string& backing, std::string_view format,
                  std::vector<FormatOption>& options);

// The rules about it, for a command that names it by `option`: "-b" or "-B".
std::vector<Rule> backing_rules(std::string_view option);

}  // namespace difffuzz
