// The table of planted faults, by the order of the layers.
#include "apps/canary/fault.hpp"

#include <algorithm>

namespace difffuzz::canary {

const Faults& faults() {
    static const Faults table = [] {
        Faults all;
        for (const Faults* group :
             {&output_faults(), &metadata_faults(), &ending_faults(), &workspace_faults(),
              &content_faults(), &structure_faults(), &relation_faults(), &determinism_faults(),
              &resource_faults()}) {
            all.insert(all.end(), group->begin(), group->end());
        }
        std::ranges::stable_sort(all, {}, &Fault::layer);
        return all;
    }();
    return table;
}

const Fault* find_fault(std::string_view name) {
    for (const Faults* group : {&faults(), &gate_faults()}) {
        const auto found = std::ranges::find(*group, name, &Fault::name);
        if (found != group->end()) {
            return &*found;
        }
    }
    return nullptr;
}

}  // namespace difffuzz::canary
