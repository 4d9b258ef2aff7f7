// Voices and their conclusion, from literals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/triage/attribution/attribution.hpp"
#include "ops/operation.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Case case_of(Intent intent, const std::string& operation = "convert") {
    Case c;
    c.operation = operation;
    c.images.push_back({"src", "raw", 1 << 20, {}, {}, {}});
    c.outputs.push_back({"out", "qcow2"});
    c.steps.push_back({Actor::tool, operation, operation, std::move(intent), {}});
    return c;
}

Difference difference(LayerId layer, Direction direction, const std::string& field = "") {
    Difference found;
    found.symptom.layer = layer;
    found.symptom.direction = direction;
    found.symptom.field = field;
    found.details = {{"image", "out"}, {"model", nlohmann::json::object()}};
    return found;
}

// A result in which these layers found something, the first of them first of all.
CaseResult result_with(std::vector<Difference> differences) {
    CaseResult result;
    result.terminal = Terminal::diverged;
    result.difference = differences.front();
    for (Difference& one : differences) {
        const LayerId id = one.symptom.layer;
        result.layers.push_back(
            {id, std::string(to_string(id)), LayerResult::diverge(std::move(one))});
    }
    result.subject.steps.resize(1);
    result.reference.steps.resize(1);
    return result;
}

std::vector<std::string> names(const Attribution& attribution) {
    std::vector<std::string> result;
    for (const Statement& statement : attribution.statements) {
        result.push_back(statement.voice);
    }
    return result;
}

ReadContent holding(std::uint64_t hash) { return {ReadContent::End::read, {1 << 20, {{0, hash}}}}; }
const ReadContent refused{ReadContent::End::refused, {}};

TEST(Attribution, TheModelDecidesInEitherDirection) {
    for (const auto& [direction, blame] :
         {std::pair{Direction::subject, Blame::subject},
          std::pair{Direction::reference, Blame::reference},
          std::pair{Direction::both, Blame::both}, std::pair{Direction::differ, Blame::both}}) {
        const auto attribution = attribute(
            case_of(ValidIntent{}), result_with({difference(LayerId::content, direction, "data")}));
        EXPECT_EQ(attribution.blame, blame);
        EXPECT_THAT(names(attribution), ElementsAre("model"));
        EXPECT_THAT(attribution.statements[0].words, HasSubstr("'out'"));
    }
}

TEST(Attribution, WithoutAModelContentsThatDifferTellNothing) {
    Difference content = difference(LayerId::content, Direction::differ, "data");
    content.details["model"] = nullptr;
    const auto attribution = attribute(case_of(ValidIntent{}), result_with({content}));
    EXPECT_EQ(attribution.blame, Blame::undecided);
    EXPECT_THAT(attribution.statements, IsEmpty());
    EXPECT_EQ(to_json(attribution),
              nlohmann::json({{"side", "undecided"}, {"voices", nlohmann::json::array()}}));
}

TEST(Attribution, TheVoiceThatKnowsBestDecidesAndAllAreHeard) {
    const auto attribution =
        attribute(case_of(ValidIntent{}),
                  result_with({difference(LayerId::json, Direction::differ),
                               difference(LayerId::content, Direction::reference, "data"),
                               difference(LayerId::relations, Direction::subject, "info-size")}));
    EXPECT_EQ(attribution.blame, Blame::reference);
    EXPECT_THAT(names(attribution), ElementsAre("model", "relations"));
    EXPECT_EQ(attribution.statements[1].blame, Blame::subject);
}

TEST(Attribution, LayersThatKnowTheirSidesSpeak) {
    for (const auto& [layer, field, voice] :
         {std::tuple{LayerId::inputs, "content", "inputs"},
          std::tuple{LayerId::files, "escapes", "escapes"},
          std::tuple{LayerId::crash, "signal", "crash"},
          std::tuple{LayerId::json, "unparseable", "syntax"},
          std::tuple{LayerId::check, "corruptions", "structure"},
          std::tuple{LayerId::relations, "info-size", "relations"}}) {
        for (const auto& [direction, blame] : {std::pair{Direction::subject, Blame::subject},
                                               std::pair{Direction::reference, Blame::reference}}) {
            const auto attribution = attribute(case_of(ValidIntent{}),
                                               result_with({difference(layer, direction, field)}));
            EXPECT_EQ(attribution.blame, blame) << voice;
            EXPECT_THAT(names(attribution), ElementsAre(voice));
        }
    }
    // A leftover is no lie about the images.
    EXPECT_EQ(attribute(case_of(ValidIntent{}),
                        result_with({difference(LayerId::files, Direction::subject, "leftover")}))
                  .blame,
              Blame::undecided);
}

TEST(Attribution, WhoRefusesWhatBreaksNoRuleIsWrongAndWhoDoesWhatBreaksOne) {
    const auto blame = [](Intent intent, Direction refuses) {
        return attribute(case_of(std::move(intent)),
                         result_with({difference(LayerId::exit, refuses, "class")}))
            .blame;
    };
    EXPECT_EQ(blame(ValidIntent{}, Direction::subject), Blame::subject);
    EXPECT_EQ(blame(ValidIntent{}, Direction::reference), Blame::reference);
    EXPECT_EQ(blame(RefusedIntent{"rule"}, Direction::subject), Blame::reference);
    EXPECT_EQ(blame(RefusedIntent{"rule"}, Direction::reference), Blame::subject);
    EXPECT_EQ(blame(DamagedIntent{}, Direction::subject), Blame::undecided);
}

