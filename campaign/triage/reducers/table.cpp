// The table of reducers: one row each, nothing else here.
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {

const std::vector<Reducer>& reducers() {
    static const std::vector<Reducer> table{
        {"intent", intent_edits}, {"steps", step_edits},         {"absorb", absorb_edits},
        {"images", image_edits},  {"arguments", argument_edits}, {"features", feature_edits},
        {"writes", write_edits},  {"damage", damage_edits},      {"formats", format_edits},
        {"sizes", size_edits},    {"values", value_edits},       {"names", name_edits},
        {"fills", fill_edits},
    };
    return table;
}

}  // namespace difffuzz
