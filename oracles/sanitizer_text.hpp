// The normaliser of sanitizers' reports, for what a record keeps of them. Symptoms need none: their
// messages have no numbers.
#pragma once

#include "oracles/normaliser.hpp"

namespace difffuzz {

// In a text with a report: "==12345==" becomes "==<pid>==", and an address of more than four
// significant digits "<address>"; smaller ones, which tell of null, and offsets within a file
// ("+0x4f21") stay.
const TextNormaliser& sanitizer_report_text();

}  // namespace difffuzz
