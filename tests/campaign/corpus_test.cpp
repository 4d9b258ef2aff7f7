// Entries of a corpus, what becomes of them, and git's index, from literals.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "campaign/corpus/corpus.hpp"
#include "campaign/corpus/git_index.hpp"
#include "campaign/execution/recorded.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"
#include "support/observations.hpp"
#include "support/run_tool.hpp"

namespace difffuzz::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

Case info_case(const std::string& format = "raw") {
    Case c;
    c.operation = "info";
    c.images.push_back({"src", format, 65536, {}, {}, {}});
    c.steps.push_back({Actor::tool, "info", "info", ValidIntent{}, {{"", ImageValue{"src"}}}});
    return c;
}

Symptom info_symptom() {
    Symptom symptom;
    symptom.operation = "info";
    symptom.layer = LayerId::exit;
    symptom.layer_name = "exit";
    symptom.subject_class = "refused";
    symptom.reference_class = "succeeded";
    symptom.field = "class";
    return symptom;
}

json open_entry() {
    return {{"schema", "difffuzz.corpus/1"},
            {"state", "open"},
            {"why", "it refuses"},
            {"subject", {{"tool", "qemu-img"}, {"versions", ">=7.2 <8.0"}}},
            {"recipe", to_json(info_case())},
            {"symptom", to_json(info_symptom())},
            {"recorded",
             {{"version", "qemu-img version 7.2.22"},
              {"outcomes", {{{"code", 0}, {"stdout", "image: src.raw\n"}, {"stderr", ""}}}}}}};
}

CorpusEntry parsed(const json& entry) {
    return parse_corpus_entry({"name", "name.json", entry.dump()});
}

std::string error_with(const char* pointer, const json& value) {
    json entry = open_entry();
    entry[json::json_pointer(pointer)] = value;
    try {
        parsed(entry);
    } catch (const RecipeError& error) {
        return error.what();
    }
    return {};
}

CaseReport run_of(Terminal terminal) {
    CaseReport report;
    report.terminal = terminal;
    if (terminal == Terminal::diverged) {
        report.symptom = to_json(info_symptom());
    }
    return report;
}

TEST(Corpus, EntriesAreReadAndWrittenAndSayWhereTheyAreWrong) {
    EXPECT_EQ(to_json(parsed(open_entry())), open_entry());
    EXPECT_THAT(error_with("/state", "done"), HasSubstr("/state: must be open or closed"));
    EXPECT_THAT(error_with("/subject/versions", "7.2"), HasSubstr("/subject/versions: "));
    EXPECT_THAT(error_with("/recipe/steps/0/actor", "x"), HasSubstr("/recipe/steps/0/actor: "));
    EXPECT_THAT(error_with("/recipe/images/0/format", "vfat"), HasSubstr("/recipe: lies outside"));
    EXPECT_THAT(error_with("/recorded/outcomes/0/code", 256),
                HasSubstr("/recorded/outcomes/0/code: "));
    EXPECT_THAT(error_with("/more", 1), HasSubstr("unknown field 'more'"));
    json entry = open_entry();
    entry.erase("symptom");
    EXPECT_THROW(parsed(entry), RecipeError);
    entry["state"] = "closed";
    EXPECT_EQ(parsed(entry).state, CorpusState::closed);
    entry["why"] = std::string(max_corpus_entry_bytes, 'x');
    EXPECT_THROW(parsed(entry), RecipeError);
}

TEST(Corpus, EntriesSpeakOfTheirToolsOnly) {
    const CorpusEntry entry = parsed(open_entry());
    const ToolVersion any{"other", "1"};
    EXPECT_TRUE(speaks_of(entry, {"qemu-img", "7.2.22"}, &any));
    EXPECT_FALSE(speaks_of(entry, {"qemu-img", "8.0"}, &any));
    EXPECT_FALSE(speaks_of(entry, {"instar", "7.2.22"}, &any));
    json value = open_entry();
    value["reference"] = {{"tool", "qemu-img"}, {"versions", ""}};
    EXPECT_FALSE(speaks_of(parsed(value), {"qemu-img", "7.2.22"}, &any));
    EXPECT_TRUE(speaks_of(parsed(value), {"qemu-img", "7.2.22"}, nullptr));
}

