// Reducers: what could be left out of a case, or be simpler. Each sees typed values and their
// domains; none knows an operation, a tool, or how the candidates are searched.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"

namespace difffuzz {

// A case on its way to less, and which of its steps shows the symptom.
struct Reduced {
    Case c;
    std::size_t culprit = 0;
    bool operator==(const Reduced&) const = default;
};

// One way to make a case less.
struct Edit {
    // What it is about, in words: "option -U of step 0", "size of image src".
    std::string thing;
    // What it becomes, in words; empty where the thing is left out.
    std::string becomes;
    // Pure. The result may be no case that the operation allows; what cannot be done gives the
    // argument back.
    std::function<Reduced(Reduced)> apply;
};

// The words that an option of a step may take, the simplest first; none where they are not listed.
using WordDomain =
    std::function<std::span<const std::string_view>(const Step& step, std::string_view option)>;

struct Reducer {
    std::string_view name;
    // All edits of this kind, in a fixed order, the boldest first. Each makes the case strictly
    // less by some measure that no other edit of any reducer makes more, so that a search ends.
    // Every single thing that can be left out is left out alone by one of them.
    std::vector<Edit> (*edits)(const Reduced& from, const WordDomain& words);
};

// All reducers, in the order of their use (campaign/triage/reducers/table.cpp).
const std::vector<Reducer>& reducers();

}  // namespace difffuzz
