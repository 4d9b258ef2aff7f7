// The structure of what was written is wrong, or its bytes are other ones.
#include "apps/canary/image_edits.hpp"
#include "apps/canary/planting.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;
using Edit = bool (*)(const std::string& name);

Planted edits_target(const Call& call, std::string_view command, Edit edit) {
    if (!call.is(command)) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return edit(call.target()); });
}

Planted resize_copied_flag(const Call& call) {
    return edits_target(call, "resize", flip_copied_flag);
}
Planted amend_leak(const Call& call) { return edits_target(call, "amend", leak_cluster); }
Planted snapshot_leak(const Call& call) {
    return call.has("-l") ? std::nullopt : edits_target(call, "snapshot", leak_cluster);
}
Planted convert_refcount(const Call& call) {
    return edits_target(call, "convert", forget_reference);
}
Planted dd_vdi_blocks(const Call& call) { return edits_target(call, "dd", miscount_blocks); }

// Says what it repaired, and has made a leak of its own.
Planted repair_leak(const Call& call) {
    return call.has("-r") ? edits_target(call, "check", leak_cluster) : std::nullopt;
}

// bytes

Planted create_padding(const Call& call) {
    return edits_target(call, "create", flip_header_padding);
}
Planted convert_feature_name(const Call& call) {
    return edits_target(call, "convert", respell_feature);
}
Planted dd_longer(const Call& call) {
    return call.target().ends_with(".qcow2")
               ? edits_target(call, "dd",
                              [](const std::string& name) { return append_hole(name, 512); })
               : std::nullopt;
}
Planted compressed_feature_name(const Call& call) {
    return call.has("-c") ? edits_target(call, "convert", respell_feature) : std::nullopt;
}

}  // namespace

const Faults& structure_faults() {
    using enum LayerId;
    static const Faults table{
        {"resize-copied-flag", "resize", check, Seen::by_its_layer_alone, Roles::subject,
         "resize inverts the flag that a cluster is nobody else's", resize_copied_flag},
        {"amend-leak", "amend", check, Seen::by_its_layer_alone, Roles::subject,
         "amend leaves a cluster that is nobody's", amend_leak},
        {"snapshot-leak", "snapshot", check, Seen::by_its_layer_alone, Roles::subject,
         "snapshots leave a cluster that is nobody's", snapshot_leak},
        {"convert-refcount", "convert", check, Seen::by_its_layer_alone, Roles::subject,
         "convert counts a cluster with data as free", convert_refcount},
        {"dd-vdi-blocks", "dd", check, Seen::by_its_layer_alone, Roles::subject,
         "dd miscounts the blocks of a vdi image", dd_vdi_blocks},
        {"repair-leak", "repair", check, Seen::by_others_too, Roles::subject,
         "check -r leaves a cluster that is nobody's", repair_leak},
        {"create-padding", "create", bytes, Seen::by_its_layer_alone, Roles::subject,
         "create writes where nothing is in the header cluster", create_padding},
        {"convert-feature-name", "convert", bytes, Seen::by_its_layer_alone, Roles::subject,
         "convert misspells a feature in the header", convert_feature_name},
        {"dd-longer", "dd", bytes, Seen::by_its_layer_alone, Roles::subject,
         "dd makes a qcow2 file a sector longer", dd_longer},
        {"compressed-feature-name", "convert_compressed", bytes, Seen::by_its_layer_alone,
         Roles::subject, "convert -c misspells a feature in the header", compressed_feature_name},
    };
    return table;
}

}  // namespace difffuzz::canary
