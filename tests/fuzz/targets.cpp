#include <algorithm>
#include <array>

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/target_rows.hpp"

namespace difffuzz::fuzz {

std::span<const Target> targets() {
    static const std::array table{
        bench_schedule(),    recipe_json(),      image_reader_raw(), image_reader_qcow2(),
        image_reader_vmdk(), image_reader_vpc(), image_reader_vdi(), registry_toml(),
        header_line(),       bounded_capture(),
    };
    return table;
}

const Target* find_target(std::string_view name) {
    const auto found = std::ranges::find(targets(), name, &Target::name);
    return found == targets().end() ? nullptr : &*found;
}

std::string_view to_string(Tier tier) { return tier == Tier::arithmetic ? "arithmetic" : "rest"; }

}  // namespace difffuzz::fuzz
