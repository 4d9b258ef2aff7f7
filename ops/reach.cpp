#include "ops/reach.hpp"

#include <algorithm>
#include <cassert>
#include <list>
#include <map>
#include <tuple>

#include "images/format.hpp"
#include "ops/permutation.hpp"
#include "pickers/common_options.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/image_feature.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {
namespace {

using Words = std::pair<std::string, std::string>;
using Feature = Words;

// Draws of an operation with which its reach is found out: freely, and for what that left open.
constexpr std::uint64_t free_trials = 96;
constexpr std::uint32_t steered_trials = 32;
// Steered draws of a case before words are wished for only every other time.
constexpr std::uint32_t plain_draws = 8;

template <typename T>
bool contains(const std::vector<T>& sorted, const T& item) {
    return std::ranges::binary_search(sorted, item);
}

template <typename T>
void insert(std::vector<T>& sorted, const T& item) {
    const auto place = std::ranges::lower_bound(sorted, item);
    if (place == sorted.end() || *place != item) {
        sorted.insert(place, item);
    }
}

bool is_creation_option(const std::string& option) {
    return option.starts_with(creation_option_name(""));
}

void wish_option(DrawWish& wish, const std::string& option) {
    if (is_creation_option(option)) {
        wish.paths.push_back("arg[-o]");
        wish.paths.push_back(option.substr(creation_option_name("").size()));
        for (const CreationOption& known : known_creation_options()) {
            if (creation_option_name(known.name) == option && !known.format.empty()) {
                wish.words.emplace_back(known.format);
            }
        }
        return;
    }
    for (const ImageFeature& feature : image_features()) {
        if (std::ranges::find(feature.options, option) != feature.options.end()) {
            wish.paths.insert(wish.paths.end(), feature.paths.begin(), feature.paths.end());
        }
    }
    wish.paths.push_back("arg[" + option + "]");
    wish.paths.push_back("arg[" + option + "].given");
    wish.words.push_back(option);
}

void wish_feature(DrawWish& wish, const std::string& name) {
    for (const ImageFeature& feature : image_features()) {
        if (feature.name == name) {
            wish.paths.insert(wish.paths.end(), feature.paths.begin(), feature.paths.end());
        }
    }
}

DrawWish wish_of(const ReachPair& pair) {
    DrawWish wish;
    if (pair.kind == PairKind::feature_format) {
        wish_feature(wish, pair.first);
    } else {
        wish_option(wish, pair.first);
    }
    if (pair.kind == PairKind::option_option) {
        wish_option(wish, pair.second);
    } else {
        wish.words.push_back(pair.second);
    }
    return wish;
}

// Whether both can stand in one case: --image-opts takes the place of -f, and options of -o that no
// format has together never meet.
bool go_together(const std::string& a, const std::string& b) {
    if (a == image_options_option && b == "-f") {
        return false;
    }
    if (!is_creation_option(a) || !is_creation_option(b)) {
        return true;
    }
    const auto known = [&](const std::string& name, std::string_view format) {
        return std::ranges::any_of(known_creation_options(), [&](const CreationOption& option) {
            return creation_option_name(option.name) == name &&
                   (option.format.empty() || option.format == format);
        });
    };
    return std::ranges::any_of(known_creation_options(), [&](const CreationOption& option) {
        return known(a, option.format) && known(b, option.format);
    });
}

// What could be drawn as far as declarations go.
OperationReach declared(const Operation& operation, const Plan& plan) {
    OperationReach reach;
    reach.operation = std::string(operation.name);
    const Picker& picker = *operation.picker;
    const auto add = [&](std::span<const OptionSpec> options, std::string_view command) {
        for (const OptionSpec& spec : options) {
            if (!spec.option.empty() && spec.max_count != 0) {
                insert(reach.options, std::string(spec.option));
            }
            if (spec.kind == ValueKind::options) {
                for (const CreationOption& option : known_creation_options()) {
                    insert(reach.options, creation_option_name(option.name));
                }
            }
        }
        for (const std::string_view option : common_options(command)) {
            insert(reach.options, std::string(option));
        }
    };
    add(picker.options, picker.command);
    for (const StepKind* kind : picker.kinds) {
        if (kind->actor == Actor::tool) {
            add(kind->options, kind->command);
        }
    }
    for (const std::string& format : plan.formats) {
        insert(reach.formats, format);
        if (find_format(format)->keyed) {
            continue;
        }
        for (const ImageFeature& feature : image_features()) {
            if (feature.formats.empty() ||
                std::ranges::find(feature.formats, format) != feature.formats.end()) {
                insert(reach.features, Feature{feature.name, format});
            }
        }
    }
    return reach;
}

// Marks in `reached` what the case holds of what is `declared`.
void mark(OperationReach& reached, const OperationReach& declared, const Case& c) {
    const CaseReach found = reach_of_case(c);
    const auto take = [](const auto& items, const auto& allowed, auto& into) {
        for (const auto& item : items) {
            if (contains(allowed, item)) {
                insert(into, item);
            }
        }
    };
    take(found.options, declared.options, reached.options);
    take(found.formats, declared.formats, reached.formats);
    take(found.features, declared.features, reached.features);
    for (const std::string& option : found.options) {
        for (const std::string& format : found.formats) {
            if (is_creation_option(option) && contains(declared.options, option) &&
                contains(declared.formats, format)) {
                insert(reached.creation, Words{option, format});
            }
        }
    }
}

// Steps: draw freely; then steer to each option, format and feature that no draw has held yet, and
// take all else that these draws hold.
OperationReach find_reach(const Operation& operation, const Plan& plan) {
    const OperationReach all = declared(operation, plan);
    OperationReach reached;
    reached.operation = all.operation;
    for (std::uint64_t i = 0; i < free_trials; ++i) {
        DrawState state = Draws::start(0, i, 0);
        mark(reached, all, pick_valid_case(*operation.picker, {Draws(state), plan}));
    }
    std::uint64_t trial = free_trials;
    const auto steer = [&](const DrawWish& wish, auto done) {
        for (std::uint32_t retry = 1; retry <= steered_trials && !done(); ++retry) {
            DrawState state = Draws::start(0, trial, 0, nullptr, retry);
            state.wish = &wish;
            mark(reached, all, pick_valid_case(*operation.picker, {Draws(state), plan}));
        }
        ++trial;
    };
    for (const std::string& format : all.formats) {
        steer({{}, {format}}, [&] { return contains(reached.formats, format); });
    }
    for (const std::string& option : all.options) {
        DrawWish wish;
        wish_option(wish, option);
        steer(wish, [&] { return contains(reached.options, option); });
    }
    for (const std::string& option : std::vector(reached.options)) {
        for (const std::string& format : std::vector(reached.formats)) {
            if (is_creation_option(option)) {
                steer(wish_of({all.operation, PairKind::option_format, option, format}), [&] {
                    return contains(reached.creation, Words{option, format});
                });
            }
        }
    }
    for (const Feature& feature : all.features) {
        if (!contains(reached.formats, feature.second)) {
            continue;
        }
        DrawWish wish{{}, {feature.second}};
        wish_feature(wish, feature.first);
        steer(wish, [&] { return contains(reached.features, feature); });
    }
    return reached;
}

// Reach of an operation by what a plan declares: it does not depend on weights, shares and
// versions.
using ReachKey = std::tuple<std::string, std::vector<std::string>, std::vector<std::string>>;

ReachKey key_of(std::string_view operation, const Plan& plan) {
    return {std::string(operation), plan.formats, plan.features};
}

std::map<ReachKey, OperationReach>& known_reaches() {
    thread_local std::map<ReachKey, OperationReach> known;
    return known;
}

const OperationReach& known_reach(const Operation& operation, const Plan& plan) {
    const ReachKey key = key_of(operation.name, plan);
    const auto found = known_reaches().find(key);
    return found != known_reaches().end()
               ? found->second
               : known_reaches().emplace(key, find_reach(operation, plan)).first->second;
}

}  // namespace

