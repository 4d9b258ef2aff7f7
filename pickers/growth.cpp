#include "pickers/growth.hpp"

namespace difffuzz {

std::string_view resize_obstacle(const CaseState& state, const ImageState& image,
                                 std::uint64_t size) {
    const bool old = image.format == "qcow2" && image.version == 2;
    if (old && !image.snapshots.empty()) {
        return "version-2-resize";
    }
    const std::uint64_t before = image.own.size;
    if (size <= before) {
        return {};
    }
    if (image.own.stale_tail) {
        return "stale-tail";
    }
    // What a longer backing file has behind the end must be covered by zeros.
    if (!image.backing || state.at(*image.backing).own.size <= before) {
        return {};
    }
    if (old) {
        return "version-2-resize";
    }
    return image.extended_l2 && before % image.cluster != 0 ? "zeros-in-last-cluster"
                                                            : std::string_view{};
}

}  // namespace difffuzz
