// What a command prints is wrong: its first line, its reason for a refusal, its JSON, its text.
#include <string>
#include <unistd.h>

#include "apps/canary/planting.hpp"
#include "apps/canary/text_edits.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

// Numbers above this are shown in the wrong notation by some faults, those below are right.
constexpr std::uint64_t threshold = std::uint64_t{1} << 16;

// `answer.out` with a number above the threshold in hexadecimal.
bool hex_after(Answer& answer, std::string_view marker) {
    const auto number = number_after(answer.out, marker);
    if (!number || number->value < threshold) {
        return false;
    }
    put_number(answer.out, *number, in_hex(number->value));
    return true;
}

bool says_instead(Answer& answer, const std::string& reason) {
    const std::string line = "qemu-img: " + reason + "\n";
    const bool other = answer.err != line;
    answer.err = line;
    return other;
}

// header

Planted info_header(const Call& call) {
    if (!call.is("info") || call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(
        call, [](Answer& answer) { return replace_first(answer.out, "image: ", "Image: "); });
}

Planted map_header(const Call& call) {
    if (!call.is("map") || call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(
        call, [](Answer& answer) { return replace_first(answer.out, "Length", "Size  "); });
}

Planted measure_hex(const Call& call) {
    if (!call.is("measure") || call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call,
                          [](Answer& answer) { return hex_after(answer, "required size: "); });
}

Planted bench_hex_offset(const Call& call) {
    if (!call.is("bench")) {
        return std::nullopt;
    }
    return spoilt_success(call,
                          [](Answer& answer) { return hex_after(answer, "starting at offset "); });
}

Planted compare_flood(const Call& call) {
    // More than is kept of a stream, so that its text cannot be compared as a whole.
    constexpr std::size_t more_than_kept = std::size_t{9} << 20;
    if (!call.is("compare") || call.has("-q")) {
        return std::nullopt;
    }
    return spoilt(call, [](Answer& answer) {
        if (answer.out.empty()) {
            return false;
        }
        answer.out = "comparing " + answer.out + std::string(more_than_kept, '.') + "\n";
        return true;
    });
}

// error

Planted create_error(const Call& call) {
    if (!call.is("create")) {
        return std::nullopt;
    }
    return spoilt_refusal(call,
                          [](Answer& answer) { return says_instead(answer, "Invalid argument"); });
}

Planted rebase_silent(const Call& call) {
    if (!call.is("rebase")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) {
        const bool spoke = !answer.err.empty();
        answer.err.clear();
        return spoke;
    });
}

Planted resize_error(const Call& call) {
    if (!call.is("resize")) {
        return std::nullopt;
    }
    return spoilt_refusal(call,
                          [](Answer& answer) { return says_instead(answer, "Permission denied"); });
}

// Right but for a number in it.
Planted dd_error_number(const Call& call) {
    if (!call.is("dd")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) {
        const std::size_t digit = answer.err.find_first_of("012345678");
        if (digit >= answer.err.find('\n')) {
            return false;
        }
        ++answer.err[digit];
        return true;
    });
}

// json

Planted info_json_size(const Call& call) {
    if (!call.is("info") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call,
                          [](Answer& answer) { return add_in_json(answer, "virtual-size", 512); });
}

Planted info_json_type(const Call& call) {
    if (!call.is("info") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        const auto number = number_after(answer.out, "\"cluster-size\": ");
        if (number) {
            put_number(answer.out, *number, "\"" + std::to_string(number->value) + "\"");
        }
        return number.has_value();
    });
}

Planted info_json_lazy(const Call& call) {
    if (!call.is("info") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        return replace_first(answer.out, "\"lazy-refcounts\": true", "\"lazy-refcounts\": false");
    });
}

Planted map_json_zero(const Call& call) {
    if (!call.is("map") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        return replace_first(answer.out, "\"zero\": true, \"data\": false",
                             "\"zero\": false, \"data\": false");
    });
}

Planted measure_json_more(const Call& call) {
    if (!call.is("measure") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(
        call, [](Answer& answer) { return add_to_number(answer.out, "\"fully-allocated\": ", 1); });
}

Planted check_json_end(const Call& call) {
    if (!call.is("check") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        return replace_first(answer.out, "\"image-end-offset\"", "\"image-end\"");
    });
}

