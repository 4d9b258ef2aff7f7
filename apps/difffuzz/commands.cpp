// The table of sub-commands: one row each.
#include "apps/difffuzz/flags.hpp"

namespace difffuzz {

const std::vector<CommandSpec>& commands() {
    static const std::vector<CommandSpec> table{
        run_command(),     draw_command(),  repro_command(),   shrink_command(),
        report_command(),  ops_command(),   known_command(),   selftest_command(),
        file_command(),    probe_command(), recipe_command(),  replay_command(),
        promote_command(), merge_command(), evidence_command()};
    return table;
}

}  // namespace difffuzz
