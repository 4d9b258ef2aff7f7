// What `run --create-issues` and `file` share: from flags and evidence to issues.
#pragma once

#include <string>
#include <vector>

#include "apps/difffuzz/flags.hpp"
#include "reporting/filing/filer.hpp"
#include "reporting/found_buckets.hpp"

namespace difffuzz {

// The flags about filing, as commands list them.
inline constexpr std::string_view filing_flags[] = {
    "--tracker",   "--repo",       "--api-url",        "--label",
    "--on-closed", "--max-issues", "--tracker-timeout"};

// What the flags ask for, without issues, and checked as far as that goes without a network: throws
// UsageError for a flag that cannot be used and, unless `dry`, where there is no token.
FilingJob filing_job(const Flags& flags, bool dry);

// Why a bucket is not filed; empty for one that may be. `confirmed`: it was asked for by name of
// its evidence, and seen again just now.
std::string never_filed(const FoundBucket& bucket, bool confirmed);

// Files `buckets` of the evidence, prints a line for each, and remembers them there. The last tool
// has ended. Returns whether all could be filed.
bool file_buckets(const std::string& evidence, const std::vector<FoundBucket>& buckets,
                  FilingJob job);

// Prints the requests that would create the issues.
void print_requests(const std::string& evidence, const std::vector<FoundBucket>& buckets,
                    FilingJob job);

}  // namespace difffuzz
