// The table of operations: one row each, nothing else here.
#include "ops/amend.hpp"
#include "ops/bench.hpp"
#include "ops/bitmap.hpp"
#include "ops/check.hpp"
#include "ops/commit.hpp"
#include "ops/compare.hpp"
#include "ops/convert.hpp"
#include "ops/convert_existing.hpp"
#include "ops/create.hpp"
#include "ops/dd.hpp"
#include "ops/info.hpp"
#include "ops/map.hpp"
#include "ops/measure.hpp"
#include "ops/operation.hpp"
#include "ops/rebase.hpp"
#include "ops/repair.hpp"
#include "ops/resize.hpp"
#include "ops/sequence.hpp"
#include "ops/snapshot.hpp"

namespace difffuzz {

const std::vector<const Operation*>& operations() {
    static const std::vector<const Operation*> table{
        &info_operation(),     &check_operation(),
        &convert_operation(),  &convert_compressed_operation(),
        &compare_operation(),  &create_operation(),
        &map_operation(),      &measure_operation(),
        &bench_operation(),    &resize_operation(),
        &dd_operation(),       &snapshot_operation(),
        &bitmap_operation(),   &convert_existing_operation(),
        &commit_operation(),   &amend_operation(),
        &rebase_operation(),   &repair_operation(),
        &sequence_operation(),
    };
    return table;
}

}  // namespace difffuzz
