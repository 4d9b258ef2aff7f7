// What both sides get wrong shows against the case's own model.
#include "reporting/reports/reproduce_script.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"
#include "images/format.hpp"
#include "oracles/layer.hpp"
#include "tests/support/run_tool.hpp"

namespace difffuzz {
namespace {

using testing::HasSubstr;

// One byte is written to a cluster of zeros over a backing file that is all B.
Case written_over_zeros(const std::string& format, bool zeroed) {
    Case c;
    c.operation = "bench";
    ImageRecipe base;
    base.id = "base";
    base.format = "raw";
    base.size = 65536;
    base.content = {{WriteKind::write, 0, 65536, ByteFill{'B'}}};
    ImageRecipe top;
    top.id = "src";
    top.format = format;
    top.size = 65536;
    top.backing = "base";
    if (zeroed) {
        top.content = {{WriteKind::zero, 0, 65536, ByteFill{}}};
    }
    c.images = {base, top};
    Step step{Actor::tool, "bench", "bench", ValidIntent{}, {}};
    step.arguments = {{"-f", WordValue{format}}, {"-c", NumberValue{1}}, {"-d", NumberValue{1}},
                      {"-s", plain_size(1)},     {"-o", plain_size(0)},  {"-w", std::nullopt},
                      {"", ImageValue{"src"}}};
    c.steps = {step};
    return c;
}

CaseResult both_wrong_at(std::uint64_t offset) {
    CaseResult result;
    Difference difference;
    difference.symptom.operation = "bench";
    difference.symptom.layer = LayerId::content;
    difference.symptom.layer_name = "write";
    difference.symptom.direction = Direction::both;
    difference.symptom.field = "data";
    difference.symptom.subject_class = difference.symptom.reference_class = "succeeded";
    difference.details = {{"image", "src"}, {"snapshot", ""}, {"first", {{"offset", offset}}}};
    result.difference = difference;
    return result;
}

Outcome run_script(const Case& c, std::string& script) {
    const test::ScratchDirectory directory;
    test::RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    script = reproduce_script(c, both_wrong_at(700), directory.string());
    std::ofstream(directory.path() / "reproduce.sh") << script;
    return test::run_tool(directory.path(),
                          {"/usr/bin/env", "SUBJECT=qemu-img", "bash", "reproduce.sh"});
}

TEST(ReproduceScriptOfBoth, HoldsWhatBothReadAgainstTheCase) {
    std::string script;
    // qemu-img fills the rest of a qed cluster of zeros from the backing file.
    const Outcome wrong = run_script(written_over_zeros("qed", true), script);
    EXPECT_EQ(wrong.ending, Ending{Exited{0}}) << wrong.out.head << wrong.err.head;
    EXPECT_THAT(wrong.out.head, HasSubstr("subject: the sector at 512 is not what"));
    EXPECT_THAT(wrong.out.head, HasSubstr("reference: the sector at 512 is not what"));
    EXPECT_THAT(script, HasSubstr("holds 512 " + sha256_hex(std::string(512, '\0')) + " subject"));

    const Outcome right = run_script(written_over_zeros("qcow2", true), script);
    EXPECT_EQ(right.ending, Ending{Exited{1}}) << right.out.head << right.err.head;
    const Outcome shown_through = run_script(written_over_zeros("qed", false), script);
    EXPECT_EQ(shown_through.ending, Ending{Exited{1}})
        << shown_through.out.head << shown_through.err.head;
    EXPECT_THAT(script, HasSubstr("holds 512 " + sha256_hex(std::string(512, 'B')) + " subject"));
}

}  // namespace
}  // namespace difffuzz