TEST(Corpus, OpenMustShowItsSymptomAndClosedMustAgree) {
    const CorpusEntry open = parsed(open_entry());
    CorpusEntry closed = open;
    closed.state = CorpusState::closed;
    const auto of = [](const CorpusEntry& entry, Terminal terminal) {
        return judge_entry(entry, {run_of(terminal)});
    };
    EXPECT_EQ(of(open, Terminal::diverged), CorpusVerdict::holds);
    EXPECT_EQ(of(open, Terminal::agreed), CorpusVerdict::gone);
    EXPECT_EQ(of(open, Terminal::refused_by_both), CorpusVerdict::gone);
    EXPECT_EQ(of(closed, Terminal::diverged), CorpusVerdict::returned);
    EXPECT_EQ(of(closed, Terminal::agreed), CorpusVerdict::holds);
    EXPECT_EQ(of(closed, Terminal::refused_by_both), CorpusVerdict::holds);
    for (const CorpusEntry& entry : {open, closed}) {
        EXPECT_EQ(of(entry, Terminal::inconclusive_external_timeout), CorpusVerdict::unclear);
        EXPECT_EQ(of(entry, Terminal::harness_fixture), CorpusVerdict::unclear);
        EXPECT_EQ(judge_entry(entry, {run_of(Terminal::agreed), run_of(Terminal::diverged)}),
                  CorpusVerdict::unclear);
    }
    CaseReport other = run_of(Terminal::diverged);
    other.symptom["field"] = "else";
    EXPECT_EQ(judge_entry(open, {other}), CorpusVerdict::changed);
    EXPECT_EQ(judge_entry(closed, {other}), CorpusVerdict::returned);
}

TEST(Corpus, OneThatDoesNotHoldIsRedAndNothingRunIsNoVerdict) {
    using enum CorpusVerdict;
    EXPECT_EQ(corpus_exit({holds, not_asked, not_recorded}), ExitCode::holds);
    for (const CorpusVerdict red : {gone, changed, returned}) {
        EXPECT_EQ(corpus_exit({holds, unclear, red}), ExitCode::does_not_hold);
    }
    EXPECT_EQ(corpus_exit({holds, unclear}), ExitCode::no_verdict);
    EXPECT_EQ(corpus_exit({not_asked}), ExitCode::no_verdict);
    EXPECT_EQ(corpus_exit({not_recorded}), ExitCode::no_verdict);
}

TEST(Corpus, IsReadAsAWholeAndHoldsNoCaseTwice) {
    const ScratchDirectory scratch;
    std::ofstream(scratch.path() / "a.json") << open_entry().dump();
    EXPECT_EQ(read_corpus(scratch.path().string()).size(), 1U);
    json same = open_entry();
    same["why"] = "another reason";
    std::ofstream(scratch.path() / "b.json") << same.dump();
    try {
        read_corpus(scratch.path().string());
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("b.json' is no entry of a corpus: its recipe is that "
                                            "of '"));
    }
}

// An index of version 2 with these paths: format in git's Documentation.
std::string index_with(const std::vector<std::string>& paths) {
    const auto number = [](std::uint32_t value) {
        std::string bytes;
        for (int shift = 24; shift >= 0; shift -= 8) {
            bytes += static_cast<char>(value >> shift & 0xff);
        }
        return bytes;
    };
    std::string bytes = "DIRC" + number(2) + number(static_cast<std::uint32_t>(paths.size()));
    for (const std::string& path : paths) {
        std::string entry(60, '\x01');
        entry += '\0';
        entry += static_cast<char>(path.size());
        entry += path;
        entry.append(8 - entry.size() % 8, '\0');
        bytes += entry;
    }
    return bytes + std::string(20, 'x');
}

