// Finding a case's files in the listings of a workspace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"
#include "oracles/comparing.hpp"

namespace difffuzz {

// What `id`'s file was and is on one side: the listing before the step and the one after it. Null
// where the file is not listed.
struct FileStates {
    const FileEntry* before = nullptr;
    const FileEntry* after = nullptr;
    bool after_cut = false;  // the listing after the step is incomplete
};
// `side` is comparison.subject or comparison.reference and has run the step.
FileStates states_of(const Comparison& comparison, const Observation& side, std::string_view id);

// The ids of images and outputs, in this order.
std::vector<std::string> file_ids(const Case& c);

enum class FileRole {
    input,   // an image that the case brought along
    output,  // a file that a step is to make
    part,    // further file of one of them: "<id>-….<format>", as vmdk splits its extents
    other,
};
FileRole role_of(const Case& c, std::string_view name);

}  // namespace difffuzz
