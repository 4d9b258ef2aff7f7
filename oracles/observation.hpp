// All that one side did in a case: outcomes and inspections of every step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/tools/command.hpp"
#include "images/bitmap_content.hpp"
#include "images/content_model.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz {

enum class InspectionKind { content, check, info, bitmaps };
std::string_view to_string(InspectionKind kind);

// A read-only neutral look at one image after a step, declared by the operation, run by the
// executor on both sides with the same neutral tools.
struct InspectionRequest {
    InspectionKind kind = InspectionKind::content;
    std::string image;   // id of an image or output of the case
    std::string format;  // the format it is opened with
    // For content: what the model says it must hold, where the case says so.
    std::optional<ContentExpectation> expected;
    // The same after both refused: what a refusal must leave as it was.
    std::optional<ContentExpectation> expected_if_refused = {};
    // For content: the id of an internal snapshot to look at instead of the image itself.
    std::string snapshot = {};
    // What is asked for holds for a damaged case, too: the content is `expected`, or a check finds
    // nothing after a success.
    bool despite_damage = false;
};

// Virtual content, with the bytes of sectors that the two sides were seen to differ in.
struct ContentFinding {
    VirtualContent content;
    std::map<std::uint64_t, std::string> samples;  // sector index -> its bytes
};
// Structural check by the neutral qemu-img.
struct CheckFinding {
    std::uint64_t corruptions = 0;
    std::uint64_t leaks = 0;
    std::uint64_t check_errors = 0;
    bool clean() const { return corruptions == 0 && leaks == 0 && check_errors == 0; }
};
// `qemu-img info --output=json` by the neutral qemu-img.
struct InfoFinding {
    nlohmann::json info;
};
// What all dirty bitmaps say, in the order of the file.
struct BitmapsFinding {
    std::vector<BitmapContent> bitmaps;
};
// No file of that name (any more).
struct Missing {};
// The neutral tool or our reader could not make sense of it.
struct Unreadable {
    std::string message;
};
// Its metadata refers to something outside of the workspace; it was not opened.
struct Escapes {
    std::string kind;
    std::string name;
};
// A limit of ours ended the neutral look; tells nothing about the tool.
struct NotInspected {
    std::string reason;
};
using Finding = std::variant<ContentFinding, CheckFinding, InfoFinding, BitmapsFinding, Missing,
                             Unreadable, Escapes, NotInspected>;

struct Inspection {
    InspectionKind kind = InspectionKind::content;
    std::string image;
    std::string format;
    Finding finding;
    std::string snapshot = {};  // as in the request
};

enum class FileType { regular, directory, link, other };

struct FileEntry {
    std::string name;  // relative to the workspace, bytes
    FileType type = FileType::regular;
    std::uint64_t bytes = 0;  // apparent size of a regular file
    // XXH3-64 over the non-hole bytes and their places; equal for equal content however allocated.
    // Set for images and outputs of the case; 0 for all other files.
    std::uint64_t content_hash = 0;
    bool operator==(const FileEntry&) const = default;
};

struct StepObservation {
    std::vector<std::string> argv;  // argv[0] is the tool's neutral name
    Outcome outcome;
    std::vector<Inspection> inspections;  // in the order of the requests
    std::vector<FileEntry> files;         // workspace after the step, sorted by name, bounded
    bool files_cut = false;               // more entries than we list
};

// How a step ended: the class of its ending, but succeeded for an exit code of `answer_codes` that
// came without a word on stderr ("the images differ" is an answer, not a refusal).
OutcomeClass step_class(const StepObservation& step, const std::vector<int>& answer_codes);

struct Observation {
    std::vector<FileEntry> initial;  // workspace before the first step
    std::vector<StepObservation> steps;
};

}  // namespace difffuzz
