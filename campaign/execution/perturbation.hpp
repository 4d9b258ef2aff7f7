// What the second run of a case gets to see otherwise than the first.
#pragma once

#include <ctime>
#include <string_view>

#include "core/tools/command.hpp"

namespace difffuzz {

// Whether a case runs again, after the first run of it, to see whether the subject repeats itself.
enum class Again {
    no,
    at_once,
    later_second,  // not before the clock shows another second than at the end of the first run
};
std::string_view to_string(Again again);

// Another time zone, locale and umask; seeds for the hashes of Python and Perl; and memory that is
// not zero when it comes from, or goes back to, glibc's allocator. The directory is another one
// anyway, and deeper (Sandbox::again_side).
void perturb(Command& command);

// Returns once the clock shows another second than `second`.
void wait_for_later_second(std::time_t second);

}  // namespace difffuzz