TEST(Corpus, MustBeTrackedWhereItLiesInAGitWorkTree) {
    const ScratchDirectory scratch;
    const fs::path corpus = scratch.path() / "top" / "corpus";
    fs::create_directories(corpus);
    fs::create_directories(scratch.path() / "top" / ".git");
    std::ofstream(corpus / "a.json") << open_entry().dump();
    const auto track = [&](const std::vector<std::string>& paths) {
        std::ofstream(scratch.path() / "top/.git/index", std::ios::binary) << index_with(paths);
    };
    track({"README", "corpus/a.json", "src/main.c"});
    EXPECT_EQ(read_corpus(corpus.string()).size(), 1U);
    track({"README", "corpus/b.json"});
    try {
        read_corpus(corpus.string());
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("git does not track it"));
    }
}

TEST(GitIndex, IsReadWholeOrNotAtAll) {
    const std::string bytes = index_with({"a", "bc/defghij", "k"});
    EXPECT_EQ(parse_git_index(bytes), (std::set<std::string>{"a", "bc/defghij", "k"}));
    EXPECT_FALSE(parse_git_index(bytes.substr(0, 100)));
    EXPECT_FALSE(parse_git_index("DIRC"));
    std::string newer = bytes;
    newer[7] = 4;
    EXPECT_FALSE(parse_git_index(newer));
}

TEST(RecordedReference, IsComparedByEndingsAndStreamsAlone) {
    const Case c = info_case();
    Observation reference;
    StepObservation step;
    step.argv = {"qemu-img", "info"};
    step.outcome.ending = exited(0);
    step.outcome.out = stream("image: src.raw\ndisk size: 4 KiB\n");
    reference.steps.push_back(step);
    const json outcomes = recorded_outcomes(c, reference);
    EXPECT_EQ(outcomes[0].at("stdout"), "image: src.raw\ndisk size: <allocation>\n");
    const Observation recorded = observation_from_recorded(outcomes, "");

    const CaseResult same = compare_with_recorded(c, reference, recorded, {});
    EXPECT_EQ(same.terminal, Terminal::agreed);
    for (const LayerReport& report : same.layers) {
        EXPECT_THAT(recorded_layers(), testing::Contains(report.id));
    }
    Observation other = reference;
    other.steps[0].outcome.out = stream("image: src.raw\nmore\n");
    EXPECT_EQ(compare_with_recorded(c, other, recorded, {}).difference->symptom.layer,
              LayerId::text);
    other.steps[0].outcome.ending = exited(1);
    EXPECT_EQ(compare_with_recorded(c, other, recorded, {}).difference->symptom.layer,
              LayerId::exit);
    other.steps[0].outcome.ending = TimedOut{};
    EXPECT_EQ(compare_with_recorded(c, other, recorded, {}).terminal,
              Terminal::inconclusive_external_timeout);
    // What was cut cannot be recorded; bytes that are no text can.
    other.steps[0].outcome = reference.steps[0].outcome;
    other.steps[0].outcome.out = cut_stream("a", "b");
    EXPECT_TRUE(recorded_outcomes(c, other).is_null());
    other.steps[0].outcome.out = stream("\xff\n");
    const json bytes = recorded_outcomes(c, other);
    EXPECT_EQ(observation_from_recorded(bytes, "").steps[0].outcome.out.head, "\xff\n");
}

TEST(RecordedReference, NeedsNoneOnlyForImagesAndStepsThatAreOurs) {
    EXPECT_EQ(needs_reference(info_case("qcow2")), "");
    EXPECT_THAT(needs_reference(info_case("vmdk")), HasSubstr("vmdk"));
    Case neutral = info_case();
    neutral.steps[0].actor = Actor::neutral;
    EXPECT_THAT(needs_reference(neutral), HasSubstr("neutral step"));
    CorpusEntry entry = parsed(open_entry());
    EXPECT_EQ(not_recorded_reason(entry), "");
    entry.symptom->layer = LayerId::content;
    EXPECT_THAT(not_recorded_reason(entry), HasSubstr("more than endings"));
    entry.recorded.reset();
    EXPECT_EQ(not_recorded_reason(entry), "nothing is recorded");
}

}  // namespace
}  // namespace difffuzz::test
