#include "campaign/campaign.hpp"

#include <csignal>
#include <deque>
#include <filesystem>
#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/resource.h>

#include "campaign/commit.hpp"
#include "campaign/controls.hpp"
#include "campaign/evidence/files.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/identify.hpp"
#include "campaign/terms.hpp"
#include "campaign/triage/triage.hpp"
#include "campaign/workers/pool.hpp"
#include "core/cases/recipe_json.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// How far cases may run ahead of the one that is committed next; bounds memory and repeated work.
constexpr std::uint64_t max_ahead = 1024;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The part of campaign.json that a resumed run must share.
json terms_json(const CampaignOptions& options, const Plan& plan, const IdentifiedTools& tools) {
    return {{"seed", options.seed},
            {"iterations", options.iterations},
            {"generator", generator_version},
            {"plan", plan_digest(plan)},
            {"subject", tools.subject.identity},
            {"reference", tools.reference.identity},
            {"shard", {{"index", options.shard.index}, {"count", options.shard.count}}},
            {"triage_runs", options.triage_runs},
            {"baseline", tools.baseline ? json(tools.baseline->identity) : json(nullptr)},
            {"determinism", to_string(options.determinism)},
            {"max_new", options.max_new ? json(*options.max_new) : json(nullptr)}};
}

// Where the evidence comes from, for campaign.json: the runs so far and this one, the subject's
// source.
json origin_json(const Evidence& evidence, const CampaignOptions& options) {
    const json earlier = evidence.earlier.value_or(json::object());
    json runs = earlier.value("runs", json::array());
    std::optional<std::uint64_t> granted;
    if (options.duration) {
        granted = static_cast<std::uint64_t>(options.duration->count());
    }
    runs.push_back(run_json({options.command, options.version, options.executable, granted},
                            options.directory));
    return {{"runs", std::move(runs)},
            {"subject_source", options.subject_source ? options.subject_source->identity
                                                      : earlier.value("subject_source", json())}};
}

json campaign_json(const std::string& state, const json& terms, const IdentifiedTools& tools,
                   const CampaignOptions& options, const json& origin) {
    json campaign{
        {"schema", campaign_schema},
        {"state", state},
        {"terms", terms},
        {"subject", to_json(tools.subject)},
        {"reference", to_json(tools.reference)},
        {"containment", to_json(tools.containment)},
        {"limits", to_json(options.limits)},
        {"thresholds",
         {{"min_compared", options.min_compared}, {"max_inconclusive", options.max_inconclusive}}}};
    if (tools.baseline) {
        campaign["baseline"] = to_json(*tools.baseline);
    }
    campaign.update(origin);
    return campaign;
}

// One run over a campaign's cases: hands them out, takes the results in.
class CaseRun {
public:
    CaseRun(const CampaignOptions& options, const Plan& plan, const Registry& known,
            const IdentifiedTools& tools, const CampaignHooks& hooks,
            const std::vector<UnavailableOperation>& unavailable,
            const std::vector<std::string>& reference_varies, Tally& tally, Journal& journal,
            const JournalState& state, WorkerPool& pool)
        : options_(options),
          plan_(plan),
          tools_(tools),
          cases_(plan, options.seed, known),
          hooks_(hooks),
          reference_varies_(reference_varies),
          tally_(tally),
          journal_(journal),
          pool_(pool),
          committer_(options.directory, journal, tally, options.max_new, state.committed),
          next_(state.committed),
          begin_(Clock::now()),
          committed_before_(state.committed) {
        for (const UnavailableOperation& one : unavailable) {
            unavailable_.insert(one.operation);
        }
        committer_.on_saturated = [&](const std::string& key) { pool_.saturate(key); };
        for (const auto& [key, bucket] : tally.buckets()) {
            if (!tally.wants_record(key)) {
                pool_.saturate(key);
            }
        }
        for (const auto& [index, alone] : state.in_flight) {
            if (alone) {
                finish(killed_report(index));
            } else {
                alone_.push_back(index);
            }
        }
    }

    void run() {
        WorkerPool::Handlers handlers;
        handlers.next = [this] { return next_task(); };
        handlers.done = [this](const Task& task, CaseReport report) {
            done(task, std::move(report));
        };
        handlers.lost = [this](const Task& task) { lost(task); };
        pool_.run(handlers);
    }

