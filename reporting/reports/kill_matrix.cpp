#include "reporting/reports/kill_matrix.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "oracles/layer.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// Width of a layer's column, and so letters of its name.
constexpr std::size_t column = 4;

std::string_view verdict_of(const SelftestResult& result) {
    if (!result.finished()) {
        return "no verdict";
    }
    return result.all_caught() ? "all caught" : "survivors";
}

std::vector<std::string> names_of_layers(const std::vector<LayerId>& layers) {
    std::vector<std::string> names;
    for (const LayerId layer : layers) {
        names.emplace_back(to_string(layer));
    }
    return names;
}

std::string title() {
    std::string line = fmt::format("{:<26}{:<12}{:<16}{:>5} ", "fault", "layer", "result", "cases");
    for (const Layer& row : layers()) {
        if (!row.gate) {
            line += fmt::format(" {:<{}}", to_string(row.id).substr(0, column), column);
        }
    }
    return line;
}

std::string cells(const FaultRow& row) {
    std::string line;
    for (const Layer& layer : layers()) {
        if (layer.gate) {
            continue;
        }
        const auto found = std::ranges::find(row.diverged, layer.id);
        const char* mark = found == row.diverged.end()     ? "."
                           : found == row.diverged.begin() ? "#"
                                                           : "+";
        line += fmt::format(" {:<{}}", mark, column);
    }
    return line;
}

std::string verdict_line(const SelftestResult& result) {
    if (!result.faultless_failures.empty()) {
        return "selftest: no verdict; the stand-in is not the tool that it stands in for";
    }
    const auto caught = std::ranges::count(result.rows, FaultResult::caught, &FaultRow::result);
    std::string line = fmt::format("selftest: {}; {} of {} faults caught by their layer first",
                                   verdict_of(result), caught, result.rows.size());
    std::string others;
    for (const FaultRow& row : result.rows) {
        if (row.result != FaultResult::caught) {
            others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", row.fault.name,
                                  to_string(row.result));
        }
    }
    for (const GateRow& gate : result.gates) {
        if (!gate.holds()) {
            others += fmt::format("{}{} ({} instead of {})", others.empty() ? "" : ", ", gate.name,
                                  to_string(gate.seen), to_string(gate.expected));
        }
    }
    return others.empty() ? line : line + "; not: " + others;
}

}  // namespace

json selftest_json(const SelftestResult& result) {
    json gates = json::array();
    for (const GateRow& gate : result.gates) {
        gates.push_back({{"name", gate.name},
                         {"expected", to_string(gate.expected)},
                         {"seen", to_string(gate.seen)},
                         {"holds", gate.holds()}});
    }
    json faults = json::array();
    for (const FaultRow& row : result.rows) {
        faults.push_back({{"name", row.fault.name},
                          {"what", row.fault.what},
                          {"operation", row.fault.operation},
                          {"layer", to_string(row.fault.layer)},
                          {"alone", row.fault.sole},
                          {"roles", row.fault.both ? "both" : "subject"},
                          {"budget", row.fault.budget},
                          {"result", to_string(row.result)},
                          {"cases", row.cases},
                          {"diverged", names_of_layers(row.diverged)}});
    }
    return {
        {"schema", selftest_schema},
        {"verdict", verdict_of(result)},
        {"faultless", {{"cases", result.faultless_cases}, {"failures", result.faultless_failures}}},
        {"gates", std::move(gates)},
        {"faults", std::move(faults)}};
}

std::string selftest_text(const SelftestResult& result) {
    std::string text;
    if (result.faultless_failures.empty()) {
        text +=
            fmt::format("the stand-in without a fault: {} cases agree\n", result.faultless_cases);
    }
    for (const std::string& failure : result.faultless_failures) {
        text += failure + "\n";
    }
    for (const GateRow& gate : result.gates) {
        text += fmt::format(
            "gate: {}: {}{}\n", gate.name, to_string(gate.seen),
            gate.holds() ? "" : fmt::format(" instead of {}", to_string(gate.expected)));
    }
    if (!result.rows.empty()) {
        text += title() + "\n";
    }
    for (const FaultRow& row : result.rows) {
        text +=
            fmt::format("{:<26}{:<12}{:<16}{:>5} {}\n", row.fault.name, to_string(row.fault.layer),
                        to_string(row.result), row.cases, cells(row));
    }
    return text + verdict_line(result) + "\n";
}

}  // namespace difffuzz
