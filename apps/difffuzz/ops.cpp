// difffuzz ops: the operations there are.
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "core/errors.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

int ops(const Flags& flags) {
    nlohmann::json list = nlohmann::json::array();
    for (const Operation* operation : operations()) {
        if (flags.json) {
            list.push_back({{"name", operation->name},
                            {"summary", operation->summary},
                            {"weight", operation->weight}});
        } else {
            std::cout << fmt::format("{:<20} {:>3}  {}\n", operation->name, operation->weight,
                                     operation->summary);
        }
    }
    if (flags.json) {
        std::cout << list.dump(2) << "\n";
    }
    return static_cast<int>(ExitCode::holds);
}

}  // namespace

CommandSpec ops_command() {
    return {"ops", "lists the operations and their weights", "difffuzz ops", {"--json"}, "", 0, 0,
            ops};
}

}  // namespace difffuzz
