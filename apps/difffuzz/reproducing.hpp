// Running a recorded case again on the tools at hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/difffuzz/flags.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/workers/messages.hpp"

namespace difffuzz {

enum class Found { same, other, gone, unclear };

// What one run showed; for a case without a symptom any divergence is `same`.
Found judge_run(const ParsedRecord& input, const CaseReport& report);

// How many runs showed what; they add up to all of them.
struct RunCounts {
    std::size_t same = 0;
    std::size_t other = 0;
    std::size_t gone = 0;
    std::size_t unclear = 0;
};
RunCounts count_runs(const ParsedRecord& input, const std::vector<CaseReport>& reports);

// Whether the subject is to do the case again: where the symptom is of the second run, or the case
// has none and may diverge in any way.
SecondRun second_run_of(const ParsedRecord& input);

// The id of an input image that is not what it was when the record was made; empty if there is
// none.
std::string drifted_image(const ParsedRecord& input, const CaseReport& report);

// Tools and one worker to run cases on, from the flags that `repro` takes. The worker ends with the
// object.
class Reproducer {
public:
    // Throws UsageError or EnvironmentError.
    explicit Reproducer(const Flags& flags);
    ~Reproducer();
    Reproducer(const Reproducer&) = delete;
    Reproducer& operator=(const Reproducer&) = delete;

    // One run, or three where the first does not show the symptom: what is not seen at once may
    // still come and go.
    std::vector<CaseReport> run(const ParsedRecord& input);

    // What the subject answers to --version, first line, in ASCII; may be empty.
    std::string subject_version() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace difffuzz
