// The compare function of each layer, defined in oracles/<layer>_layer.cpp. Only the table in
// layer.cpp and tests of a single layer need these; everyone else goes through layers().
#pragma once

#include "oracles/layer.hpp"

namespace difffuzz {

LayerResult compare_setup(const Comparison& comparison);
LayerResult compare_spawn(const Comparison& comparison);
LayerResult compare_timeout(const Comparison& comparison);
LayerResult compare_crash(const Comparison& comparison);
LayerResult compare_exit(const Comparison& comparison);
LayerResult compare_code(const Comparison& comparison);
LayerResult compare_header(const Comparison& comparison);
LayerResult compare_error(const Comparison& comparison);
LayerResult compare_json(const Comparison& comparison);
LayerResult compare_text(const Comparison& comparison);
LayerResult compare_inputs(const Comparison& comparison);
LayerResult compare_files(const Comparison& comparison);
LayerResult compare_content(const Comparison& comparison);
LayerResult compare_check(const Comparison& comparison);
LayerResult compare_bytes(const Comparison& comparison);
LayerResult compare_relations(const Comparison& comparison);
LayerResult compare_determinism(const Comparison& comparison);
LayerResult compare_resource(const Comparison& comparison);

}  // namespace difffuzz
