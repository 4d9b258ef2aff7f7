// The data that drawing depends on, beside generator version, seed and index.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace difffuzz {

struct OperationWeight {
    std::string name;
    unsigned weight = 1;  // 1..1000
    bool operator==(const OperationWeight&) const = default;
};

struct Plan {
    std::vector<OperationWeight> operations;  // in the table's order
    unsigned refused_percent = 5;             // share of cases with intent refused, 0..100
    unsigned damaged_percent = 0;             // share of cases with intent damaged, 0..100
    // What both roles are declared to handle: formats ("qcow2") and features ("zstd").
    std::vector<std::string> formats;
    std::vector<std::string> features;
    std::map<std::string, std::string> versions;  // role -> "qemu-img 7.2.22"
    std::string registry_digest;                  // of the known divergences; empty: none
    std::string registry_mode = "off";
    bool operator==(const Plan&) const = default;

    bool has_format(std::string_view name) const;
    bool has_feature(std::string_view name) const;
};

nlohmann::json to_json(const Plan& plan);
// Throws RecipeError. Operation names are checked by ops/, which knows them.
Plan plan_from_json(const nlohmann::json& json);
// SHA-256 of the canonical JSON, hex.
std::string plan_digest(const Plan& plan);

}  // namespace difffuzz