TEST(Attribution, AHeaderMustRepeatTheArguments) {
    Case c = case_of(ValidIntent{}, "bench");
    c.outputs.clear();
    c.steps[0].arguments = {
        {"-c", NumberValue{3}}, {"-f", WordValue{"raw"}}, {"", ImageValue{"src"}}};
    const auto line = find_operation("bench")->first_line(c, 0);
    ASSERT_TRUE(line);
    EXPECT_EQ(*line,
              "Sending 3 read requests, 4096 bytes each, 64 in parallel (starting at offset 0, "
              "step size 4096)");
    CaseResult result = result_with({difference(LayerId::header, Direction::differ, "line")});
    const auto blame = [&](const std::string& subject, const std::string& reference) {
        result.subject.steps[0].outcome.out.head = subject;
        result.reference.steps[0].outcome.out.head = reference;
        return attribute(c, result).blame;
    };
    EXPECT_EQ(blame("Sending 2 read requests\n", *line + "\nRun\n"), Blame::subject);
    EXPECT_EQ(blame(*line + "\n", *line + " more\n"), Blame::reference);
    // Another version's wording.
    EXPECT_EQ(blame("Sending 3\n", "Sends 3\n"), Blame::undecided);
}

TEST(Attribution, OfThreeReadersTheOneThatReadsSomethingElseIsWrong) {
    const auto blame = [](CrossReading of_subject, CrossReading of_reference) {
        CaseResult result = result_with({difference(LayerId::text, Direction::differ)});
        result.readings = {std::move(of_subject), std::move(of_reference)};
        return attribute(case_of(ValidIntent{}), result).blame;
    };
    const auto read = [](Direction by, ReadContent subject, ReadContent reference, ReadContent us) {
        return CrossReading{"out",        "qcow2", by, std::move(subject), std::move(reference),
                            std::move(us)};
    };
    constexpr auto subject = Direction::subject;
    constexpr auto reference = Direction::reference;
    const CrossReading fine_subject = read(subject, holding(1), holding(1), holding(1));
    const CrossReading fine = read(reference, holding(1), holding(1), holding(1));
    EXPECT_EQ(blame(fine_subject, fine), Blame::undecided);
    // Its own image, or the other one's.
    EXPECT_EQ(blame(read(subject, holding(2), holding(1), holding(1)), fine), Blame::subject);
    EXPECT_EQ(blame(fine_subject, read(reference, holding(2), holding(1), holding(1))),
              Blame::subject);
    EXPECT_EQ(blame(fine_subject, read(reference, holding(1), holding(2), holding(1))),
              Blame::reference);
    EXPECT_EQ(blame(read(subject, holding(1), holding(2), holding(1)), fine), Blame::reference);
    // Too strict, or the only one to see it.
    EXPECT_EQ(blame(read(subject, holding(1), refused, holding(1)), fine), Blame::undecided);
    // A tool that cannot copy at all.
    EXPECT_EQ(blame(read(subject, refused, holding(1), holding(1)),
                    read(reference, refused, holding(1), holding(1))),
              Blame::undecided);
    // Our own reader alone, or none.
    EXPECT_EQ(blame(read(subject, holding(1), holding(1), holding(2)), fine), Blame::undecided);
    EXPECT_EQ(blame(read(subject, holding(1), holding(2), {}), fine), Blame::undecided);
}

TEST(Attribution, LayoutsThatEverybodyReadsAlikeAreLegal) {
    CaseResult result = result_with({difference(LayerId::json, Direction::differ, "info:~a")});
    const auto read = [](Direction by, std::uint64_t hash) {
        return CrossReading{"out", "qcow2", by, holding(hash), holding(hash), holding(hash)};
    };
    result.readings = {read(Direction::subject, 1), read(Direction::reference, 1)};
    EXPECT_EQ(attribute(case_of(ValidIntent{}), result).blame, Blame::both_legal);
    result.readings = {read(Direction::subject, 1), read(Direction::reference, 2)};
    EXPECT_EQ(attribute(case_of(ValidIntent{}), result).blame, Blame::undecided);
    result.difference->symptom.field = "~a";  // printed by the tools themselves
    result.readings = {read(Direction::subject, 1), read(Direction::reference, 1)};
    EXPECT_EQ(attribute(case_of(ValidIntent{}), result).blame, Blame::undecided);
}

TEST(Attribution, WordsAreNobodysFaultButExitCodesMayBe) {
    Difference words = difference(LayerId::error, Direction::differ, "message");
    words.severity = Severity::detail;
    EXPECT_EQ(attribute(case_of(ValidIntent{}), result_with({words})).blame, Blame::both_legal);
    Difference code = difference(LayerId::code, Direction::differ, "code");
    code.severity = Severity::detail;
    EXPECT_EQ(attribute(case_of(ValidIntent{}), result_with({code})).blame, Blame::undecided);
    // Legal only where nobody is to blame.
    EXPECT_EQ(attribute(case_of(ValidIntent{}),
                        result_with({words, difference(LayerId::inputs, Direction::subject)}))
                  .blame,
              Blame::subject);
}

}  // namespace
}  // namespace difffuzz
