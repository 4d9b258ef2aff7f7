// Every feature of images is needed by some drawn case: without it the case is another, or costs
// another amount, or the reference says or writes something else.
#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "images/format.hpp"
#include "ops/reach.hpp"
#include "pickers/image_feature.hpp"
#include "tests/support/run_tool.hpp"

namespace difffuzz {
namespace {

bool same(const Cost& a, const Cost& b) { return a.within(b) && b.within(a); }

// What the reference says in all steps, and the bytes of all files in the end.
std::string trace_of(const Case& c) {
    const test::ScratchDirectory directory;
    test::RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    std::string trace;
    for (const Step& step : c.steps) {
        std::vector<std::string> argv = render_step(c, step);
        argv.insert(argv.begin(), std::string(program_of(step)));
        const Outcome outcome = test::run_tool(directory.path(), argv);
        trace += outcome.out.head + outcome.err.head;
    }
    for (const OutputImage& output : c.outputs) {
        const auto file = directory.path() / file_name(output.id, output.format);
        trace += std::filesystem::exists(file) ? test::read_file(file) : "none";
    }
    return trace;
}

bool is_needed(const Operation& operation, const Case& c, const ImageFeature& feature) {
    Case without = c;
    for (ImageRecipe& image : without.images) {
        if (feature.has(image)) {
            feature.drop(image);
            EXPECT_FALSE(feature.has(image)) << feature.name;
        }
    }
    return !validate(without).empty() || !same(operation.cost(c), operation.cost(without)) ||
           trace_of(c) != trace_of(without);
}

TEST(ImageFeatures, AreEachNeededBySomeCase) {
    // What says most about an image, and what copies it.
    Plan plan = default_plan();
    plan.operations = parse_operations("info,map,check,measure,convert");
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    const Reach& reach = reach_of(plan);
    for (const ImageFeature& feature : image_features()) {
        bool needed = false;
        unsigned tried = 0;
        for (const ReachPair& pair : reach.pairs()) {
            if (needed || pair.kind != PairKind::feature_format || pair.first != feature.name) {
                continue;
            }
            for (std::uint64_t i = 0; i < 20 && !needed; ++i) {
                if (const auto c = draw_steered(plan, pair, 3, i, 0)) {
                    ++tried;
                    needed = is_needed(*find_operation(pair.operation), *c, feature);
                }
            }
        }
        EXPECT_TRUE(needed) << feature.name << ", not in " << tried << " cases";
    }
}

}  // namespace
}  // namespace difffuzz
