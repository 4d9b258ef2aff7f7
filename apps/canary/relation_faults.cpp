// What a tool says and does does not fit together, in both roles alike where only that shows it.
#include <algorithm>

#include "apps/canary/image_edits.hpp"
#include "apps/canary/planting.hpp"
#include "apps/canary/text_edits.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

Planted info_size_off(const Call& call) {
    if (!call.is("info") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call,
                          [](Answer& answer) { return add_in_json(answer, "virtual-size", 512); });
}

Planted map_gap(const Call& call) {
    if (!call.is("map") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(
        call, [](Answer& answer) { return add_to_number(answer.out, "\"length\": ", 512); });
}

Planted compare_ignores_size(const Call& call) {
    if (!call.is("compare")) {
        return std::nullopt;
    }
    return spoilt(call, [](Answer& answer) {
        constexpr std::string_view warning = "Warning: Image size mismatch!\n";
        return replace_first(answer.out, warning, "");
    });
}

Planted measure_too_little(const Call& call) {
    constexpr std::string_view key = "\"required\": ";
    if (!call.is("measure") || !call.wants_json()) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer& answer) {
        const auto number = number_after(answer.out, key);
        if (number) {
            put_number(answer.out, *number, "512");
        }
        return number && number->value > 512;
    });
}

// More than measure says, in one role: nothing else of the image is compared there.
Planted convert_too_long(const Call& call) {
    if (!call.is("convert")) {
        return std::nullopt;
    }
    return spoilt_success(
        call, [&](Answer&) { return append_hole(call.target(), std::uint64_t{8} << 20); });
}

}  // namespace

const Faults& relation_faults() {
    using enum LayerId;
    static const Faults table{
        {"info-size-off", "info", relations, Seen::by_its_layer_alone, Roles::both,
         "info says a size that the image does not have, on both sides", info_size_off},
        {"map-gap", "map", relations, Seen::by_its_layer_alone, Roles::both,
         "the extents of a map overlap, on both sides", map_gap},
        {"compare-ignores-size", "compare", relations, Seen::by_its_layer_alone, Roles::both,
         "compare does not tell of another size, on both sides", compare_ignores_size},
        {"measure-too-little", "measure", relations, Seen::by_its_layer_alone, Roles::both,
         "measure says less than convert writes, on both sides", measure_too_little},
        {"measure-convert-long", "measure", relations, Seen::by_its_layer_alone, Roles::subject,
         "convert writes a larger file than measure says", convert_too_long},
    };
    return table;
}

}  // namespace difffuzz::canary
