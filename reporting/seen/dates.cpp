#include "reporting/seen/dates.hpp"

#include <fmt/format.h>

namespace difffuzz {

std::string date_of(std::chrono::system_clock::time_point time) {
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                       static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

}  // namespace difffuzz
