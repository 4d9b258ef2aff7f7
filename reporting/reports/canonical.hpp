// The record set of a campaign in a form that two campaigns can be compared by.
#pragma once

#include <ostream>
#include <string>

namespace difffuzz {

// Every kept record of the evidence in the order of the cases, one line of JSON each, then one line
// per bucket with its count. Throws UsageError for what is no evidence.
void print_canonical(const std::string& evidence, std::ostream& out);

}  // namespace difffuzz
