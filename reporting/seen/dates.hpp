// Days, as the memory keeps them.
#pragma once

#include <chrono>
#include <string>

namespace difffuzz {

// YYYY-MM-DD, UTC.
std::string date_of(std::chrono::system_clock::time_point time);

}  // namespace difffuzz
