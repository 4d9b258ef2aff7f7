// What a case holds of all that pickers can draw: for the ledger of what was compared.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cases/case.hpp"

namespace difffuzz {

struct CaseReach {
    // Options of the tools' steps ("-S", "bs") and creation options ("-o cluster_size"), sorted,
    // each once.
    std::vector<std::string> options;
    // Formats of images and outputs, sorted, each once.
    std::vector<std::string> formats;
    // A feature (pickers/image_feature.hpp) and the format of an image that has it, sorted, once.
    std::vector<std::pair<std::string, std::string>> features;
    bool operator==(const CaseReach&) const = default;
};

CaseReach reach_of_case(const Case& c);

// The name under which a creation option counts.
std::string creation_option_name(std::string_view name);

}  // namespace difffuzz
