#include "oracles/normaliser.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/decimal.hpp"
#include "oracles/sanitizer_text.hpp"

namespace difffuzz {
namespace {

bool is_name(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
}

std::size_t digits_at(std::string_view text, std::size_t offset) {
    std::size_t length = 0;
    while (offset + length < text.size() && is_digit(text[offset + length])) {
        ++length;
    }
    return length;
}

// Length of "DIGITS.DIGITS" at `offset`, or 0.
std::size_t decimal_at(std::string_view text, std::size_t offset) {
    const std::size_t whole = digits_at(text, offset);
    if (whole == 0 || offset + whole >= text.size() || text[offset + whole] != '.') {
        return 0;
    }
    const std::size_t fraction = digits_at(text, offset + whole + 1);
    return fraction == 0 ? 0 : whole + 1 + fraction;
}

// Replaces what `length_at` recognises (its length at an offset, or 0) by `replacement`, with every
// occurrence of `start` tried.
template <typename LengthAt>
void replace_each(std::string& text, std::string_view start, LengthAt length_at,
                  std::string_view replacement) {
    std::string result;
    std::size_t copied = 0;
    std::size_t found = text.find(start);
    while (found != std::string::npos) {
        const std::size_t length = length_at(std::string_view(text), found);
        if (length > 0) {
            result.append(text, copied, found - copied).append(replacement);
            copied = found + length;
        }
        found = text.find(start, length > 0 ? copied : found + 1);
    }
    text = result.append(text, copied);
}

// "/side/" DIGITS "/w" that ends there or at a separator; deeper where a case runs again.
std::size_t workspace_length(std::string_view text, std::size_t offset) {
    constexpr std::string_view start = "/side/";
    const std::size_t digits = digits_at(text, offset + start.size());
    std::size_t end = offset + start.size() + digits;
    if (text.substr(end).starts_with(deeper_place)) {
        end += deeper_place.size();
    }
    if (digits == 0 || text.substr(end, 2) != "/w" ||
        (end + 2 < text.size() && is_name(text[end + 2]))) {
        return 0;
    }
    return end + 2 - offset;
}

std::size_t tool_length(std::string_view text, std::size_t offset) {
    constexpr std::string_view start = "/tool/";
    std::size_t end = offset + start.size();
    while (end < text.size() && is_name(text[end])) {
        ++end;
    }
    return end == offset + start.size() ? 0 : end - offset;
}

void apply_harness_path(std::string& text) {
    replace_each(text, "/side/", workspace_length, "<workspace>");
    replace_each(text, "/tool/", tool_length, "<tool>");
}

void apply_node_name(std::string& text) {
    constexpr std::string_view start = "#block";
    const auto length_at = [&](std::string_view whole, std::size_t offset) -> std::size_t {
        const std::size_t digits = digits_at(whole, offset + start.size());
        return digits == 0 ? 0 : start.size() + digits;
    };
    replace_each(text, start, length_at, "#block<n>");
}

// "disk size: NUMBER UNIT" up to the end of a line, where nothing but blanks stands before it.
void apply_disk_size(std::string& text) {
    constexpr std::string_view start = "disk size: ";
    const auto length_at = [&](std::string_view whole, std::size_t offset) -> std::size_t {
        for (std::size_t i = offset; i > 0 && whole[i - 1] != '\n'; --i) {
            if (whole[i - 1] != ' ') {
                return 0;
            }
        }
        const std::size_t number = offset + start.size();
        const std::size_t decimal = decimal_at(whole, number);
        std::size_t end = number + (decimal > 0 ? decimal : digits_at(whole, number));
        if (end == number || end >= whole.size() || whole[end] != ' ') {
            return 0;
        }
        const std::size_t unit = ++end;
        while (end < whole.size() && is_name(whole[end])) {
            ++end;
        }
        const bool at_line_end = end == whole.size() || whole[end] == '\n';
        return end > unit && at_line_end ? end - offset : 0;
    };
    replace_each(text, start, length_at, "disk size: <allocation>");
}

void apply_elapsed_time(std::string& text) {
    constexpr std::string_view start = "Run completed in ";
    constexpr std::string_view finish = " seconds.";
    const auto length_at = [&](std::string_view whole, std::size_t offset) -> std::size_t {
        const std::size_t decimal = decimal_at(whole, offset + start.size());
        const std::size_t end = offset + start.size() + decimal;
        return decimal > 0 && whole.substr(end).starts_with(finish) ? end + finish.size() - offset
                                                                    : 0;
    };
    replace_each(text, start, length_at, "Run completed in <time> seconds.");
}

// "error while reading at byte NUMBER: " alone: what other messages say of offsets is compared.
void apply_failed_read(std::string& text) {
    constexpr std::string_view start = "error while reading at byte ";
    const auto length_at = [&](std::string_view whole, std::size_t offset) -> std::size_t {
        const std::size_t digits = digits_at(whole, offset + start.size());
        const std::size_t end = offset + start.size() + digits;
        return digits > 0 && whole.substr(end).starts_with(": ") ? end - offset : 0;
    };
    replace_each(text, start, length_at, "error while reading at byte <n>");
}

// Which steps are printed, and how often, depends on time, that the end is reached does not: one
// "100.00" stays.
void apply_progress(std::string& text) {
    constexpr std::string_view start = "    (";
    constexpr std::string_view finish = "/100%)\r";
    constexpr std::string_view end = "    (100.00/100%)\r";
    const auto length_at = [&](std::string_view whole, std::size_t offset) -> std::size_t {
        const std::size_t number = offset + start.size();
        const std::size_t decimal = decimal_at(whole, number);
        if (decimal == 0 || !whole.substr(number + decimal).starts_with(finish) ||
            whole.substr(number, decimal) == "100.00") {
            return 0;
        }
        return start.size() + decimal + finish.size();
    };
    replace_each(text, start, length_at, "");
    const auto repeated_at = [&](std::string_view whole, std::size_t offset) -> std::size_t {
        return whole.substr(offset + end.size()).starts_with(end) ? end.size() : 0;
    };
    replace_each(text, end, repeated_at, "");
}

// Whether `text` at `offset` is like `pattern`, in which '0' stands for any digit.
bool is_like(std::string_view text, std::size_t offset, std::string_view pattern) {
    if (text.size() - offset < pattern.size()) {
        return false;
    }
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = text[offset + i];
        if (pattern[i] == '0' ? !is_digit(c) : c != pattern[i]) {
            return false;
        }
    }
    return true;
}

constexpr std::string_view date_pattern = "0000-00-00 00:00:00";

// What stands behind the date in a list of snapshots, up to the end of the line: blanks, the clock
// of the virtual machine ("00:00:00.000", hours with more digits in newer versions), the count of
// instructions.
bool is_behind_date(std::string_view rest) {
    const std::size_t clock = rest.find_first_not_of(' ');
    if (clock == 0 || clock == std::string_view::npos) {
        return false;
    }
    const std::size_t minutes = clock + digits_at(rest, clock);
    return minutes > clock && is_like(rest, minutes, ":00:00.000") &&
           rest.find_first_not_of(" 0123456789-", minutes + 10) == std::string_view::npos;
}

void apply_snapshot_date(std::string& text) {
    std::string result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = std::string_view(text).substr(begin, end - begin);
        std::size_t date = 0;
        while (date < line.size() && !(is_like(line, date, date_pattern) &&
                                       is_behind_date(line.substr(date + date_pattern.size())))) {
            ++date;
        }
        result.append(line.substr(0, date));
        if (date < line.size()) {
            result.append("<date>").append(line.substr(date + date_pattern.size()));
        }
        if (end < text.size()) {
            result += '\n';
        }
        begin = end + 1;
    }
    text = std::move(result);
}

