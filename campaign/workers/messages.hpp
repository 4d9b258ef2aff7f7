// What difffuzz and its workers tell each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaign/case_source.hpp"
#include "campaign/execution/executor.hpp"
#include "core/cases/plan.hpp"
#include "ops/reach.hpp"
#include "pickers/case_reach.hpp"

namespace difffuzz {

// The first message to a worker, after the descriptor of the staging directory.
struct WorkerSetup {
    SandboxOptions sandbox;
    Limits limits;
    Plan plan;
    // Of the plan, so that not every worker works it out anew; may be empty.
    std::vector<OperationReach> reach;
    std::uint64_t seed = 0;
    std::string subject_profile;  // profiles' JSON text, for records; empty while they are made
    std::string reference_profile;
    // By tool, as the first worker found them: a worker that finds others does not start. Empty
    // for the first one.
    std::map<std::string, std::vector<FileStamp>> stamps;
    // The known divergences that the plan names.
    std::vector<EntryFile> known;
    // Who plays the two roles in tasks that do not say.
    RolePair roles = {};
};

// One tool as a worker found it.
struct FoundTool {
    std::string name;
    std::vector<std::string> files;  // host paths
    std::vector<FileStamp> stamps;   // see SandboxTool
    std::string version_output;      // in ASCII, what is not printable as '?'
    std::string help_output;
    std::vector<std::string> features;  // of the plan's vocabulary, tried out
    std::string failure;  // one sentence; empty when both commands ended by themselves
};

// Its answer: ready, or one sentence why not.
struct WorkerReady {
    std::string error;
    Containment containment;
    std::vector<FoundTool> tools;
};

// How often a case runs at most while it times out: the machine may be busy.
inline constexpr unsigned timeout_runs = 3;

// One case to run: drawn by the worker from `index`, or given as a recipe.
struct Task {
    std::uint64_t index = 0;
    std::optional<Case> recipe;
    RolePair roles;
    // How often to run it at most while it times out.
    unsigned runs = 1;
    // Bucket keys that need no further full record.
    std::vector<std::string> saturated;
    // Whether the report is to hold the digests of the input images.
    bool digests = false;
    // Whether the report is to hold how each side ended, in its own words.
    bool ends = false;
    // Whether the report is to name all layers that diverged, not only the first.
    bool layers = false;
    // Whether it is to hold what the reference did, as recorded_outcomes() has it.
    bool outcomes = false;
    // What to hold the subject against in place of what the reference does; null: nothing.
    nlohmann::json recorded = nullptr;
    // A layer to leave out.
    std::optional<LayerId> without = {};
    // Whether and how the subject does a case again where both sides did alike.
    SecondRun second = {};
    // Name of the directory below staging for a full record; empty: none is wanted. With a recipe
    // it is made whatever is saturated.
    std::string stage;
    // For whoever hands tasks out to know them by; not sent.
    std::uint64_t ticket = 0;
};

// A layer's verdict in short.
struct LayerVerdictReport {
    std::string layer;
    LayerVerdict verdict = LayerVerdict::not_applicable;
    std::string reason;
    bool operator==(const LayerVerdictReport&) const = default;
};

struct TimeoutReport {
    unsigned subject = 0;  // runs in which the subject timed out
    unsigned reference = 0;
    // One side timed out in every run, the other ended within a tenth of the limit in each.
    bool hang = false;
};

// How one side's tool ended a case: its first command that did not succeed, else succeeded.
struct SideEnd {
    std::string outcome;         // to_string(OutcomeClass)
    bool could_not_run = false;  // the program itself or what it needs to run was not there
    std::string words;           // first line of its stderr: escaped, bounded
};

// Divergences with the same key are counted together: those with one fingerprint that are new, or
// known by one entry.
inline std::string bucket_key(const std::string& fingerprint, const std::string& known) {
    return known.empty() ? fingerprint : fingerprint + "-" + known;
}

// What became of one case. Also the journal's line for it.
struct CaseReport {
    std::uint64_t index = 0;
    std::string operation;
    std::string intent;
    std::string rule;
    Terminal terminal = Terminal::untested;
    std::string reason;
    bool compared = false;
    bool reference_accepted = false;
    bool subject_accepted = false;
    std::vector<LayerVerdictReport> layers;
    // Normaliser -> comparisons of the two sides that agree only because of it.
    std::map<std::string, std::uint64_t> normalisers;
    CaseReach reach;                   // what the case holds of what pickers can draw
    std::vector<SteeredAway> steered;  // draws that were dropped before it
    TimeoutReport timeouts;
    // Set for a divergence:
    std::string type;
    std::string severity;
    std::string fingerprint;
    nlohmann::json symptom;  // null otherwise
    std::uint64_t culprit_step = 0;
    Classification known;
    bool staged = false;         // a full record lies in staging
    nlohmann::json attribution;  // of a staged one; null otherwise
    // Where the task asked for them:
    std::map<std::string, std::string> image_digests;
    std::optional<SideEnd> subject_end;  // not where the case could not be set up
    std::optional<SideEnd> reference_end;
    std::vector<LayerId> diverged;  // in their order
    bool planted = false;           // a stand-in planted its fault
    nlohmann::json reference_outcomes = nullptr;
    // Whether both sides did alike.
    bool agreed() const {
        return terminal == Terminal::agreed || terminal == Terminal::refused_by_both;
    }

    std::string bucket_key() const { return difffuzz::bucket_key(fingerprint, known.known); }
};

// What a worker used, in its answer to the last message.
struct WorkerUsage {
    std::uint64_t own_cpu_us = 0;
    std::uint64_t tools_cpu_us = 0;
    std::uint64_t tools_wall_us = 0;
    std::uint64_t commands = 0;
    std::uint64_t peak_memory_bytes = 0;
};

nlohmann::json to_json(const WorkerSetup& setup);
WorkerSetup setup_from_json(const nlohmann::json& json);
nlohmann::json to_json(const WorkerReady& ready);
WorkerReady ready_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Task& task);
Task task_from_json(const nlohmann::json& json);
nlohmann::json to_json(const CaseReport& report);
// Throws RecipeError or nlohmann::json::exception for what to_json did not write (a torn journal).
CaseReport report_from_json(const nlohmann::json& json);
nlohmann::json to_json(const WorkerUsage& usage);
WorkerUsage usage_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Containment& containment);
// Throws nlohmann::json::exception.
Containment containment_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Limits& limits);

}  // namespace difffuzz