    void out_of_time() { out_of_time_ = true; }
    bool reached_max_new() const { return committer_.reached_max_new(); }
    std::uint64_t committed() const { return committer_.next(); }

private:
    NextTask next_task() {
        if (committer_.reached_max_new() || out_of_time_) {
            return NothingLeft{};
        }
        if (!alone_.empty()) {
            if (pool_.running() > 0) {
                return WaitForOthers{};
            }
            const std::uint64_t index = alone_.front();
            alone_.pop_front();
            running_alone_ = true;
            return make_task(index, true);
        }
        if (running_alone_) {
            return WaitForOthers{};
        }
        // What ran alone, or is recorded as killed, may be committed already.
        next_ = std::max(next_, committer_.next());
        while (next_ < options_.iterations) {
            const std::uint64_t index = next_;
            if (index >= committer_.next() + max_ahead) {
                return WaitForOthers{};
            }
            ++next_;
            if (finished_.contains(index)) {
                continue;  // waits to be committed: was killed twice, or ran alone first
            }
            if (!options_.shard.holds(index)) {
                CaseReport report;
                report.index = index;
                report.terminal = Terminal::outside_shard;
                finish(std::move(report));
                continue;
            }
            if (!unavailable_.empty() && skip_unavailable(index)) {
                continue;
            }
            return make_task(index, false);
        }
        return NothingLeft{};
    }

    bool skip_unavailable(std::uint64_t index) {
        DrawnCase drawn = cases_.draw(index);
        const std::optional<Case>& c = drawn.c;
        if (!c || !unavailable_.contains(c->operation)) {
            return false;
        }
        CaseReport report;
        report.steered = std::move(drawn.steered);
        report.index = index;
        report.operation = c->operation;
        report.intent = std::string(intent_name(*c));
        report.terminal = Terminal::unavailable;
        report.reason = "a tool does not have the operation";
        finish(std::move(report));
        return true;
    }

    Task make_task(std::uint64_t index, bool alone) {
        journal_.started(index, alone);
        Task task;
        task.index = index;
        task.stage = Committer::stage_name(index);
        task.runs = timed_out_.contains(index) ? timeout_runs : 1;
        task.second.again = again_of(options_.determinism, index);
        if (task.second.again != Again::no) {
            task.second.reference_varies = reference_varies_;
        }
        return task;
    }

    void done(const Task& task, CaseReport report) {
        running_alone_ = false;
        const bool timed_out = report.terminal == Terminal::inconclusive_external_timeout;
        if (timed_out && task.runs == 1) {
            // Again, alone: other work on this machine may have been the cause.
            timed_out_.insert(task.index);
            alone_.push_back(task.index);
            return;
        }
        for (const auto& [tool, stamps] : tools_.stamps) {
            require_unchanged(tool, stamps);
        }
        if (report.timeouts.hang) {
            keep_hang(task.index);
        }
        finish(std::move(report));
        if (hooks_.progress) {
            hooks_.progress({committer_.next(), options_.iterations, tally_.compared(),
                             tally_.buckets().size(), seconds_since(begin_),
                             committer_.next() - committed_before_});
        }
    }

    void lost(const Task& task) {
        running_alone_ = false;
        if (++deaths_[task.index] < 2) {
            alone_.push_back(task.index);
            return;
        }
        finish(killed_report(task.index));
    }

    void finish(CaseReport report) {
        finished_.insert(report.index);
        committer_.accept(std::move(report));
        finished_.erase(finished_.begin(), finished_.lower_bound(committer_.next()));
    }

    // A case that ended the process that ran it twice: skipped from now on, with a record of its
    // own.
    CaseReport killed_report(std::uint64_t index) {
        CaseReport report;
        report.index = index;
        report.terminal = Terminal::harness_killed;
        const auto c = cases_.draw(index).c;
        if (c) {
            report.operation = c->operation;
            report.intent = std::string(intent_name(*c));
            const json record = make_killed_record(
                *c,
                {options_.seed, index, plan_digest(plan_), tools_.subject, tools_.reference, {}});
            keep("records", record.at("type").get<std::string>(), index, "record.json", record);
        }
        return report;
    }

    void keep_hang(std::uint64_t index) {
        if (const auto c = cases_.draw(index).c) {
            keep("hangs", c->operation, index, "recipe.json", to_json(*c));
        }
    }

    void keep(const std::string& folder, const std::string& group, std::uint64_t index,
              const std::string& name, const json& content) {
        const std::string directory =
            options_.directory + "/" + folder + "/" + group + "/" + std::to_string(index);
        make_evidence_directories(directory);
        write_file(directory, name, content.dump(2) + "\n");
    }

