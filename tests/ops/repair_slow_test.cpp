// Damage that is said to spare data does, in the hands of the real tool.
#include <filesystem>

#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "images/format.hpp"
#include "images/virtual_content.hpp"
#include "ops/operation.hpp"
#include "pickers/repair_damage.hpp"
#include "support/run_tool.hpp"

namespace difffuzz {
namespace {

bool is_spared(const Case& c) {
    std::size_t damaged = 0;
    for (const ImageRecipe& image : c.images) {
        if (!spares_data(image) || (!image.damage.empty() && !image.bitmaps.empty())) {
            return false;
        }
        damaged += image.damage.size();
    }
    return damaged != 0;
}

TEST(RepairDamage, ThatSparesDataKeepsThemAndRepairsConverge) {
    Plan plan = default_plan();
    plan.operations = {{"repair", 1}};
    unsigned repaired = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
        const Case c = draw_case(plan, 31, i, 0);
        if (!is_spared(c)) {
            continue;
        }
        const test::ScratchDirectory directory;
        test::RealTools tools(directory.path());
        build_images(c, directory.string(), tools);
        std::vector<std::string> words = render_step(c, c.steps[0]);
        words.insert(words.begin(), {"timeout", "10", "qemu-img"});
        if (test::run_tool(directory.path(), words).ending != Ending{Exited{0}}) {
            continue;
        }
        ++repaired;
        for (const InspectionRequest& request : find_operation("repair")->inspections(c, 0)) {
            if (!request.despite_damage) {
                continue;
            }
            const std::string name = file_name_of(c, request.image);
            if (request.kind == InspectionKind::check) {
                EXPECT_EQ(test::run_tool(directory.path(),
                                         {"qemu-img", "check", "-f", request.format, name})
                              .ending,
                          Ending{Exited{0}})
                    << "case " << i;
            } else if (request.kind == InspectionKind::content && request.snapshot.empty()) {
                ASSERT_EQ(
                    test::run_tool(directory.path(), {"qemu-img", "convert", "-f", request.format,
                                                      "-O", "raw", name, "flat"})
                        .ending,
                    Ending{Exited{0}})
                    << "case " << i;
                EXPECT_EQ(summarise(*find_format("raw")->open(directory.string(), "flat")),
                          summarise(*model_of(c, *request.expected)))
                    << "case " << i;
            }
        }
    }
    EXPECT_GE(repaired, 50U);
}

}  // namespace
}  // namespace difffuzz
