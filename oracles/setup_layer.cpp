#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"

namespace difffuzz {

LayerResult compare_setup(const Comparison& comparison) {
    return sides_of(comparison) ? LayerResult::agree()
                                : LayerResult::inconclusive(std::string(reason::step_not_run));
}

}  // namespace difffuzz
