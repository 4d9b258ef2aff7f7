// What predicates can say, and what they cannot.
#include "known_divergences/predicates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

using testing::HasSubstr;

const ToolPair pair{{"qemu-img", "7.2.22"}, {"qemu-img", "10.0.13"}};

// Two steps, of which a tool does the second; a damaged image on a backing file.
Case sample() {
    Case c;
    c.operation = "resize";
    ImageRecipe base{"base", "raw", 4096, {}, {}, {}};
    ImageRecipe image{"src", "qcow2", 1 << 20, {}, "base", {}};
    image.options = {{"cluster_size", SizeValue{4096, "4k"}}, {"compat", WordValue{"1.1"}}};
    image.content = {{WriteKind::write, 0, 512, ByteFill{1}}, {WriteKind::zero, 4096, 100, {}}};
    image.damage = {{"header.version", 2, UINT64_MAX}};
    c.images = {base, image};
    c.outputs = {{"out", "vmdk"}};
    c.steps.push_back({Actor::neutral, "io", "write", ValidIntent{}, {{"", ImageValue{"base"}}}});
    c.steps.push_back({Actor::tool,
                       "resize",
                       "resize",
                       RefusedIntent{"too-small"},
                       {{"-f", WordValue{"qcow2"}},
                        {"-o", OptionList{{{"size", SizeValue{1024, "0x400"}}}}},
                        {"", ImageValue{"src"}},
                        {"", SizeValue{UINT64_MAX, "16E"}}}});
    return c;
}

KnownDivergence entry_with(const std::string& predicate) {
    KnownDivergence entry;
    entry.id = "e";
    entry.predicate = predicate;
    entry.predicate_place = {"e.toml", 7};
    return entry;
}

bool holds(const std::string& predicate, std::size_t step = 1) {
    Predicates predicates(pair);
    predicates.add(entry_with(predicate));
    const Case c = sample();
    predicates.set_case(c);
    return predicates.holds(0, step);
}

