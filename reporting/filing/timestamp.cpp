#include "reporting/filing/timestamp.hpp"

#include <chrono>
#include <cstdio>

#include <fmt/format.h>

namespace difffuzz {

std::string utc_text(std::int64_t seconds) {
    using namespace std::chrono;
    const sys_seconds at{std::chrono::seconds(seconds)};
    const sys_days day = floor<days>(at);
    const year_month_day date(day);
    const hh_mm_ss time(at - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::optional<std::int64_t> parse_time(const std::string& text) {
    using namespace std::chrono;
    int year_number = 0;
    unsigned month_number = 0;
    unsigned day_number = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
    int used = 0;
    if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d%n", &year_number, &month_number,
                    &day_number, &hour, &minute, &second, &used) != 6) {
        return std::nullopt;
    }
    std::size_t at = static_cast<std::size_t>(used);
    if (at < text.size() && text[at] == '.') {
        at = text.find_first_not_of("0123456789", at + 1);
    }
    int offset = 0;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
        int hours_off = 0;
        int minutes_off = 0;
        if (std::sscanf(text.c_str() + at + 1, "%2d:%2d", &hours_off, &minutes_off) != 2) {
            return std::nullopt;
        }
        offset = (hours_off * 60 + minutes_off) * (text[at] == '+' ? 60 : -60);
    }
    const year_month_day date{year(year_number), month(month_number), day(day_number)};
    if (!date.ok()) {
        return std::nullopt;
    }
    return sys_seconds(sys_days(date)).time_since_epoch().count() + hour * 3600 + minute * 60 +
           second - offset;
}

}  // namespace difffuzz
