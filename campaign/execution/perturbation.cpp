#include "campaign/execution/perturbation.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace difffuzz {
namespace {

constexpr std::uint32_t strict_file_mask = 077;

// Replaces the entry of that name, or adds it.
void set(Command& command, std::string_view name, std::string_view value) {
    std::string entry = std::string(name) + "=";
    const auto found = std::ranges::find_if(
        command.environment, [&](const std::string& one) { return one.starts_with(entry); });
    entry += value;
    if (found == command.environment.end()) {
        command.environment.push_back(std::move(entry));
    } else {
        *found = std::move(entry);
    }
}

}  // namespace

std::string_view to_string(Again again) {
    switch (again) {
        case Again::no:
            return "no";
        case Again::at_once:
            return "at once";
        case Again::later_second:
            return "later second";
    }
    return "no";
}

void perturb(Command& command) {
    command.file_mask = strict_file_mask;
    // A zone by its own definition and a locale that glibc has built in: there is no file to miss.
    set(command, "TZ", "AWAY-5:45");
    set(command, "LC_ALL", "C.UTF-8");
    set(command, "PYTHONHASHSEED", "4242");
    set(command, "PERL_HASH_SEED", "4242");
    set(command, "PERL_PERTURB_KEYS", "2");
    set(command, "MALLOC_PERTURB_", "165");
}

void wait_for_later_second(std::time_t second) {
    using Clock = std::chrono::system_clock;
    const Clock::time_point next = Clock::from_time_t(second + 1);
    // A clock that was set back must not hold us up.
    while (std::time(nullptr) == second) {
        std::this_thread::sleep_for(
            std::min<Clock::duration>(next - Clock::now(), std::chrono::seconds(1)));
    }
}

}  // namespace difffuzz
