// Which normalisers an agreement rests on.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "oracles/layer.hpp"

namespace difffuzz {

// Names of a least set of `names` that an agreement needs: none when the two sides agree without
// any; else each is left out in turn, for good where the sides still agree. `agrees(applied)` says
// whether they do when only the normalisers whose place in `applied` is true are applied; with all
// of them they must.
std::vector<std::string_view> needed_of(
    const std::vector<std::string_view>& names,
    const std::function<bool(const std::vector<bool>& applied)>& agrees);

// Of two texts that agree when the comparison's text normalisers have been applied.
std::vector<std::string_view> needed_for_text(
    const Comparison& comparison, std::string_view subject, std::string_view reference,
    const std::function<bool(const std::string&, const std::string&)>& agrees);

// Of two JSON values that are equal when the comparison's JSON normalisers have been applied.
std::vector<std::string_view> needed_for_json(const Comparison& comparison,
                                              const nlohmann::json& subject,
                                              const nlohmann::json& reference);

// Of two streams that agree as JSON, for which both kinds are applied.
std::vector<std::string_view> needed_for_json_text(const Comparison& comparison,
                                                   std::string_view subject,
                                                   std::string_view reference);

}  // namespace difffuzz
