#include "apps/difffuzz/stand_in.hpp"

#include <filesystem>

#include <unistd.h>

#include "apps/canary/fault.hpp"
#include "core/errors.hpp"

namespace difffuzz {

std::string find_canary() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto canary =
        program.parent_path().parent_path() / "libexec" / "difffuzz" / "difffuzz-canary";
    if (error || ::access(canary.c_str(), X_OK) != 0) {
        throw EnvironmentError("the stand-in for the positive control, '" + canary.string() +
                               "', is not there or cannot be executed; it belongs to difffuzz: "
                               "build or install both together");
    }
    return canary;
}

std::vector<PlantedFault> planted_faults() {
    std::vector<PlantedFault> result;
    for (const canary::Fault& fault : canary::faults()) {
        result.push_back({std::string(fault.name), std::string(fault.what),
                          std::string(fault.operation), fault.layer,
                          fault.seen == canary::Seen::by_its_layer_alone,
                          fault.roles == canary::Roles::both, fault.budget,
                          std::string(canary::exhibit_of(fault.name))});
    }
    return result;
}

}  // namespace difffuzz
