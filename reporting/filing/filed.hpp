// What the evidence remembers of filing: filed.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "reporting/filing/filer.hpp"

namespace difffuzz {

inline constexpr std::string_view filed_schema = "difffuzz.filed/1";

// Issues by tracker, repository and fingerprint. A help, no authority: what the tracker itself
// says decides, so that a lost file costs a search and no second issue.
class Filed {
public:
    // Of an evidence directory; empty where there is no such file. Throws UsageError for a file
    // that difffuzz did not write.
    explicit Filed(const std::string& evidence);

    std::optional<std::uint64_t> number(const FilingJob& job, const std::string& fingerprint) const;
    // Keeps the issue of a result that has one, and writes the file. Throws EnvironmentError.
    void remember(const FilingJob& job, const FilingResult& result);

private:
    std::string evidence_;
    // "TRACKER API-URL REPO" -> fingerprint -> number and URL
    std::map<std::string, std::map<std::string, std::pair<std::uint64_t, std::string>>> issues_;
};

}  // namespace difffuzz
