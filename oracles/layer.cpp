#include "oracles/layer.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "oracles/layer_functions.hpp"

namespace difffuzz {

std::string_view to_string(LayerVerdict verdict) {
    switch (verdict) {
        case LayerVerdict::agree:
            return "agree";
        case LayerVerdict::diverge:
            return "diverge";
        case LayerVerdict::inconclusive:
            return "inconclusive";
        case LayerVerdict::not_applicable:
            return "not applicable";
    }
    return "unknown";
}

LayerResult LayerResult::agree(std::vector<std::string_view> needed) {
    return {LayerVerdict::agree, {}, std::nullopt, std::move(needed)};
}

LayerResult LayerResult::not_applicable(std::string reason) {
    return {LayerVerdict::not_applicable, std::move(reason), std::nullopt, {}};
}

LayerResult LayerResult::inconclusive(std::string reason) {
    return {LayerVerdict::inconclusive, std::move(reason), std::nullopt, {}};
}

LayerResult LayerResult::diverge(Difference difference) {
    return {LayerVerdict::diverge, {}, std::move(difference), {}};
}

const std::vector<Layer>& layers() {
    static const std::vector<Layer> table{
        {LayerId::setup, true, "Both sides ran the step.", compare_setup},
        {LayerId::spawn, true, "Both tools started.", compare_spawn},
        {LayerId::timeout, true, "No limit of ours ended a tool.", compare_timeout},
        {LayerId::crash, false, "No tool died of a signal, a sanitizer or an assertion.",
         compare_crash},
        {LayerId::exit, false, "Both succeeded or both refused.", compare_exit},
        {LayerId::code, false, "The exit codes are equal.", compare_code},
        {LayerId::header, false, "The first line of output is the same.", compare_header},
        {LayerId::error, false, "Both refused for the same stated reason.", compare_error},
        {LayerId::json, false, "JSON output and the written images' metadata agree field by field.",
         compare_json},
        {LayerId::text, false, "Text output and warnings are the same.", compare_text},
        {LayerId::inputs, false, "No image changed that the step only reads.", compare_inputs},
        {LayerId::files, false, "The same files, and nothing else, were left behind.",
         compare_files},
        {LayerId::content, false, "Images hold the same data, and what the model says.",
         compare_content},
        {LayerId::check, false, "Written images are structurally clean.", compare_check},
        {LayerId::bytes, false, "Written files are the same, byte for byte.", compare_bytes},
        {LayerId::relations, false, "What one tool says and writes fits together.",
         compare_relations},
        {LayerId::determinism, false,
         "The subject does the same again in another directory, time zone, locale and umask.",
         compare_determinism},
        {LayerId::resource, false,
         "The subject takes no more memory, writes and processes than several times the "
         "reference's.",
         compare_resource},
    };
    return table;
}

const Layer& layer(LayerId id) {
    const auto found = std::find_if(layers().begin(), layers().end(),
                                    [id](const Layer& row) { return row.id == id; });
    assert(found != layers().end());
    return *found;
}

}  // namespace difffuzz
