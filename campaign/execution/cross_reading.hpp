// Each tool reads the images that the other one wrote: a question about the images themselves, put
// after a case has diverged.
#pragma once

#include <string>
#include <vector>

#include "campaign/execution/case_result.hpp"
#include "campaign/execution/sandbox.hpp"

namespace difffuzz {

// Who reads, and how.
struct CrossReaders {
    Sandbox& sandbox;
    const SandboxTool& subject;
    const SandboxTool& reference;
    std::string fault;  // what stand-ins among them plant
    Limits limits;
};

// Steps, for each image of which the culprit step's content was looked at on both sides, at most
// four, none that needs a key:
//   1. each tool copies it to raw, in the workspace of the side that wrote it;
//   2. the copies are read, and the image itself by our own reader.
// The workspaces are as the case left them, before and afterwards. A tool that ends in another way
// than by success or refusal gives no answer, and is asked no more.
std::vector<CrossReading> read_across(const Case& c, const CaseResult& result,
                                      const CrossReaders& readers);

}  // namespace difffuzz
