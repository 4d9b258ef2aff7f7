#include "oracles/crash_sign.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_line_bytes = 4096;

constexpr std::array<std::string_view, 6> sanitizer_signs{
    "ERROR: AddressSanitizer", "ERROR: LeakSanitizer",     "WARNING: MemorySanitizer",
    "ERROR: MemorySanitizer",  "WARNING: ThreadSanitizer", "runtime error: "};
constexpr std::array<std::string_view, 5> assertion_signs{
    "Assertion `", "assertion failed", "panicked at", "internal error", "Internal error"};

// The line around the first of the signs that is there.
template <std::size_t Size>
std::string line_with(const Stream& stream, const std::array<std::string_view, Size>& signs) {
    const std::string text = stream_text(stream);
    for (const std::string_view sign : signs) {
        const std::size_t found = text.find(sign);
        if (found == std::string::npos) {
            continue;
        }
        const std::size_t before = text.rfind('\n', found);
        const std::size_t start = before == std::string::npos ? 0 : before + 1;
        const std::size_t end = std::min(text.find('\n', found), text.size());
        // An overlong line is cut before the sign, so that the sign is kept.
        const std::size_t from = found - start > max_line_bytes ? found : start;
        return text.substr(from, std::min(end - from, max_line_bytes));
    }
    return {};
}

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return name != nullptr ? std::string("SIG") + name : std::string("SIGRT");
}

}  // namespace

std::optional<CrashSign> crash_sign(const Outcome& outcome) {
    const auto* signalled = std::get_if<Signalled>(&outcome.ending);
    if (signalled == nullptr && !std::holds_alternative<Exited>(outcome.ending)) {
        return std::nullopt;
    }
    const std::string signal = signalled != nullptr ? signal_name(signalled->signal) : "";
    for (const Stream* stream : {&outcome.err, &outcome.out}) {
        if (std::string line = line_with(*stream, sanitizer_signs); !line.empty()) {
            return CrashSign{"sanitizer", std::move(line), signal};
        }
    }
    if (std::string line = line_with(outcome.err, assertion_signs); !line.empty()) {
        return CrashSign{"assertion", std::move(line), signal};
    }
    if (signalled != nullptr) {
        return CrashSign{"signal", "", signal};
    }
    return std::nullopt;
}

}  // namespace difffuzz
