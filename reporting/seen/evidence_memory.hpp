// Memory from directories of evidence.
#pragma once

#include <string>

#include "reporting/seen/memory.hpp"

namespace difffuzz {

// Adds the campaign in `directory`, or those in the directories right below it, that ended; dates
// are those of their summary.json. The one in `but_not` (absolute) is left out. Throws UsageError
// naming the file for a summary that is none, or the directory where there is no campaign.
void remember_evidence(const std::string& directory, const std::string& but_not, Memory& memory);

}  // namespace difffuzz
