// Named exceptions to equality: expected physical differences, each with its reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace difffuzz {

// The workspace of a case that is run again lies this much deeper than others: below "/side/N".
inline constexpr std::string_view deeper_place = "/a/deeper/place";

// Rewrites text so that what may differ is equal; applied to both sides alike.
struct TextNormaliser {
    std::string_view name;
    std::string_view reason;
    void (*apply)(std::string& text);
};

// The same for parsed output. Masks or drops single fields, never whole objects.
struct JsonNormaliser {
    std::string_view name;
    std::string_view reason;
    void (*apply)(nlohmann::json& value);
};

// Each normaliser is defined in oracles/normalisers.cpp. These two hold for whatever a tool prints,
// so every layer applies them to all streams: they take out what our own harness and the tool's
// process, not the operation, put there.
const TextNormaliser& harness_path_text();  // "/side/1/w", "/tool/subject": where we put things
const TextNormaliser& node_name_text();     // "#block123": counter within one process
// A row of the operations table lists those of these that hold for it.
const TextNormaliser& disk_size_text();      // "disk size: 196 KiB" of info: allocation
const TextNormaliser& elapsed_time_text();   // "Run completed in 0.010 seconds." of bench
const TextNormaliser& progress_text();       // "    (12.00/100%)\r" but one of 100: timing
const TextNormaliser& failed_read_text();    // "error while reading at byte 512: " of convert
const TextNormaliser& snapshot_date_text();  // "2026-01-31 12:00:00" in lists of snapshots
const JsonNormaliser& disk_size_json();      // "actual-size": allocation
const JsonNormaliser& file_length_json();
const JsonNormaliser& vmdk_cid_json();       // "cid" of vmdk: random per written image
const JsonNormaliser& snapshot_date_json();  // "date-sec" and "date-nsec" of snapshots

// All of them, for the account and the documents.
const std::vector<const TextNormaliser*>& text_normalisers();
const std::vector<const JsonNormaliser*>& json_normalisers();

}  // namespace difffuzz