    const CampaignOptions& options_;
    const Plan& plan_;
    const IdentifiedTools& tools_;
    CaseSource cases_;
    const CampaignHooks& hooks_;
    const std::vector<std::string>& reference_varies_;
    std::set<std::string> unavailable_;
    Tally& tally_;
    Journal& journal_;
    WorkerPool& pool_;
    Committer committer_;
    std::uint64_t next_;
    std::deque<std::uint64_t> alone_;  // to run with nothing beside them
    bool running_alone_ = false;
    std::set<std::uint64_t> timed_out_;  // once already
    std::set<std::uint64_t> finished_;   // ahead of the commit
    std::map<std::uint64_t, unsigned> deaths_;
    bool out_of_time_ = false;
    Clock::time_point begin_;
    std::uint64_t committed_before_;
};

void add_untested(Tally& tally, std::uint64_t from, std::uint64_t iterations, const Shard& shard) {
    for (std::uint64_t index = from; index < iterations; ++index) {
        CaseReport report;
        report.index = index;
        report.terminal = shard.holds(index) ? Terminal::untested : Terminal::outside_shard;
        tally.add(report);
    }
}

// Confirms and shrinks what diverged. False when it was stopped on the way.
bool triage_campaign(const CampaignOptions& options, const CampaignHooks& hooks, WorkerPool& pool,
                     Journal& journal, const std::vector<TriageResult>& earlier,
                     CampaignResult& result) {
    const Clock::time_point begin = Clock::now();
    const auto progress = [&](std::size_t done, std::size_t total) {
        if (hooks.progress) {
            hooks.progress(
                {done, total, 0, result.tally.buckets().size(), seconds_since(begin), done, true});
        }
    };
    bool done = false;
    result.triage = run_triage(pool, journal, result.tally, earlier,
                               {options.directory, options.triage_runs, options.jobs,
                                options.shard.count > 1, result.reference_varies},
                               progress, done);
    result.slips_left_out = slips_left_out(result.tally, result.triage);
    result.tally.set_buckets(buckets_after(result.tally, result.triage));
    return done;
}

// Holds what is new against the baseline. False when it was stopped on the way.
bool ask_baseline(WorkerPool& pool, const CampaignOptions& options, const Profile& baseline,
                  std::uint64_t committed, CampaignResult& result, const CampaignHooks& hooks) {
    if (hooks.note) {
        hooks.note("new divergences are held against the baseline " + baseline.version_text);
    }
    auto buckets = held_against_baseline(pool, options.directory, baseline, result.tally.buckets());
    if (!buckets) {
        return false;
    }
    result.tally.set_buckets(*std::move(buckets));
    std::vector<std::uint64_t> cases;
    for (std::uint64_t i = 0; i < std::min(options.fixed_meanwhile, committed); ++i) {
        if (options.shard.holds(i)) {
            cases.push_back(i);
        }
    }
    result.fixed = find_fixed(pool, cases);
    return !pool.stopped();
}

}  // namespace

