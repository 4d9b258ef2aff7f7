#include "campaign/baseline.hpp"

#include <algorithm>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/run_tasks.hpp"
#include "campaign/triage/place.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

const RolePair baseline_roles{"baseline", "reference"};

// One bucket while it is asked about.
struct Question {
    std::string key;
    json record;  // of its first case
    bool shown = false;
    bool answered = true;
    json runs = json::array();
};

bool is_open(const Bucket& bucket) {
    return (bucket.status == "new" || bucket.status == "untriaged") &&
           bucket.severity != to_string(Severity::reference);
}

std::string record_path(const Bucket& bucket, std::uint64_t index) {
    return bucket.directory() + "/" + std::to_string(index);
}

void take_in(Question& question, const CaseReport& report, const char* of) {
    json run{{"of", of}, {"outcome", to_string(report.terminal)}};
    if (report.terminal == Terminal::diverged) {
        run["type"] = report.type;
        run["symptom"] = symptom_key(symptom_from_json(report.symptom));
        question.shown |= report.symptom == question.record.at("symptom");
    } else {
        question.answered &=
            report.terminal == Terminal::agreed || report.terminal == Terminal::refused_by_both;
    }
    question.runs.push_back(std::move(run));
}

// Runs the case that stands in `field` of the records, where it does and is still to be run. False
// when the pool was stopped.
bool ask(WorkerPool& pool, std::vector<Question>& questions, const char* field) {
    std::deque<Task> tasks;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const json& recipe = questions[i].record.at(field);
        if (!questions[i].shown && !recipe.is_null()) {
            Task task;
            task.index = i;
            task.recipe = case_from_json(recipe);
            task.roles = baseline_roles;
            task.runs = timeout_runs;
            tasks.push_back(std::move(task));
        }
    }
    for (const CaseReport& report : run_tasks(pool, std::move(tasks))) {
        take_in(questions[report.index], report, field);
    }
    return !pool.stopped();
}

// The answer in every record of the bucket.
void write_answer(const std::string& evidence, const Bucket& bucket) {
    for (const std::uint64_t index : bucket.kept) {
        const std::string directory = evidence + "/" + record_path(bucket, index);
        json record = read_record(directory + "/record.json");
        if (record.at("status") == "flaky") {
            continue;
        }
        record["status"] = bucket.status;
        record["baseline"] = bucket.baseline;
        write_file(directory, "record.json", record.dump(2) + "\n");
    }
}

std::vector<CaseReport> run_cases(WorkerPool& pool, const std::vector<std::uint64_t>& cases,
                                  const RolePair& roles) {
    std::deque<Task> tasks;
    for (const std::uint64_t index : cases) {
        Task task;
        task.index = index;
        task.roles = roles;
        tasks.push_back(std::move(task));
    }
    std::vector<CaseReport> reports = run_tasks(pool, std::move(tasks));
    std::ranges::sort(reports, {}, &CaseReport::index);
    return reports;
}

}  // namespace

std::optional<std::map<std::string, Bucket>> held_against_baseline(
    WorkerPool& pool, const std::string& evidence, const Profile& baseline,
    const std::map<std::string, Bucket>& buckets) {
    std::vector<Question> questions;
    for (const auto& [key, bucket] : buckets) {
        if (is_open(bucket)) {
            questions.push_back(
                {key, read_record(evidence + "/" + record_path(bucket, bucket.kept.front()) +
                                  "/record.json")});
        }
    }
    if (!ask(pool, questions, "recipe") || !ask(pool, questions, "original_recipe")) {
        return std::nullopt;
    }
    std::map<std::string, Bucket> result = buckets;
    for (const Question& question : questions) {
        Bucket& bucket = result.at(question.key);
        if (question.shown || question.answered) {
            bucket.status = question.shown ? "pre-existing" : "regression";
        }
        bucket.baseline = {{"profile", to_json(baseline)},
                           {"iteration", bucket.kept.front()},
                           {"runs", question.runs}};
        write_answer(evidence, bucket);
    }
    return result;
}

FixedMeanwhile find_fixed(WorkerPool& pool, const std::vector<std::uint64_t>& cases) {
    FixedMeanwhile fixed;
    std::map<std::uint64_t, CaseReport> diverged;
    std::vector<std::uint64_t> indices;
    for (CaseReport& report : run_cases(pool, cases, baseline_roles)) {
        ++fixed.cases;
        if (report.terminal == Terminal::diverged) {
            if (report.severity != to_string(Severity::reference)) {
                indices.push_back(report.index);
                diverged[report.index] = std::move(report);
            }
        } else if (!report.agreed() && report.terminal != Terminal::exhausted) {
            ++fixed.no_answer;
        }
    }
    std::map<std::string, std::size_t> places;  // by fingerprint, in `fixed.buckets`
    for (const CaseReport& now : run_cases(pool, indices, {})) {
        if (!now.agreed()) {
            continue;
        }
        const CaseReport& before = diverged.at(now.index);
        const auto [place, fresh] =
            places.try_emplace(before.type + before.fingerprint, fixed.buckets.size());
        if (fresh) {
            fixed.buckets.push_back({before.type, before.severity, 0, now.index});
        }
        ++fixed.buckets[place->second].cases;
    }
    return fixed;
}

}  // namespace difffuzz