Reach::Reach(const Plan& plan) {
    for (const OperationWeight& weight : plan.operations) {
        const Operation* operation = find_operation(weight.name);
        assert(operation != nullptr);
        operations_.push_back(known_reach(*operation, plan));
    }
    for (const OperationReach& reach : operations_) {
        for (std::size_t i = 0; i < reach.options.size(); ++i) {
            for (std::size_t j = i + 1; j < reach.options.size(); ++j) {
                if (go_together(reach.options[i], reach.options[j])) {
                    pairs_.push_back({reach.operation, PairKind::option_option, reach.options[i],
                                      reach.options[j]});
                }
            }
            for (const std::string& format : reach.formats) {
                // Pairs with keyed formats would draw more of them than there are to be.
                if (!find_format(format)->keyed &&
                    (!is_creation_option(reach.options[i]) ||
                     contains(reach.creation, Words{reach.options[i], format}))) {
                    pairs_.push_back(
                        {reach.operation, PairKind::option_format, reach.options[i], format});
                }
            }
        }
        for (const auto& [feature, format] : reach.features) {
            pairs_.push_back({reach.operation, PairKind::feature_format, feature, format});
        }
    }
}

const ReachPair* Reach::pair_of(std::uint64_t seed, std::uint64_t index) const {
    if (index % 2 == 0 || pairs_.empty()) {
        return nullptr;
    }
    const std::uint64_t slot = index / 2;
    const std::uint64_t size = pairs_.size();
    DrawState state = Draws::start(seed, slot / size, 0);
    const std::uint64_t key = Draws(state).bits("pairs");
    return &pairs_[static_cast<std::size_t>(permuted(slot % size, size, key))];
}