template <typename Visit>
void for_each_object(nlohmann::json& value, Visit visit) {
    if (value.is_object()) {
        visit(value);
    }
    if (value.is_structured()) {
        for (auto& item : value) {
            for_each_object(item, visit);
        }
    }
}

// The value of `object[name]`, where it is a whole number, becomes 0: that it is there, and a
// number, stays compared.
void mask_number(nlohmann::json& object, const char* name) {
    if (object.contains(name) && object.at(name).is_number_integer()) {
        object[name] = 0;
    }
}

void apply_disk_size_json(nlohmann::json& value) {
    for_each_object(value, [](nlohmann::json& object) { mask_number(object, "actual-size"); });
}

void apply_file_length_json(nlohmann::json& value) {
    for_each_object(value, [](nlohmann::json& object) {
        if (object.contains("format") && object.at("format") == "file") {
            mask_number(object, "virtual-size");
        }
    });
}

void apply_vmdk_cid_json(nlohmann::json& value) {
    for_each_object(value, [](nlohmann::json& object) {
        if (object.contains("type") && object.at("type") == "vmdk" && object.contains("data") &&
            object.at("data").is_object()) {
            mask_number(object["data"], "cid");
        }
    });
}

void apply_snapshot_date_json(nlohmann::json& value) {
    for_each_object(value, [](nlohmann::json& object) {
        if (object.contains("vm-state-size")) {
            mask_number(object, "date-sec");
            mask_number(object, "date-nsec");
        }
    });
}

}  // namespace

