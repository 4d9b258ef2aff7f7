// A command ends as it should not: by a crash, refused or not, with another exit code.
#include <csignal>

#include "apps/canary/planting.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

bool dies_of(Answer& answer, int signal) {
    answer.signal = signal;
    return true;
}

bool ends_with(Answer& answer, int code) {
    const bool other = answer.code != code;
    answer.code = code;
    return other;
}

Answer refusal(const std::string& reason) { return {1, "", "qemu-img: " + reason + "\n"}; }

// crash

Planted info_crash(const Call& call) {
    if (!call.is("info") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) { return dies_of(answer, SIGSEGV); });
}

Planted convert_abort(const Call& call) {
    if (!call.is("convert")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) { return dies_of(answer, SIGABRT); });
}

Planted resize_sanitizer(const Call& call) {
    if (!call.is("resize")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) {
        answer.err += "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000\n";
        return true;
    });
}

Planted create_panic(const Call& call) {
    if (!call.is("create")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) {
        answer.err += "thread 'main' panicked at 'index out of bounds', src/create.rs\n";
        return true;
    });
}

// Only where the image is not sound, or cannot be checked.
Planted check_crash(const Call& call) {
    if (!call.is("check")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) { return dies_of(answer, SIGFPE); });
}

// exit

Planted create_accepts(const Call& call) {
    if (!call.is("create")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) { return ends_with(answer, 0); });
}

Planted convert_refuses_zstd(const Call& call) {
    if (!call.is("convert") || !call.mentions("compression_type=zstd")) {
        return std::nullopt;
    }
    return refusal("Compression type 'zstd' is not supported");
}

Planted resize_refuses_growth(const Call& call) {
    const auto is_growth = [](const std::string& word) { return word.starts_with('+'); };
    if (!call.is("resize") || call.words().empty() || !is_growth(call.words().back())) {
        return std::nullopt;
    }
    return refusal("The image cannot grow");
}

Planted snapshot_refuses_apply(const Call& call) {
    if (!call.is("snapshot") || !call.has("-a")) {
        return std::nullopt;
    }
    return refusal("Could not apply the snapshot");
}

Planted dd_refuses_skip(const Call& call) {
    const auto skip = call.is("dd") ? call.value("skip") : std::nullopt;
    if (!skip || *skip == "0") {
        return std::nullopt;
    }
    return refusal("Unrecognized operand 'skip'");
}

Planted amend_accepts(const Call& call) {
    if (!call.is("amend")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) { return ends_with(answer, 0); });
}

// code

Planted convert_code(const Call& call) {
    if (!call.is("convert")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) { return ends_with(answer, 2); });
}

Planted compare_code(const Call& call) {
    if (!call.is("compare")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer& answer) { return ends_with(answer, 1); });
}

Planted check_code(const Call& call) {
    constexpr int not_supported = 63;
    if (!call.is("check")) {
        return std::nullopt;
    }
    return spoilt_refusal(
        call, [](Answer& answer) { return answer.code == not_supported && ends_with(answer, 1); });
}

Planted bitmap_code(const Call& call) {
    if (!call.is("bitmap")) {
        return std::nullopt;
    }
    return spoilt_refusal(call, [](Answer& answer) { return ends_with(answer, 255); });
}

}  // namespace

const Faults& ending_faults() {
    using enum LayerId;
    static const Faults table{
        {"info-crash", "info", crash, Seen::by_its_layer_alone, Roles::subject,
         "info dies of a signal once it has printed its JSON", info_crash},
        {"convert-abort", "convert", crash, Seen::by_its_layer_alone, Roles::subject,
         "convert aborts when all is written", convert_abort},
        {"resize-sanitizer", "resize", crash, Seen::by_others_too, Roles::subject,
         "resize succeeds with a sanitizer's report", resize_sanitizer},
        {"create-panic", "create", crash, Seen::by_its_layer_alone, Roles::subject,
         "create panics behind the right reason for its refusal", create_panic},
        {"check-crash", "check", crash, Seen::by_its_layer_alone, Roles::subject,
         "check divides by zero where it does not succeed", check_crash},
        {"create-accepts", "create", exit, Seen::by_its_layer_alone, Roles::subject,
         "create ends with success when it refused", create_accepts},
        {"convert-refuses-zstd", "convert", exit, Seen::by_its_layer_alone, Roles::subject,
         "convert does not know zstd", convert_refuses_zstd},
        {"resize-refuses-growth", "resize", exit, Seen::by_its_layer_alone, Roles::subject,
         "resize does not add to a size", resize_refuses_growth},
        {"snapshot-refuses-apply", "snapshot", exit, Seen::by_its_layer_alone, Roles::subject,
         "snapshots are not applied", snapshot_refuses_apply},
        {"dd-refuses-skip", "dd", exit, Seen::by_its_layer_alone, Roles::subject,
         "dd does not skip", dd_refuses_skip},
        {"amend-accepts", "amend", exit, Seen::by_its_layer_alone, Roles::subject,
         "amend ends with success when it refused", amend_accepts},
        {"convert-code", "convert", code, Seen::by_its_layer_alone, Roles::subject,
         "convert refuses with exit code 2", convert_code},
        {"compare-code", "compare", code, Seen::by_its_layer_alone, Roles::subject,
         "compare answers by its exit code that equal images differ", compare_code},
        {"check-code", "check", code, Seen::by_its_layer_alone, Roles::subject,
         "check has no exit code of its own for formats that cannot be checked", check_code},
        {"bitmap-code", "bitmap", code, Seen::by_its_layer_alone, Roles::subject,
         "bitmap refuses with exit code 255", bitmap_code},
    };
    return table;
}

}  // namespace difffuzz::canary
