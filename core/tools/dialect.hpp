// How a tool spells a step: the default dialect, qemu-img's.
#pragma once

#include <string>
#include <vector>

#include "core/cases/case.hpp"

namespace difffuzz {

// argv without the program's name: the command, then the arguments in order, an option and its
// value as two words, option lists as "name=value,name=value" (commas within a value doubled, as
// qemu's option parser reads them), images as their file names.
std::vector<std::string> render_step(const Case& c, const Step& step);

}  // namespace difffuzz