CampaignResult run_campaign(const CampaignOptions& asked, const CampaignHooks& hooks) {
    const Clock::time_point begin = Clock::now();
    CampaignOptions options = asked;
    options.directory = std::filesystem::absolute(asked.directory).lexically_normal();
    const Registry known = load_registry(options.known_mode, options.known_directory);
    const Evidence evidence = open_evidence(options.directory, options.resume);
    const IdentifiedTools tools = identify_tools(options, evidence.staging.get());

    Plan plan = default_plan();
    if (!options.operations.empty()) {
        plan.operations = options.operations;
    }
    plan.damaged_percent = options.damaged_percent;
    plan.formats = tools.formats;
    plan.features = tools.features;
    plan.versions = declared_versions(tools.subject, tools.reference);
    plan.registry_mode = options.known_mode;
    plan.registry_digest = registry_digest(known.files);
    check_plan(plan);

    const json terms = terms_json(options, plan, tools);
    if (evidence.earlier) {
        require_same_terms(
            {*evidence.earlier, read_campaign_plan(options.directory)},
            {campaign_json("incomplete", terms, tools, options, json::object()), plan});
    }

    CampaignResult result;
    result.plan = plan;
    result.known = known;
    result.subject = tools.subject;
    result.reference = tools.reference;
    result.baseline = tools.baseline;
    result.containment = tools.containment;
    result.seed = options.seed;
    result.determinism = options.determinism;

    if (hooks.note) {
        hooks.note("seed " + std::to_string(options.seed) + ", evidence in " + options.directory);
    }
    WorkerSetup setup = worker_setup(options, plan);
    setup.reach = reach_of(plan).operations();
    setup.subject_profile = to_json(tools.subject).dump();
    setup.reference_profile = to_json(tools.reference).dump();
    setup.stamps = tools.stamps;
    setup.known = known.files;

    boost::asio::io_context context;
    WorkerPool pool(context, options.executable, evidence.staging.get(), setup, options.jobs);
    bool interrupted = false;
    boost::asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](const boost::system::error_code& error, int) {
        if (!error) {
            interrupted = true;
            pool.stop();
        }
    });

    // A campaign that fails before its first case leaves nothing but an empty directory.
    ControlReport controls;
    if (options.roles == RolePair{}) {
        controls = run_controls(pool, plan, options.seed, options.faults,
                                options.determinism != Determinism::off);
    }
    result.controls = controls.results;
    result.unavailable = controls.unavailable;

    if (!evidence.earlier) {
        write_file(evidence.root.get(), "plan.json", to_json(plan).dump(2) + "\n");
    }
    // A resumed campaign goes on by what it was begun with.
    result.reference_varies =
        evidence.earlier ? evidence.earlier->at("reference_varies").get<std::vector<std::string>>()
                         : controls.reference_varies;
    json origin = origin_json(evidence, options);
    origin["reference_varies"] = result.reference_varies;
    if (options.subject_source) {
        write_file(evidence.root.get(), std::string(patch_name), options.subject_source->patch);
    }
    write_campaign(evidence, campaign_json("incomplete", terms, tools, options, origin));
    const JournalState state = Journal::load(options.directory, [&](const CaseReport& report) {
        if (report.terminal == Terminal::outside_shard && options.shard.holds(report.index)) {
            throw EnvironmentError("the journal in '" + options.directory + "' lacks case " +
                                   std::to_string(report.index) +
                                   "; start anew in another --out directory");
        }
        result.tally.add(report);
    });
    const std::vector<TriageResult> triaged_earlier = triaged_before(state, options.directory);
    Journal journal(options.directory);

    bool cases_over = false;  // the timer's last word may come later
    bool reached_max_new = false;
    std::uint64_t committed = state.committed;
    if (controls.failures.empty() && !interrupted) {
        CaseRun run(options, plan, known, tools, hooks, controls.unavailable,
                    result.reference_varies, result.tally, journal, state, pool);
        boost::asio::steady_timer timer(context);
        if (options.duration) {
            timer.expires_after(*options.duration);
            timer.async_wait([&](const boost::system::error_code& error) {
                if (!error && !cases_over) {
                    run.out_of_time();
                }
            });
        }
        run.run();
        cases_over = true;
        reached_max_new = run.reached_max_new();
        committed = run.committed();
    }
    bool triaged = !interrupted && controls.failures.empty();
    if (triaged && options.triage_runs > 0) {
        triaged = triage_campaign(options, hooks, pool, journal, triaged_earlier, result);
    }
    if (triaged && tools.baseline) {
        triaged = ask_baseline(pool, options, *tools.baseline, committed, result, hooks);
    }
    journal.sync();

    result.iterations = options.duration_bounds ? committed : options.iterations;
    add_untested(result.tally, committed, result.iterations, options.shard);
    VerdictTerms verdict;
    verdict.iterations = result.iterations;
    verdict.min_compared = options.min_compared;
    verdict.max_inconclusive = options.max_inconclusive;
    verdict.null_run = tools.subject.identity == tools.reference.identity;
    verdict.baseline = tools.baseline.has_value();
    verdict.baseline_is_subject =
        tools.baseline && tools.baseline->identity == tools.subject.identity;
    verdict.interrupted = interrupted;
    verdict.known_mode = plan.registry_mode;
    verdict.determinism = options.determinism;
    verdict.stopped_at_max_new = reached_max_new;
    verdict.control_failures = controls.failures;
    result.verdict = judge(result.tally, verdict);

    if (!interrupted) {
        result.usage = pool.collect_usage();
    }
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    result.coordinator_cpu_us =
        static_cast<std::uint64_t>(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1'000'000 +
        static_cast<std::uint64_t>(own.ru_utime.tv_usec + own.ru_stime.tv_usec);
    result.coordinator_peak_bytes = static_cast<std::uint64_t>(own.ru_maxrss) * 1024;
    result.seconds = seconds_since(begin);
    remove_tree(options.directory + "/staging");
    const bool complete = !interrupted && controls.failures.empty() && triaged &&
                          (committed == result.iterations || reached_max_new);
    origin["runs"].back()["used_seconds"] = result.seconds;
    write_campaign(evidence, campaign_json(complete ? "complete" : "incomplete", terms, tools,
                                           options, origin));
    return result;
}

}  // namespace difffuzz
