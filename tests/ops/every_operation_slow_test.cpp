// The draws of every operation on real programs: what is valid is accepted, what is refused is
// refused, rule by rule, and every documented option is drawn or left out with a reason.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/tools/dialect.hpp"
#include "images/format.hpp"
#include "images/image_error.hpp"
#include "ops/operation.hpp"
#include "oracles/normaliser.hpp"
#include "pickers/common_options.hpp"
#include "tests/support/plan_of.hpp"
#include "tests/support/run_tool.hpp"

namespace difffuzz {
namespace {

using Clock = std::chrono::steady_clock;

// A qemu-img of another version; empty where there is none.
std::string second_qemu_img() {
    if (const char* named = std::getenv("DIFFFUZZ_TEST_SECOND_QEMU")) {
        return named;
    }
    const std::string installed = DIFFFUZZ_SOURCE_DIR "/.tools/trixie/bin/qemu-img";
    return ::access(installed.c_str(), X_OK) == 0 ? installed : std::string();
}

struct CaseRun {
    Outcome outcome;
    std::string line;  // the command, for messages
    double milliseconds = 0;
};

// Builds the case's images in `directory` and runs its steps as far as they succeed; what is
// returned is the last that ran.
CaseRun run_case(const Case& c, const std::string& directory, const std::string& program) {
    test::RealTools tools(directory);
    build_images(c, directory, tools);
    CaseRun run;
    for (const Step& step : c.steps) {
        std::vector<std::string> argv = render_step(c, step);
        argv.insert(argv.begin(),
                    step.actor == Actor::neutral ? std::string(program_of(step)) : program);
        for (const std::string& word : argv) {
            run.line += word + ' ';
        }
        run.line += "; ";
        const auto start = Clock::now();
        run.outcome = test::run_tool(directory, argv);
        run.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        if (run.outcome.ending != Ending{Exited{0}}) {
            break;
        }
    }
    return run;
}

bool accepted(const Operation& operation, const Outcome& outcome) {
    const auto* exited = std::get_if<Exited>(&outcome.ending);
    return exited != nullptr &&
           (exited->code == 0 ||
            (outcome.err.head.empty() && std::ranges::find(operation.answer_codes, exited->code) !=
                                             operation.answer_codes.end()));
}

bool refused(const Operation& operation, const Outcome& outcome) {
    return std::holds_alternative<Exited>(outcome.ending) && !accepted(operation, outcome);
}

// What an image, or a snapshot of it, holds: by way of a raw file, since not every format, or
// format of a backing file, has a reader. But qemu-img shows a snapshot in the size of its image,
// so where we can read one ourselves we do. Null, with a message, where it cannot be had.
std::unique_ptr<ContentSource> content_of_file(const std::string& directory,
                                               const InspectionRequest& request,
                                               const std::string& file) {
    std::vector<std::string> words{"qemu-img", "convert", "-f", request.format, "-O", "raw"};
    if (!request.snapshot.empty()) {
        try {
            return find_format(request.format)->open_snapshot(directory, file, request.snapshot);
        } catch (const ImageError&) {
            words.insert(words.end(), {"-l", "snapshot.id=" + request.snapshot});
        }
    }
    words.insert(words.end(), {file, "flat"});
    const Outcome flat = test::run_tool(directory, words);
    if (flat.ending != Ending{Exited{0}}) {
        std::cout << "not converted: " << flat.err.head;
        return nullptr;
    }
    return find_format("raw")->open(directory, "flat");
}

class RealOperation : public testing::TestWithParam<const Operation*> {
protected:
    // Shares of 300 valid draws that the program accepts, and what each image then holds.
    void expect_accepted(const std::string& program, double least, bool look_inside) const {
        const Operation& operation = *GetParam();
        const Plan plan = test::plan_of(operation, 0);
        constexpr unsigned draws = 300;
        unsigned good = 0;
        std::vector<double> times;
        for (std::uint64_t i = 0; i < draws; ++i) {
            const Case c = draw_case(plan, 21, i, 0);
            const test::ScratchDirectory directory;
            const CaseRun run = run_case(c, directory.string(), program);
            times.push_back(run.milliseconds);
            if (accepted(operation, run.outcome)) {
                ++good;
                if (look_inside) {
                    expect_content(c, directory.string(), run.line);
                }
            } else {
                std::cout << "not accepted: case " << i << ": " << run.line << '\n'
                          << run.outcome.err.head;
            }
        }
        EXPECT_GE(good, least * draws);
        std::ranges::sort(times);
        std::cout << operation.name << ": " << good << " of " << draws << " accepted, p50 "
                  << times[draws / 2] << " ms, p99 " << times[draws * 99 / 100] << " ms, longest "
                  << times.back() << " ms\n";
    }

