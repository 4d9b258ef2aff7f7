// What the tool does depends on where and when it runs: only a second run elsewhere shows it.
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <sys/stat.h>

#include "apps/canary/image_edits.hpp"
#include "apps/canary/planting.hpp"
#include "apps/canary/text_edits.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

std::string_view environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// Numbers as they are written in a locale of its own.
Planted measure_in_locale(const Call& call) {
    if (!call.is("measure") || !environment("LC_ALL").ends_with("UTF-8")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        return replace_first(answer.out, "required size: ", "required size: \xe2\x80\x89") ||
               replace_first(answer.out, "\"required\": ", "\"required\": 1");
    });
}

// The order of what is printed is that of a hash table.
Planted info_hash_order(const Call& call) {
    if (!call.is("info") || call.wants_json() || environment("PYTHONHASHSEED").empty()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        const std::size_t first = answer.out.find('\n') + 1;
        const std::size_t second = answer.out.find('\n', first) + 1;
        if (first == 0 || second == 0) {
            return false;
        }
        answer.out = answer.out.substr(first, second - first) + answer.out.substr(0, first) +
                     answer.out.substr(second);
        return true;
    });
}

// Memory that it never set gets into the image.
Planted convert_dirty_memory(const Call& call) {
    if (!call.is("convert") || environment("MALLOC_PERTURB_").empty()) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_last_byte(call.target()); });
}

Planted rebase_in_zone(const Call& call) {
    if (!call.is("rebase") || environment("TZ") == "UTC") {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_first_data(call.target()); });
}

// A buffer for the path of the working directory is too short.
Planted resize_in_depth(const Call& call) {
    constexpr std::size_t longest = 16;
    if (!call.is("resize") || std::filesystem::current_path().string().size() <= longest) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        answer = {1, "", "qemu-img: File name too long\n"};
        return true;
    });
}

Planted snapshot_with_mask(const Call& call) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (!call.is("snapshot") || (mask & S_IROTH) == 0) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        answer.err += "qemu-img: warning: others cannot read this image\n";
        return true;
    });
}

}  // namespace

const Faults& determinism_faults() {
    using enum LayerId;
    static const Faults table{
        {"measure-in-locale", "measure", determinism, Seen::by_its_layer_alone, Roles::subject,
         "measure prints its numbers by the locale", measure_in_locale},
        {"info-hash-order", "info", determinism, Seen::by_its_layer_alone, Roles::subject,
         "info prints its lines in an order that hash seeds decide", info_hash_order},
        {"convert-dirty-memory", "convert", determinism, Seen::by_its_layer_alone, Roles::subject,
         "convert writes memory that was never set", convert_dirty_memory},
        {"rebase-in-zone", "rebase", determinism, Seen::by_its_layer_alone, Roles::subject,
         "rebase writes other data in another time zone", rebase_in_zone},
        {"resize-in-depth", "resize", determinism, Seen::by_its_layer_alone, Roles::subject,
         "resize refuses in a directory with a long path", resize_in_depth},
        {"snapshot-with-mask", "snapshot", determinism, Seen::by_its_layer_alone, Roles::subject,
         "snapshot warns under a strict umask", snapshot_with_mask},
    };
    return table;
}

}  // namespace difffuzz::canary
