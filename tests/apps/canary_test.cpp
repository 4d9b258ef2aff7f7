// The table of planted faults, and the stand-in as a program.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/canary/fault.hpp"
#include "apps/difffuzz_process.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/tools/stand_in.hpp"
#include "ops/operation.hpp"

namespace difffuzz::test {
namespace {

using canary::Fault;
using canary::faults;
using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(PlantedFaults, CoverEveryLayerThatIsNoGateAndEveryOperation) {
    std::map<LayerId, unsigned> meant;
    std::map<LayerId, unsigned> alone;
    std::set<std::string_view> operations_with;
    std::set<std::string_view> names;
    for (const Fault& fault : faults()) {
        ++meant[fault.layer];
        alone[fault.layer] += fault.seen == canary::Seen::by_its_layer_alone ? 1 : 0;
        operations_with.insert(fault.operation);
        EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
        EXPECT_NE(find_operation(fault.operation), nullptr) << fault.name;
        EXPECT_LE(fault.budget, 300U) << fault.name;
        EXPECT_FALSE(fault.what.empty()) << fault.name;
    }
    EXPECT_GE(faults().size(), 60U);
    for (const Layer& layer : layers()) {
        if (!layer.gate) {
            EXPECT_GE(meant[layer.id], 3U) << to_string(layer.id);
            EXPECT_GE(alone[layer.id], 1U) << to_string(layer.id);
        } else {
            EXPECT_EQ(meant[layer.id], 0U) << to_string(layer.id);
        }
    }
    for (const Operation* operation : operations()) {
        EXPECT_TRUE(operations_with.contains(operation->name)) << operation->name;
    }
}

TEST(PlantedFaults, HaveExhibitsWithinTheEnvelopeOfTheirOperation) {
    for (const Fault& fault : faults()) {
        const std::string_view text = canary::exhibit_of(fault.name);
        ASSERT_FALSE(text.empty()) << fault.name;
        const Case c = case_from_text(std::string(text));
        EXPECT_EQ(c.operation, fault.operation) << fault.name;
        EXPECT_TRUE(validate(c).empty()) << fault.name;
    }
}

TEST(PlantedFaults, HaveNoExhibitsThatBelongToNone) {
    const fs::path directory = fs::path(DIFFFUZZ_SOURCE_DIR) / "apps" / "canary" / "exhibits";
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(directory)) {
        EXPECT_NE(canary::find_fault(entry.path().stem().string()), nullptr) << entry.path();
        ++files;
    }
    EXPECT_EQ(files, faults().size());
}

class Canary : public testing::Test {
protected:
    Outcome run(std::vector<std::string> words, const std::string& fault = {},
                bool for_tool = true) const {
        std::vector<std::string> argv{"env", "TMPDIR=" + scratch.string()};
        if (for_tool) {
            argv.push_back(std::string(stand_in::program_variable) + "=/usr/bin/qemu-img");
        }
        if (!fault.empty()) {
            argv.push_back(std::string(stand_in::fault_variable) + "=" + fault);
        }
        argv.push_back(std::string(DIFFFUZZ_BINARY_DIR) + "/../libexec/difffuzz/difffuzz-canary");
        argv.insert(argv.end(), words.begin(), words.end());
        return run_tool(scratch.path(), argv);
    }
    bool marked() const { return fs::exists(scratch.path() / stand_in::mark); }

    ScratchDirectory scratch;
};

TEST_F(Canary, WithoutAFaultIsTheToolThatItStandsInFor) {
    const Outcome ours = run({"info", "absent.qcow2"});
    const Outcome theirs = run_tool(scratch.path(), {"qemu-img", "info", "absent.qcow2"});
    EXPECT_EQ(ours.ending, theirs.ending);
    EXPECT_EQ(ours.out, theirs.out);
    EXPECT_EQ(ours.err, theirs.err);
    EXPECT_FALSE(marked());
}

TEST_F(Canary, PlantsTheFaultThatIsNamedAndSaysSo) {
    const std::vector<std::string> info{"info", "--output", "json", "a.raw"};
    ASSERT_EQ(run({"create", "-q", "-f", "raw", "a.raw", "1M"}, "info-json-size").ending,
              Ending(Exited{0}));
    EXPECT_FALSE(marked());
    EXPECT_THAT(run(info).out.head, HasSubstr("\"virtual-size\": 1048576"));
    EXPECT_FALSE(marked());
    EXPECT_THAT(run(info, "info-json-size").out.head, HasSubstr("\"virtual-size\": 1049088"));
    EXPECT_TRUE(marked());
}

TEST_F(Canary, IsOfNoUseByItself) {
    const Outcome alone = run({"info", "a.raw"}, {}, false);
    EXPECT_EQ(alone.ending, Ending(Exited{2}));
    EXPECT_THAT(alone.err.head, HasSubstr("run 'difffuzz selftest'"));
    const Outcome unknown = run({"info", "a.raw"}, "no-such-fault");
    EXPECT_EQ(unknown.ending, Ending(Exited{2}));
    EXPECT_THAT(unknown.err.head, HasSubstr("there is no fault 'no-such-fault'"));
}

TEST(SelftestCommand, SuggestsTheNearestFault) {
    const ScratchDirectory scratch;
    const Ended ended = difffuzz(scratch, {"selftest", "info-crush"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("there is no fault 'info-crush'"));
    EXPECT_THAT(ended.err, HasSubstr("'info-crash'"));
}

}  // namespace
}  // namespace difffuzz::test