std::string refusal(const std::string& predicate) {
    try {
        holds(predicate);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Predicates, SeeTheWholeCase) {
    for (const char* predicate : {
             "(SELECT count(*) FROM step) = 2",
             "EXISTS (SELECT 1 FROM step WHERE n = :step AND op = 'resize' AND actor = 'tool' "
             "AND intent = 'refused' AND rule = 'too-small')",
             "EXISTS (SELECT 1 FROM step WHERE n = 0 AND actor = 'neutral' AND intent = 'valid')",
             "(SELECT value FROM arg WHERE step = 1 AND option = '-f') = 'qcow2'",
             "(SELECT number FROM arg WHERE step = 1 AND option = '-o size') = 1024",
             "(SELECT value FROM arg WHERE step = 1 AND option = '-o size') GLOB '0x*'",
             "(SELECT number FROM arg WHERE option = '' AND value = '16E') = 9223372036854775807",
             "(SELECT value FROM arg WHERE step = 1 AND option = '') = 'src'",
             ":image = 'src'",
             "(SELECT role FROM image WHERE id = 'base') = 'backing'",
             "(SELECT role FROM image WHERE id = :image) = 'input'",
             "(SELECT role FROM image WHERE id = 'out') = 'output'",
             "(SELECT depth FROM image WHERE id = 'src') = 1",
             "(SELECT vsize FROM image WHERE id = 'base') = 4096",
             "(SELECT vsize IS NULL FROM image WHERE id = 'out')",
             "(SELECT value FROM feature WHERE image = 'src' AND name = 'cluster_size') = 4096",
             "(SELECT value FROM feature WHERE image = 'src' AND name = 'compat') = '1.1'",
             "(SELECT value FROM feature WHERE image = 'src' AND name = 'backing') = 'base'",
             "(SELECT value FROM feature WHERE image = 'src' AND name = 'writes') = 2",
             "(SELECT sum(length) FROM write WHERE image = 'src') = 612",
             "EXISTS (SELECT 1 FROM write WHERE kind = 'zero' AND offset = 4096)",
             "EXISTS (SELECT 1 FROM damage WHERE image = 'src' AND field = 'header.version' AND "
             "place = 2 AND value = 9223372036854775807)",
             "1 -- with a comment",
         }) {
        EXPECT_TRUE(holds(predicate)) << predicate;
    }
    EXPECT_FALSE(holds("NULL"));
    EXPECT_FALSE(holds("0"));
    EXPECT_FALSE(holds(":image = 'src'", 0));
}

TEST(Predicates, CompareVersionsAsVersions) {
    EXPECT_TRUE(holds("EXISTS (SELECT 1 FROM pair WHERE role = 'subject' AND version < '10.0')"));
    EXPECT_TRUE(
        holds("(SELECT version FROM pair WHERE role = 'subject') < '10.0' COLLATE version"));
    EXPECT_TRUE(
        holds("EXISTS (SELECT 1 FROM pair WHERE role = 'reference' AND tool = 'qemu-img' "
              "AND version > '9.2')"));
    EXPECT_FALSE(holds("EXISTS (SELECT 1 FROM pair WHERE role = 'reference' AND version < '7.2')"));
}

TEST(Predicates, AnotherCaseIsAnotherAnswer) {
    Predicates predicates(pair);
    predicates.add(entry_with("(SELECT count(*) FROM image) = 2"));
    Case c = sample();
    c.outputs.clear();
    predicates.set_case(c);
    EXPECT_TRUE(predicates.holds(0, 1));
    const Case more = sample();
    predicates.set_case(more);
    EXPECT_FALSE(predicates.holds(0, 1));
}

TEST(Predicates, ReadAndComputeAndNothingElse) {
    for (const char* predicate : {
             "(SELECT count(*) FROM sqlite_master)",
             "(SELECT name FROM pragma_table_info('step'))",
             "random()",
             "date('now') = ''",
             "load_extension('x')",
             "hex(randomblob(9))",
             "printf('%s', 1)",
             "zeroblob(1000000)",
             "(WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n FROM x)",
         }) {
        EXPECT_THAT(refusal(predicate),
                    testing::AllOf(HasSubstr("'e.toml', line 7: known divergence 'e'"),
                                   HasSubstr("what predicates may not use")))
            << predicate;
    }
    for (const char* predicate :
         {"1), 0) FROM step WHERE ifnull((1", "1); DELETE FROM step; SELECT (1",
          "1); ATTACH 'x' AS y; SELECT (1", "1); PRAGMA x; --", "1), (2",
          "1) FROM step WHERE (1"}) {
        EXPECT_THAT(refusal(predicate), testing::Not("accepted")) << predicate;
    }
    EXPECT_THAT(refusal("1), (2"), HasSubstr("no SQL expression"));
    EXPECT_THAT(refusal("ATTACH 'x' AS y"), HasSubstr("no SQL expression"));
    EXPECT_THAT(refusal("PRAGMA user_version"), HasSubstr("no SQL expression"));
    EXPECT_THAT(refusal("nonsense"), HasSubstr("no such column"));
    EXPECT_THAT(refusal("\"nonsense\""), HasSubstr("no such column"));
    EXPECT_THAT(refusal(""), HasSubstr("no SQL expression"));
    EXPECT_THAT(refusal(":other = 1"), HasSubstr(":step and :image and no other"));
    EXPECT_THAT(refusal("? = 1"), HasSubstr(":step and :image and no other"));
    EXPECT_THAT(refusal(std::string(300, '(') + "1" + std::string(300, ')')),
                testing::Not("accepted"));
}

TEST(Predicates, AreBoundedInStepsAndNotInTime) {
    // Every combination of sixteen arguments.
    std::string joined = "(SELECT count(*) FROM arg a0";
    for (int i = 1; i < 16; ++i) {
        joined += ", arg a" + std::to_string(i);
    }
    EXPECT_THAT(refusal(joined + ")"),
                testing::AllOf(HasSubstr("'e.toml', line 7"), HasSubstr("takes more than 200000")));
    EXPECT_THAT(refusal("(SELECT sum(9223372036854775807) FROM arg)"),
                HasSubstr("cannot be computed for every case: integer overflow"));
}

}  // namespace
}  // namespace difffuzz