    // The images that the step wrote hold what the operation says, as far as we can read them.
    void expect_content(const Case& c, const std::string& directory,
                        const std::string& line) const {
        for (const InspectionRequest& request : GetParam()->inspections(c, c.steps.size() - 1)) {
            if (!request.expected) {
                continue;
            }
            const auto source = content_of_file(directory, request, file_name_of(c, request.image));
            ASSERT_NE(source, nullptr) << line;
            EXPECT_EQ(summarise(*source), summarise(*model_of(c, *request.expected))) << line;
        }
    }
};

TEST_P(RealOperation, AcceptsValidCases) { expect_accepted("qemu-img", 0.97, true); }

TEST_P(RealOperation, SecondVersionAcceptsValidCases) {
    const std::string program = second_qemu_img();
    if (program.empty()) {
        GTEST_SKIP() << "no second qemu-img";
    }
    expect_accepted(program, 0.95, false);
}

// Generated node names differ from run to run; this normaliser always holds.
std::string with_node_names_masked(std::string text) {
    node_name_text().apply(text);
    return text;
}

// What two runs must have in common once the operation's normalisers were applied.
std::string normalised(const Operation& operation, const Outcome& outcome) {
    nlohmann::json json = nlohmann::json::parse(outcome.out.head, nullptr, false);
    if (!json.is_discarded()) {
        for (const JsonNormaliser* normaliser : operation.json_normalisers) {
            normaliser->apply(json);
        }
        return json.dump();
    }
    std::string text = outcome.out.head;
    for (const TextNormaliser* normaliser : operation.text_normalisers) {
        normaliser->apply(text);
    }
    return text;
}

TEST_P(RealOperation, RepeatsItself) {
    const Operation& operation = *GetParam();
    const Plan plan = test::plan_of(operation, 10);
    for (std::uint64_t i = 0; i < 120; ++i) {
        const Case c = draw_case(plan, 23, i, 0);
        const test::ScratchDirectory first;
        const test::ScratchDirectory second;
        const CaseRun a = run_case(c, first.string(), "qemu-img");
        const CaseRun b = run_case(c, second.string(), "qemu-img");
        EXPECT_EQ(a.outcome.ending, b.outcome.ending) << a.line;
        EXPECT_EQ(normalised(operation, a.outcome), normalised(operation, b.outcome)) << a.line;
        EXPECT_EQ(with_node_names_masked(a.outcome.err.head),
                  with_node_names_masked(b.outcome.err.head))
            << a.line;
        const std::size_t step = c.steps.size() - 1;
        if (accepted(operation, a.outcome) && operation.bytes_stable(c, step)) {
            for (const std::string& id : operation.may_change(c, step)) {
                const std::string name = file_name_of(c, id);
                EXPECT_TRUE(test::read_file(first.path() / name) ==
                            test::read_file(second.path() / name))
                    << a.line;
            }
        }
    }
}

TEST_P(RealOperation, RefusesEachEnforcedRule) {
    const Operation& operation = *GetParam();
    const Plan plan = test::plan_of(operation, 100);
    constexpr unsigned per_rule = 8;
    std::vector<std::string> programs{"qemu-img"};
    if (const std::string second = second_qemu_img(); !second.empty()) {
        programs.push_back(second);
    }
    std::map<std::string, unsigned> runs;
    for (std::uint64_t i = 0; i < 8000; ++i) {
        const Case c = draw_case(plan, 22, i, 0);
        const std::string rule(broken_rule(c));
        if (rule.empty() || runs[rule] == per_rule) {
            continue;
        }
        ++runs[rule];
        for (const std::string& program : programs) {
            const test::ScratchDirectory directory;
            const CaseRun run = run_case(c, directory.string(), program);
            EXPECT_TRUE(refused(operation, run.outcome)) << rule << ": " << run.line;
        }
    }
    // That each rule is drawn is for the fast tests to say.
    for (const auto& [rule, count] : runs) {
        EXPECT_EQ(count, per_rule) << rule;
    }
    const auto enforced = std::ranges::count_if(operation.picker->rules,
                                                [](const Rule& rule) { return rule.enforced; });
    EXPECT_GE(runs.size(), std::min<std::size_t>(5, static_cast<std::size_t>(enforced)));
}

TEST_P(RealOperation, DrawsOrLeavesOutEveryDocumentedOption) {
    const Picker& picker = *GetParam()->picker;
    if (picker.command.empty()) {
        GTEST_SKIP() << "it is made of the commands of others";
    }
    const test::ScratchDirectory directory;
    const std::string help = test::run_tool(directory.path(), {"qemu-img", "--help"}).out.head;
    const std::string start = "\n  " + std::string(picker.command) + " ";
    const std::size_t begin = help.find(start);
    ASSERT_NE(begin, std::string::npos);
    const std::string line = help.substr(begin + 1, help.find('\n', begin + 1) - begin - 1);
    static const std::regex option(R"((?:^|[ \[(|])(--?[A-Za-z][A-Za-z-]*))");
    std::set<std::string> documented;
    for (auto it = std::sregex_iterator(line.begin(), line.end(), option);
         it != std::sregex_iterator(); ++it) {
        documented.insert((*it)[1]);
    }
    EXPECT_GE(documented.size(), 3U) << line;
    for (const std::string& name : documented) {
        const bool drawn = std::ranges::any_of(
            picker.options, [&](const OptionSpec& spec) { return spec.option == name; });
        const bool left_out = std::ranges::any_of(
            picker.left_out, [&](const LeftOut& out) { return out.option == name; });
        const std::vector<std::string_view> common = common_options(picker.command);
        EXPECT_TRUE(drawn || left_out || std::ranges::find(common, name) != common.end()) << name;
    }
    for (const LeftOut& out : picker.left_out) {
        EXPECT_TRUE(documented.contains(std::string(out.option))) << out.option;
    }
}

INSTANTIATE_TEST_SUITE_P(Table, RealOperation, testing::ValuesIn(operations()),
                         [](const auto& row) { return std::string(row.param->name); });

}  // namespace
}  // namespace difffuzz
