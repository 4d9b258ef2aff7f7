// reproduce.sh: a divergence as a shell script that needs no difffuzz.
#pragma once

#include <string>

#include "campaign/execution/case_result.hpp"

namespace difffuzz {

// The script rebuilds the input images byte for byte (a sparse file and the blocks that hold data,
// embedded), runs both tools (SUBJECT and REFERENCE from the environment) in twin directories below
// a temporary one, and shows what differs: it exits 0 when the difference is there, 1 when it is
// not, 2 when it cannot run. Nothing that a tool printed is in it. `built_images` is the directory
// that holds the images as built. `result.difference` is set.
std::string reproduce_script(const Case& c, const CaseResult& result,
                             const std::string& built_images);

}  // namespace difffuzz
