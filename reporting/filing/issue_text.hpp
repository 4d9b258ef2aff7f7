// The text of an issue: a pure function of a bucket.
#pragma once

#include <string>

#include "reporting/found_buckets.hpp"

namespace difffuzz {

struct IssueText {
    std::string fingerprint;
    std::string sighting;  // 12 hexadecimal digits: versions and platform that showed it
    std::string title;
    std::string body;
    std::string news;  // a comment for an issue that does not know this sighting yet
};

// What the records do not say.
struct IssueContext {
    std::string version;   // of difffuzz
    std::string platform;  // "Linux x86_64"
    std::string script;    // reproduce.sh, may be empty
};

// The most bytes of a body; trackers take 65536 characters or more.
inline constexpr std::size_t max_body_bytes = 60'000;

// Title, body and comment, valid UTF-8. All that tools printed or a record brought along stands in
// code blocks that it cannot leave. The body holds the recipe, whole (embedded_record.hpp), as long
// as that fits; to make room, first the script goes, then what the tools printed, then the details,
// then the recipe. Each time a line says what is missing. Equal buckets give equal texts.
IssueText issue_text(const FoundBucket& bucket, const IssueContext& context);

}  // namespace difffuzz
