#include "core/cases/plan.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"
#include "core/cases/json_fields.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_words = 64;
constexpr std::size_t max_word_bytes = 64;
constexpr std::string_view plan_schema = "difffuzz.plan/1";

std::vector<std::string> words(ObjectFields& fields, const std::string& name) {
    std::vector<std::string> result;
    for (const auto& item : fields.array(name, max_words)) {
        result.push_back(checked_text(item, fields.at(name), max_word_bytes));
    }
    return result;
}

bool contains(const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

bool Plan::has_format(std::string_view name) const { return contains(formats, name); }
bool Plan::has_feature(std::string_view name) const { return contains(features, name); }

nlohmann::json to_json(const Plan& plan) {
    nlohmann::json operations = nlohmann::json::array();
    for (const OperationWeight& operation : plan.operations) {
        operations.push_back({{"name", operation.name}, {"weight", operation.weight}});
    }
    return {{"schema", plan_schema},
            {"operations", operations},
            {"refused_percent", plan.refused_percent},
            {"damaged_percent", plan.damaged_percent},
            {"formats", plan.formats},
            {"features", plan.features},
            {"versions", plan.versions},
            {"registry", {{"digest", plan.registry_digest}, {"mode", plan.registry_mode}}}};
}

Plan plan_from_json(const nlohmann::json& json) {
    ObjectFields fields(json, "");
    require_schema(fields.text("schema", max_word_bytes), plan_schema);
    Plan plan;
    std::size_t index = 0;
    for (const auto& item : fields.array("operations", max_words)) {
        ObjectFields operation(item, "/operations/" + std::to_string(index++));
        plan.operations.push_back({operation.text("name", max_word_bytes),
                                   static_cast<unsigned>(operation.number("weight", 1, 1000))});
        operation.finish();
    }
    plan.refused_percent = static_cast<unsigned>(fields.number("refused_percent", 0, 100));
    plan.damaged_percent = static_cast<unsigned>(fields.number("damaged_percent", 0, 100));
    plan.formats = words(fields, "formats");
    plan.features = words(fields, "features");
    const auto& versions = fields.required("versions");
    if (!versions.is_object() || versions.size() > max_words) {
        throw RecipeError("/versions", "must be an object of role and version");
    }
    for (const auto& item : versions.items()) {
        plan.versions[item.key()] = checked_text(item.value(), "/versions", max_word_bytes);
    }
    ObjectFields registry(fields.required("registry"), "/registry");
    plan.registry_digest = registry.text("digest", 64);
    plan.registry_mode = registry.text("mode", max_word_bytes);
    registry.finish();
    fields.finish();
    return plan;
}

std::string plan_digest(const Plan& plan) { return sha256_hex(to_json(plan).dump()); }

}  // namespace difffuzz
