// The source that the subject was built from, as a git repository has it.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace difffuzz {

// Bytes of the patch that are kept.
inline constexpr std::size_t max_patch_bytes = std::size_t{1} << 20;

// The file of the evidence that holds it.
inline constexpr std::string_view patch_name = "subject-source.patch";

struct SubjectSource {
    nlohmann::json identity;  // commit, whether dirty, size and SHA-256 of the whole patch
    std::string patch;        // what differs from the commit, its beginning; empty: nothing
};

// Reads the repository that `directory` lies in. Starts no program, so no hook and no filter of the
// repository's runs. Untracked files are told in number only. Throws UsageError naming the
// directory: no repository, one without a commit, one that belongs to somebody else.
SubjectSource read_subject_source(const std::string& directory);

}  // namespace difffuzz
