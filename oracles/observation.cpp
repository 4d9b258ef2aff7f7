#include "oracles/observation.hpp"

namespace difffuzz {

std::string_view to_string(InspectionKind kind) {
    switch (kind) {
        case InspectionKind::content:
            return "content";
        case InspectionKind::check:
            return "check";
        case InspectionKind::info:
            return "info";
    }
    return "unknown";
}

}  // namespace difffuzz