// text

Planted info_hex_cluster(const Call& call) {
    if (!call.is("info") || call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) { return hex_after(answer, "cluster_size: "); });
}

// Another word each time: what is different from itself is different from the reference.
Planted map_varies(const Call& call) {
    if (!call.is("map") || call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        answer.out += "# " + std::to_string(::getpid()) + "\n";
        return true;
    });
}

Planted measure_text_more(const Call& call) {
    if (!call.is("measure") || call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        return add_to_number(answer.out, "fully allocated size: ", 1);
    });
}

Planted snapshot_list_short(const Call& call) {
    constexpr std::size_t title_columns_and_two = 4;
    if (!call.is("snapshot") || !call.has("-l")) {
        return std::nullopt;
    }
    return spoilt_success(
        call, [](Answer& answer) { return drop_last_line(answer.out, title_columns_and_two); });
}

Planted commit_warns(const Call& call) {
    if (!call.is("commit")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        answer.err += "qemu-img: warning: the backing file is now larger\n";
        return true;
    });
}

}  // namespace

const Faults& output_faults() {
    using enum LayerId;
    static const Faults table{
        {"info-header", "info", header, Seen::by_others_too, Roles::subject,
         "the first line of info is spelt with a capital", info_header},
        {"map-header", "map", header, Seen::by_others_too, Roles::subject,
         "a column of map has another title", map_header},
        {"measure-hex", "measure", header, Seen::by_others_too, Roles::subject,
         "measure says a size in hexadecimal from 64 KiB on", measure_hex},
        {"bench-hex-offset", "bench", header, Seen::by_others_too, Roles::subject,
         "bench says its offset in hexadecimal from 64 KiB on", bench_hex_offset},
        {"compare-flood", "compare", header, Seen::by_its_layer_alone, Roles::subject,
         "compare begins with another word and prints more than can be kept", compare_flood},
        {"create-error", "create", error, Seen::by_its_layer_alone, Roles::subject,
         "create gives another reason when it refuses", create_error},
        {"rebase-silent", "rebase", error, Seen::by_its_layer_alone, Roles::subject,
         "rebase refuses without a word", rebase_silent},
        {"resize-error", "resize", error, Seen::by_its_layer_alone, Roles::subject,
         "resize blames permissions when it refuses", resize_error},
        {"dd-error-number", "dd", error, Seen::by_its_layer_alone, Roles::subject,
         "a number in dd's reason for a refusal is off by one", dd_error_number},
        {"info-json-size", "info", json, Seen::by_others_too, Roles::subject,
         "info's JSON has a virtual size that is a sector too large", info_json_size},
        {"info-json-type", "info", json, Seen::by_its_layer_alone, Roles::subject,
         "info's JSON has the cluster size as text", info_json_type},
        {"info-json-lazy", "info", json, Seen::by_its_layer_alone, Roles::subject,
         "info's JSON denies lazy refcounts", info_json_lazy},
        {"map-json-zero", "map", json, Seen::by_its_layer_alone, Roles::subject,
         "map's JSON says of the first hole that it does not read as zeros", map_json_zero},
        {"measure-json-more", "measure", json, Seen::by_its_layer_alone, Roles::subject,
         "measure's JSON is a byte above the full size", measure_json_more},
        {"check-json-end", "check", json, Seen::by_its_layer_alone, Roles::subject,
         "check's JSON has a field of another name", check_json_end},
        {"info-hex-cluster", "info", text, Seen::by_its_layer_alone, Roles::subject,
         "info says the cluster size in hexadecimal from 64 KiB on", info_hex_cluster},
        {"map-varies", "map", text, Seen::by_others_too, Roles::subject,
         "map's last line is another one in each process", map_varies},
        {"measure-text-more", "measure", text, Seen::by_its_layer_alone, Roles::subject,
         "measure is a byte above the full size", measure_text_more},
        {"snapshot-list-short", "snapshot", text, Seen::by_its_layer_alone, Roles::subject,
         "the list of snapshots lacks its last line", snapshot_list_short},
        {"commit-warns", "commit", text, Seen::by_its_layer_alone, Roles::subject,
         "commit warns of what is not so", commit_warns},
    };
    return table;
}

}  // namespace difffuzz::canary
