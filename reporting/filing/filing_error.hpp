// Why something could not be filed.
#pragma once

#include <stdexcept>
#include <string>

namespace difffuzz {

// One sentence for people, without any token.
class FilingError : public std::runtime_error {
public:
    // Whether what follows could be filed all the same.
    enum class Reach { this_issue, all };
    FilingError(const std::string& sentence, Reach reach)
        : std::runtime_error(sentence), reach_(reach) {}
    Reach reach() const { return reach_; }

private:
    Reach reach_;
};

// A request that must not be sent twice may or may not have been carried out.
class LostAnswer : public FilingError {
public:
    // `late`: no answer in time, so the tracker may carry it out even after this moment.
    LostAnswer(const std::string& sentence, bool late)
        : FilingError(sentence, Reach::this_issue), late_(late) {}
    bool late() const { return late_; }

private:
    bool late_;
};

}  // namespace difffuzz
