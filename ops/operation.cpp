#include "ops/operation.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/decimal.hpp"
#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "images/format.hpp"
#include "ops/reach.hpp"
#include "oracles/comparing.hpp"

namespace difffuzz {
namespace {

[[noreturn]] void unknown_operation(std::string_view name) {
    std::vector<std::string> names;
    for (const Operation* operation : operations()) {
        names.emplace_back(operation->name);
    }
    throw UsageError("there is no operation '" + std::string(name) + "'" + suggestion(name, names) +
                     "; 'difffuzz ops' lists them");
}

unsigned parse_weight(std::string_view word, std::string_view text) {
    const auto weight = parse_decimal(text);
    if (!weight || *weight < 1 || *weight > 1000) {
        throw UsageError("the weight in '" + std::string(word) +
                         "' of --ops must be a whole number from 1 to 1000");
    }
    return static_cast<unsigned>(*weight);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t end = text.find(separator);
        words.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return words;
        }
        text.remove_prefix(end + 1);
    }
}

// What tools say and make of a damaged image is not compared word by word; that none dies, changes
// what it only reads, or gets other data is.
bool holds_for_damaged(LayerId id) {
    switch (id) {
        case LayerId::code:
        case LayerId::header:
        case LayerId::json:
        case LayerId::text:
        case LayerId::check:
        case LayerId::bytes:
        case LayerId::relations:
            return false;
        default:
            return true;
    }
}

// A check that is asked for all the same.
bool asked_despite_damage(const Comparison& comparison, LayerId id) {
    return id == LayerId::check &&
           std::ranges::any_of(comparison.requests, [](const InspectionRequest& request) {
               return request.kind == InspectionKind::check && request.despite_damage;
           });
}

}  // namespace

bool Cost::within(const Cost& limit) const {
    return bytes_written <= limit.bytes_written && requests <= limit.requests &&
           metadata_clusters <= limit.metadata_clusters && key_derivations <= limit.key_derivations;
}

const Operation* find_operation(std::string_view name) {
    const auto& table = operations();
    const auto found = std::find_if(table.begin(), table.end(), [&](const Operation* operation) {
        return operation->name == name;
    });
    return found == table.end() ? nullptr : *found;
}

std::vector<LayerReport> compare_step(const Operation& operation, const Comparison& comparison) {
    std::vector<LayerReport> reports;
    const bool damaged = intent_name(comparison.c) == "damaged";
    for (const LayerUse& use : operation.layers) {
        LayerReport report{
            use.id, std::string(use.name.empty() ? to_string(use.id) : use.name),
            damaged && !holds_for_damaged(use.id) && !asked_despite_damage(comparison, use.id)
                ? LayerResult::not_applicable(std::string(reason::damaged_image))
                : layer(use.id).compare(comparison)};
        if (report.result.difference) {
            report.result.difference->symptom.layer_name = report.name;
        }
        reports.push_back(std::move(report));
        // A gate that does not open leaves nothing for the layers behind it.
        if (layer(use.id).gate && reports.back().result.verdict == LayerVerdict::inconclusive) {
            break;
        }
    }
    return reports;
}

Plan default_plan() {
    Plan plan;
    for (const Operation* operation : operations()) {
        plan.operations.push_back({std::string(operation->name), operation->weight});
    }
    for (const Format& format : formats()) {
        plan.formats.emplace_back(format.name);
    }
    plan.features = {"io", "zstd"};
    plan.damaged_percent = 15;
    return plan;
}

void check_plan(const Plan& plan) {
    if (plan.operations.empty()) {
        throw UsageError("the plan names no operation; give --ops at least one");
    }
    for (const OperationWeight& operation : plan.operations) {
        if (find_operation(operation.name) == nullptr) {
            unknown_operation(operation.name);
        }
    }
    // What every picker falls back to.
    for (const std::string_view needed : {"raw", "qcow2"}) {
        if (!plan.has_format(needed)) {
            throw UsageError("the plan must declare the format " + std::string(needed) +
                             ": both tools have to handle it");
        }
    }
    for (const std::string& format : plan.formats) {
        if (find_format(format) == nullptr) {
            throw UsageError("the plan declares the format '" + format + "', which is not known");
        }
    }
}

std::vector<OperationWeight> parse_operations(std::string_view text) {
    std::map<std::string, unsigned, std::less<>> chosen;
    std::set<std::string, std::less<>> dropped;
    for (const std::string_view word : split(text, ',')) {
        const bool minus = word.starts_with('-');
        const std::size_t equals = word.find('=');
        const std::string_view name =
            word.substr(minus ? 1 : 0, equals == std::string_view::npos ? std::string_view::npos
                                                                        : equals - (minus ? 1 : 0));
        const Operation* operation = find_operation(name);
        if (operation == nullptr) {
            unknown_operation(name);
        }
        if (minus) {
            dropped.emplace(name);
        } else if (!chosen
                        .emplace(name, equals == std::string_view::npos
                                           ? operation->weight
                                           : parse_weight(word, word.substr(equals + 1)))
                        .second) {
            throw UsageError("--ops names '" + std::string(name) + "' twice");
        }
    }
    std::vector<OperationWeight> result;
    for (const Operation* operation : operations()) {
        const auto found = chosen.find(operation->name);
        if (dropped.contains(operation->name) || (!chosen.empty() && found == chosen.end())) {
            continue;
        }
        result.push_back({std::string(operation->name),
                          found == chosen.end() ? operation->weight : found->second});
    }
    if (result.empty()) {
        throw UsageError("--ops '" + std::string(text) + "' leaves no operation to run");
    }
    return result;
}

Case draw_case(const Plan& plan, std::uint64_t seed, std::uint64_t index, std::uint32_t attempt,
               const Pins* pins) {
    const bool pinned = pins != nullptr && !pins->empty();
    const ReachPair* const pair = pinned ? nullptr : reach_of(plan).pair_of(seed, index);
    if (pair != nullptr) {
        if (std::optional<Case> c = draw_steered(plan, *pair, seed, index, attempt)) {
            return *std::move(c);
        }
    }
    DrawState state = Draws::start(seed, index, attempt, pins);
    const Draws draws(state);
    std::vector<Weighted<std::string_view>> weights;
    for (const OperationWeight& operation : plan.operations) {
        weights.push_back({operation.name, operation.weight});
    }
    const std::string_view name =
        draws.pick("operation", std::span<const Weighted<std::string_view>>(weights));
    Case c = pick_case(*find_operation(name)->picker, {draws, plan});
    require_pins_used(state);
    return c;
}

std::optional<Case> draw_filtered_case(const Plan& plan, std::uint64_t seed, std::uint64_t index,
                                       const std::function<bool(const Case&)>& filter,
                                       const Pins* pins) {
    for (std::uint32_t attempt = 0; attempt < max_attempts; ++attempt) {
        Case c = draw_case(plan, seed, index, attempt, pins);
        if (!filter || filter(c)) {
            return c;
        }
    }
    return std::nullopt;
}

std::vector<Violation> validate(const Case& c) {
    const Operation* operation = find_operation(c.operation);
    if (operation == nullptr) {
        return {{"envelope", "there is no operation '" + c.operation + "'"}};
    }
    std::vector<Violation> violations = validate_case(*operation->picker, c);
    if (violations.empty() && !operation->cost(c).within(cost_limit)) {
        violations.push_back({"cost", "the case costs more than one case may"});
    }
    return violations;
}

}  // namespace difffuzz