const Reach& reach_of(const Plan& plan) {
    constexpr std::size_t most = 32;
    struct Known {
        Plan plan;
        Reach reach;
    };
    thread_local std::list<Known> known;
    const auto found =
        std::ranges::find_if(known, [&](const Known& one) { return one.plan == plan; });
    if (found != known.end()) {
        known.splice(known.begin(), known, found);
    } else {
        known.push_front({plan, Reach(plan)});
        if (known.size() > most) {
            known.pop_back();
        }
    }
    return known.front().reach;
}

void know_reach(const Plan& plan, const std::vector<OperationReach>& operations) {
    for (const OperationReach& reach : operations) {
        known_reaches().emplace(key_of(reach.operation, plan), reach);
    }
}

bool holds(const CaseReach& found, const ReachPair& pair) {
    switch (pair.kind) {
        case PairKind::option_option:
            return contains(found.options, pair.first) && contains(found.options, pair.second);
        case PairKind::option_format:
            return contains(found.options, pair.first) && contains(found.formats, pair.second);
        case PairKind::feature_format:
            return contains(found.features, Feature{pair.first, pair.second});
    }
    return false;
}

std::optional<Case> draw_steered(const Plan& plan, const ReachPair& pair, std::uint64_t seed,
                                 std::uint64_t index, std::uint32_t attempt) {
    const Operation& operation = *find_operation(pair.operation);
    const Picker& picker = *operation.picker;
    const DrawWish plain = wish_of(pair);
    for (std::uint32_t retry = 1; retry <= max_steered_draws; ++retry) {
        DrawWish wish = plain;
        if (retry > plain_draws && retry % 2 == 0) {
            // A format of one image may keep the other half of the pair from another.
            wish.words.clear();
        }
        DrawState state = Draws::start(seed, index, attempt, nullptr, retry);
        state.wish = &wish;
        const PickContext context{Draws(state), plan};
        Case c = pick_valid_case(picker, context);
        // What is rare on its own may cost too much together.
        if (holds(reach_of_case(c), pair) && operation.cost(c).within(cost_limit)) {
            // What it is meant to be is not wished for.
            state.wish = nullptr;
            return with_intent(picker, context, std::move(c));
        }
    }
    return std::nullopt;
}

}  // namespace difffuzz
