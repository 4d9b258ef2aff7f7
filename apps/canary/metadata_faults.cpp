// The metadata of what was written is wrong.
#include "apps/canary/planting.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

Planted amend_keeps_lazy(const Call& call) {
    if (!call.is("amend") || !call.mentions("lazy_refcounts=on")) {
        return std::nullopt;
    }
    return call.run(call.with_text("lazy_refcounts=on", "lazy_refcounts=off"));
}

Planted bitmap_flag_dropped(const Call& call) {
    if (!call.is("bitmap") || !call.has("--add") || !call.has("--disable")) {
        return std::nullopt;
    }
    return call.run(call.without("--disable", false));
}

}  // namespace

const Faults& metadata_faults() {
    using enum LayerId;
    static const Faults table{
        {"amend-keeps-lazy", "amend", json, Seen::by_its_layer_alone, Roles::subject,
         "amend turns lazy refcounts off when asked to turn them on", amend_keeps_lazy},
        {"bitmap-flag-dropped", "bitmap", json, Seen::by_others_too, Roles::subject,
         "bitmap --add --disable makes a bitmap that records", bitmap_flag_dropped},
    };
    return table;
}

}  // namespace difffuzz::canary
