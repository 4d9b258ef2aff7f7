#include "core/tools/command.hpp"

namespace difffuzz {
namespace {

struct ClassOf {
    OutcomeClass operator()(const Exited& exited) const {
        return exited.code == 0 ? OutcomeClass::succeeded : OutcomeClass::refused;
    }
    OutcomeClass operator()(const Signalled&) const { return OutcomeClass::crashed; }
    OutcomeClass operator()(const Limited&) const { return OutcomeClass::limited; }
    OutcomeClass operator()(const TimedOut&) const { return OutcomeClass::timed_out; }
    OutcomeClass operator()(const FailedToStart&) const { return OutcomeClass::not_started; }
};

}  // namespace

OutcomeClass outcome_class(const Ending& ending) { return std::visit(ClassOf{}, ending); }

std::string_view to_string(LimitKind kind) {
    switch (kind) {
        case LimitKind::memory:
            return "memory";
        case LimitKind::disk:
            return "disk";
        case LimitKind::output:
            return "output";
        case LimitKind::processes:
            return "processes";
        case LimitKind::file_size:
            return "file_size";
    }
    return "unknown";
}

std::string_view to_string(OutcomeClass outcome) {
    switch (outcome) {
        case OutcomeClass::succeeded:
            return "succeeded";
        case OutcomeClass::refused:
            return "refused";
        case OutcomeClass::crashed:
            return "crashed";
        case OutcomeClass::limited:
            return "limited";
        case OutcomeClass::timed_out:
            return "timed_out";
        case OutcomeClass::not_started:
            return "not_started";
    }
    return "unknown";
}

}  // namespace difffuzz