const TextNormaliser& harness_path_text() {
    static const TextNormaliser normaliser{
        "harness_path", "the directories that difffuzz runs the two sides in have different names",
        apply_harness_path};
    return normaliser;
}

const TextNormaliser& node_name_text() {
    static const TextNormaliser normaliser{
        "node_name", "generated node names count the nodes that a process made so far",
        apply_node_name};
    return normaliser;
}

const TextNormaliser& disk_size_text() {
    static const TextNormaliser normaliser{
        "disk_size", "how much storage a file takes is up to the file system", apply_disk_size};
    return normaliser;
}

const TextNormaliser& elapsed_time_text() {
    static const TextNormaliser normaliser{"elapsed_time", "durations are never compared",
                                           apply_elapsed_time};
    return normaliser;
}

const TextNormaliser& progress_text() {
    static const TextNormaliser normaliser{
        "progress", "which steps are printed, and how often, depends on timing", apply_progress};
    return normaliser;
}

const TextNormaliser& failed_read_text() {
    static const TextNormaliser normaliser{
        "failed_read", "of several reads at a time, which one fails first depends on timing",
        apply_failed_read};
    return normaliser;
}

const TextNormaliser& snapshot_date_text() {
    static const TextNormaliser normaliser{
        "snapshot_date", "a snapshot bears the time at which it was made", apply_snapshot_date};
    return normaliser;
}

const JsonNormaliser& disk_size_json() {
    static const JsonNormaliser normaliser{"disk_size",
                                           "how much storage a file takes is up to the file system",
                                           apply_disk_size_json};
    return normaliser;
}

const JsonNormaliser& file_length_json() {
    static const JsonNormaliser normaliser{
        "file_length",
        "where clusters come to lie in a file, and so its length, is up to the order of requests "
        "that are under way together",
        apply_file_length_json};
    return normaliser;
}

const JsonNormaliser& vmdk_cid_json() {
    static const JsonNormaliser normaliser{
        "vmdk_cid", "a vmdk's content id is drawn at random whenever the image is written",
        apply_vmdk_cid_json};
    return normaliser;
}

const JsonNormaliser& snapshot_date_json() {
    static const JsonNormaliser normaliser{"snapshot_date",
                                           "a snapshot bears the time at which it was made",
                                           apply_snapshot_date_json};
    return normaliser;
}

const std::vector<const TextNormaliser*>& text_normalisers() {
    static const std::vector<const TextNormaliser*> all{
        &harness_path_text(), &node_name_text(),   &disk_size_text(),     &elapsed_time_text(),
        &progress_text(),     &failed_read_text(), &snapshot_date_text(), &sanitizer_report_text()};
    return all;
}

const std::vector<const JsonNormaliser*>& json_normalisers() {
    static const std::vector<const JsonNormaliser*> all{&disk_size_json(), &file_length_json(),
                                                        &vmdk_cid_json(), &snapshot_date_json()};
    return all;
}

}  // namespace difffuzz
