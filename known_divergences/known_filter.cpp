#include "known_divergences/known_filter.hpp"

#include <algorithm>

#include "core/errors.hpp"
#include "known_divergences/predicates.hpp"

namespace difffuzz {
namespace {

void require_same_registry(const Registry& registry, const Plan& plan) {
    const std::string digest = registry_digest(registry.files);
    if (plan.registry_digest != digest) {
        const auto shown = [](const std::string& text) {
            return text.empty() ? std::string("none") : text.substr(0, 12);
        };
        throw UsageError("the plan was made with other known divergences (" +
                         shown(plan.registry_digest) + ", here " + shown(digest) +
                         "); give the --known-dir of its campaign, and use the difffuzz that it "
                         "was run with");
    }
}

}  // namespace

void require_known_mode(std::string_view word) {
    if (word != known_steer && word != known_enter && word != known_off) {
        throw UsageError("known divergences can be taken as steer, enter or off, not as '" +
                         std::string(word.substr(0, 80)) + "'");
    }
}

KnownFilter::KnownFilter(const Registry& registry, const Plan& plan)
    : registry_(registry),
      off_(plan.registry_mode == known_off),
      steers_(plan.registry_mode == known_steer),
      predicates_(std::make_unique<Predicates>(declared_pair(plan))) {
    require_known_mode(plan.registry_mode);
    if (!off_) {
        require_same_registry(registry, plan);
    }
    const ToolPair pair = declared_pair(plan);
    for (const KnownDivergence& entry : registry.entries) {
        predicates_->add(entry);
        const Fit how = fit(entry, pair);
        applied_.push_back({how, effects_for(entry, how)});
    }
}

KnownFilter::~KnownFilter() = default;

bool KnownFilter::concerns(std::size_t entry, const Step& step) const {
    return step.actor == Actor::tool && applied_[entry].fit != Fit::none &&
           std::ranges::find(registry_.entries[entry].operations, step.operation) !=
               registry_.entries[entry].operations.end();
}

const KnownDivergence* KnownFilter::steered_by(const Case& c) {
    if (!steers_) {
        return nullptr;
    }
    predicates_->set_case(c);
    for (std::size_t e = 0; e < registry_.entries.size(); ++e) {
        if (!registry_.entries[e].steers) {
            continue;
        }
        for (std::size_t s = 0; s < c.steps.size(); ++s) {
            if (concerns(e, c.steps[s]) && predicates_->holds(e, s)) {
                return &registry_.entries[e];
            }
        }
    }
    return nullptr;
}

Classification KnownFilter::classify(const Case& c, std::size_t culprit_step,
                                     const Symptom& symptom) {
    Classification result;
    if (off_) {
        return result;
    }
    predicates_->set_case(c);
    for (std::size_t e = 0; e < registry_.entries.size(); ++e) {
        if (!concerns(e, c.steps.at(culprit_step)) || !predicates_->holds(e, culprit_step)) {
            continue;
        }
        const bool covered = std::ranges::any_of(applied_[e].effects, [&](const Effect& effect) {
            return differing_fields(effect, symptom).empty();
        });
        if (!covered) {
            result.inside.push_back(registry_.entries[e].id);
        } else if (result.known.empty()) {
            result.known = registry_.entries[e].id;
        }
    }
    return result;
}

bool KnownFilter::holds(std::size_t entry, const Case& c, std::size_t step) {
    predicates_->set_case(c);
    return concerns(entry, c.steps.at(step)) && predicates_->holds(entry, step);
}

}  // namespace difffuzz
