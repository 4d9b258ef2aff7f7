#include "reporting/filing/issue_text.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/cases/digest.hpp"
#include "reporting/attribution_text.hpp"
#include "reporting/filing/embedded_record.hpp"
#include "reporting/filing/markers.hpp"
#include "reporting/markdown.hpp"
#include "reporting/record_text.hpp"
#include "reporting/wording.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_commands_bytes = 6'000;
constexpr std::size_t max_details_bytes = 6'000;
constexpr std::size_t max_output_bytes = 4'000;

std::string folded(const std::string& summary, const std::string& content) {
    return "<details><summary>" + summary + "</summary>\n\n" + content + "\n</details>\n\n";
}

// The program is the file of the profile that is no library.
std::string program_hash(const json& profile) {
    std::string lines;
    for (const json& file : profile.at("files")) {
        const std::string name = text_field(file, "name");
        if (name.find(".so") == std::string::npos) {
            lines += "           " + name + " SHA-256 " + text_field(file, "sha256") + "\n";
        }
    }
    return lines;
}

std::string tools_block(const json& record, const IssueContext& context) {
    std::string lines;
    for (const char* side : {"subject", "reference"}) {
        const json& profile = record.at(side).at("profile");
        lines += fmt::format("{:<11}{}\n", side, text_field(profile, "version_text")) +
                 program_hash(profile);
        lines += "           with its libraries " + text_field(profile, "identity") + "\n";
    }
    return fenced(lines + fmt::format("{:<11}{}\n", "platform", context.platform), "text");
}

std::string outcome_lines(const json& record, const std::string& side, std::size_t max_bytes) {
    std::string lines = ending_text(record, side) + "\n";
    for (const char* stream : {"stdout", "stderr"}) {
        const std::string printed = stream_text(record, side, stream, max_bytes);
        if (!printed.empty()) {
            lines += std::string("--- ") + stream + "\n" + printed;
            lines += printed.ends_with('\n') ? "" : "\n";
        }
    }
    return lines;
}

// Who is to blame, and who says so.
std::string attribution_block(const json& record) {
    const std::string text = attribution_text(record);
    return text.empty() ? text : "Attribution:\n\n" + fenced(text, "text") + "\n";
}

std::string sighting_of(const json& record, const IssueContext& context) {
    std::string key = context.platform;
    for (const char* side : {"subject", "reference"}) {
        key += "\n" + text_field(record.at(side).at("profile"), "version_text");
    }
    return sha256_hex(key).substr(0, 12);
}

std::string origin_line(const json& record, const IssueContext& context) {
    return fmt::format(
        "By difffuzz {} (generator {}): seed {}, case {}, plan {}. A campaign draws disk-image "
        "operations and their images from the seed, runs subject and reference on the same input, "
        "and compares what they did.\n",
        plain_words(context.version, 40), number_field(record, "generator"),
        number_field(record, "seed"), number_field(record, "iteration"),
        plain_words(text_field(record, "plan"), 64));
}

// What may go to make room, in the order of going.
struct Room {
    bool script = true;
    bool outputs = true;
    bool details = true;
    bool recipe = true;
};

std::string body_of(const FoundBucket& bucket, const IssueContext& context,
                    const std::string& sighting, const Room& room) {
    const json& record = bucket.record;
    const Wording wording = wording_of(record);
    const std::string left_out = "(Left out for want of room; it is in the evidence.)\n";
    std::string body =
        "This issue was written by a machine: difffuzz, a differential fuzzer of disk-image "
        "tools.\n\n## What differs\n\n" +
        wording.what + "\n\n" + attribution_block(record) +
        "Severity: " + plain_words(bucket.severity, 40) +
        ". Cases of the campaign that show it: " + std::to_string(bucket.cases) + ".\n\n" +
        tools_block(record, context) + "\n## Steps\n\n" +
        "The commands, on the images of the recipe below:\n\n" +
        fenced(commands_text(record, max_commands_bytes), "sh") +
        "\nTo run them with their images, save the text of this issue as `issue.md` and run:\n\n" +
        fenced("difffuzz repro issue.md --subject PATH-OF-THE-SUBJECT", "sh") + "\n";
    if (const std::string features = features_text(record, max_details_bytes); !features.empty()) {
        body += "What the case could not lose when it was shrunk:\n\n" + fenced(features, "text") +
                "\n";
    }
    if (!context.script.empty()) {
        body += folded("The same as a stand-alone script (bash, qemu-img)",
                       room.script ? fenced(context.script, "sh") : left_out);
    }
    body += "## Expected\n\n" + wording.expected + "\n\n## Actual\n\n";
    for (const char* side : {"subject", "reference"}) {
        body += std::string(side == std::string_view("subject") ? "Subject" : "Reference") +
                ":\n\n" +
                fenced(outcome_lines(record, side, room.outputs ? max_output_bytes : 200), "text") +
                "\n";
    }
    if (record.contains("details")) {
        body += folded("What was compared",
                       room.details
                           ? fenced(first_lines(record.at("details").dump(
                                                    1, ' ', false, json::error_handler_t::replace),
                                                max_details_bytes),
                                    "json")
                           : left_out);
    }
    body += folded("Recipe: the whole case, read by difffuzz repro",
                   room.recipe ? embedded_record(record)
                               : "(The recipe is too large for an issue; attach record.json of " +
                                     plain_words(bucket.directory, 120) + " from the evidence.)\n");
    body += "## How it was found\n\n" + origin_line(record, context) + "\n" +
            bucket_line(bucket.fingerprint) + "\n" + sighting_line(sighting) + "\n";
    return body;
}

std::string bounded_body(const FoundBucket& bucket, const IssueContext& context,
                         const std::string& sighting) {
    Room room;
    std::string body = body_of(bucket, context, sighting, room);
    for (bool Room::*part : {&Room::script, &Room::outputs, &Room::details, &Room::recipe}) {
        if (body.size() <= max_body_bytes) {
            break;
        }
        room.*part = false;
        body = body_of(bucket, context, sighting, room);
    }
    return body;
}

}  // namespace

IssueText issue_text(const FoundBucket& bucket, const IssueContext& context) {
    IssueText text;
    text.fingerprint = bucket.fingerprint;
    text.sighting = sighting_of(bucket.record, context);
    text.title = wording_of(bucket.record).title;
    text.body = bounded_body(bucket, context, text.sighting);
    text.news = "Seen again, by a machine (difffuzz " + plain_words(context.version, 40) +
                "), with:\n\n" + tools_block(bucket.record, context) + "\n" +
                bucket_line(bucket.fingerprint) + "\n" + sighting_line(text.sighting) + "\n";
    return text;
}

}  // namespace difffuzz
