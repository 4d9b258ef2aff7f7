// A first line that the case determines, as its operation says.
#include "campaign/triage/attribution/voices.hpp"
#include "ops/operation.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

bool begins_with_line(const StepObservation& step, const std::string& line) {
    const std::string& printed = step.outcome.out.head;
    return printed.starts_with(line) && printed.substr(line.size(), 1) == "\n";
}

}  // namespace

std::optional<Statement> header_voice(const Testimony& testimony) {
    const Operation* operation = find_operation(testimony.c.operation);
    if (testimony.difference(LayerId::header) == nullptr || operation->first_line == nullptr) {
        return std::nullopt;
    }
    const std::size_t step = testimony.result.culprit_step;
    const auto line = operation->first_line(testimony.c, step);
    if (!line) {
        return std::nullopt;
    }
    const bool subject = begins_with_line(testimony.result.subject.steps[step], *line);
    const bool reference = begins_with_line(testimony.result.reference.steps[step], *line);
    if (subject == reference) {
        // Neither: the line has changed between versions, which blames nobody.
        return std::nullopt;
    }
    const Blame blame = subject ? Blame::reference : Blame::subject;
    return says(blame, in_words(blame) +
                           "'s first line does not repeat the arguments, which make '" +
                           shown_text(*line, 200) + "'; the other side's does");
}

}  // namespace difffuzz
