#include <algorithm>
#include <set>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

// Words and names that a step gives to what it makes, or means by it.
std::set<std::string> names_in(const Step& step) {
    std::set<std::string> names;
    for (const Argument& argument : step.arguments) {
        if (!argument.value) {
            continue;
        }
        if (const auto* bytes = std::get_if<BytesValue>(&*argument.value)) {
            names.insert(bytes->bytes);
        } else if (const auto* word = std::get_if<WordValue>(&*argument.value);
                   word != nullptr && argument.option.empty()) {
            names.insert(word->text);
        }
    }
    return names;
}

bool share_name(const Step& a, const Step& b) {
    const std::set<std::string> names = names_in(a);
    return std::ranges::any_of(names_in(b),
                               [&](const std::string& name) { return names.contains(name); });
}

// Adds the later steps that name an output which no step before them makes any more.
void add_dependants(const Case& c, std::set<std::size_t>& dropped) {
    for (const OutputImage& output : c.outputs) {
        const auto maker = std::ranges::find_if(
            c.steps, [&](const Step& step) { return names_image(step, output.id); });
        const auto first = static_cast<std::size_t>(maker - c.steps.begin());
        if (!dropped.contains(first)) {
            continue;
        }
        for (std::size_t s = first + 1; s < c.steps.size(); ++s) {
            if (names_image(c.steps[s], output.id)) {
                dropped.insert(s);
            }
        }
    }
}

Edit without(const Reduced& from, std::set<std::size_t> dropped, std::string thing) {
    // One that makes an output of a dropped one's output: until nothing is added any more.
    for (std::size_t before = 0; before != dropped.size();) {
        before = dropped.size();
        add_dependants(from.c, dropped);
    }
    return {std::move(thing), "", [dropped = std::move(dropped)](Reduced r) {
                if (dropped.contains(r.culprit)) {
                    return r;
                }
                for (auto s = dropped.rbegin(); s != dropped.rend(); ++s) {
                    erase_piece(r.c.steps, *s, 1);
                    r.culprit -= *s < r.culprit ? 1U : 0U;
                }
                drop_unused_outputs(r.c);
                return r;
            }};
}

}  // namespace

std::vector<Edit> step_edits(const Reduced& from, const WordDomain&) {
    const std::vector<Step>& steps = from.c.steps;
    std::vector<Edit> edits;
    const auto range = [](std::size_t begin, std::size_t end) {
        std::set<std::size_t> result;
        for (std::size_t s = begin; s < end; ++s) {
            result.insert(s);
        }
        return result;
    };
    // What comes after the symptom was never run.
    if (from.culprit + 1 < steps.size()) {
        edits.push_back(without(from, range(from.culprit + 1, steps.size()),
                                "all steps after step " + std::to_string(from.culprit)));
    }
    for (const auto& [begin, count] : pieces(steps.size())) {
        const std::set<std::size_t> piece = range(begin, begin + count);
        if (!piece.contains(from.culprit)) {
            edits.push_back(without(from, piece,
                                    count == 1 ? "step " + std::to_string(begin)
                                               : "steps " + std::to_string(begin) + " to " +
                                                     std::to_string(begin + count - 1)));
        }
    }
    // Steps about one name, such as those that make and delete a snapshot.
    for (std::size_t s = 0; s < steps.size(); ++s) {
        std::set<std::size_t> about{s};
        for (std::size_t later = s + 1; later < steps.size(); ++later) {
            if (share_name(steps[s], steps[later])) {
                about.insert(later);
            }
        }
        if (about.size() > 1 && !about.contains(from.culprit)) {
            edits.push_back(
                without(from, about, "step " + std::to_string(s) + " and those about its name"));
        }
    }
    return edits;
}

}  // namespace difffuzz
