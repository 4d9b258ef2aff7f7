#include "apps/difffuzz/reproducing.hpp"

#include <filesystem>

#include <boost/asio/io_context.hpp>

#include "apps/difffuzz/tools.hpp"
#include "campaign/evidence/files.hpp"
#include "campaign/identify.hpp"
#include "campaign/workers/pool.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"
#include "reporting/filing/embedded_record.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{16} << 20;
constexpr unsigned repro_runs = 3;
constexpr std::string_view record_kind = "difffuzz.record/";

// A directory that is removed with all its content at the end.
class ScratchDirectory {
public:
    ScratchDirectory() {
        std::string path = (std::filesystem::temp_directory_path() / "difffuzz-XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr) {
            throw EnvironmentError("cannot make a directory below " +
                                   std::filesystem::temp_directory_path().string());
        }
        path_ = path;
        descriptor_ = FileDescriptor(open_directory(path_));
    }
    ~ScratchDirectory() {
        std::error_code ignored;  // nothing can be done about it at this point
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    int descriptor() const { return descriptor_.get(); }

private:
    std::string path_;
    FileDescriptor descriptor_;
};

CaseReport run_once(WorkerPool& pool, const Case& c) {
    Task task;
    task.recipe = c;
    task.digests = true;
    bool handed_out = false;
    CaseReport result;
    result.terminal = Terminal::harness_killed;
    WorkerPool::Handlers handlers;
    handlers.next = [&]() -> NextTask {
        if (handed_out) {
            return NothingLeft{};
        }
        handed_out = true;
        return task;
    };
    handlers.done = [&](const Task&, CaseReport report) { result = std::move(report); };
    handlers.lost = [](const Task&) {};
    pool.run(handlers);
    return result;
}

}  // namespace

ParsedRecord read_input(const std::string& path) {
    std::string text = read_file(path, max_input_bytes);
    if (auto record = find_embedded_record(text)) {
        text = std::move(*record);
    }
    ParsedRecord input;
    try {
        const nlohmann::json json = parse_bounded(text, max_input_bytes, 128);
        if (json.is_object() && json.value("schema", "").starts_with(record_kind)) {
            input = parse_record(text);
        } else {
            input.recipe = case_from_text(text);
        }
    } catch (const RecipeError& error) {
        throw UsageError("'" + path + "' cannot be used: " + error.what());
    } catch (const nlohmann::json::exception&) {
        throw UsageError("'" + path + "' cannot be used: it is neither a record nor a recipe");
    }
    if (const auto violations = validate(input.recipe); !violations.empty()) {
        throw UsageError("'" + path + "' holds a case outside of the envelope of '" +
                         input.recipe.operation + "': " + violations.front().rule + ", " +
                         violations.front().detail);
    }
    return input;
}

Found judge_run(const ParsedRecord& input, const CaseReport& report) {
    switch (report.terminal) {
        case Terminal::agreed:
        case Terminal::refused_by_both:
            return Found::gone;
        case Terminal::diverged:
            return !input.symptom || to_json(*input.symptom) == report.symptom ? Found::same
                                                                               : Found::other;
        default:
            return Found::unclear;
    }
}

std::string drifted_image(const ParsedRecord& input, const CaseReport& report) {
    for (const auto& [id, digest] : input.image_digests) {
        const auto found = report.image_digests.find(id);
        if (found == report.image_digests.end() || found->second != digest) {
            return id;
        }
    }
    return {};
}

struct Reproducer::State {
    ScratchDirectory scratch;
    boost::asio::io_context context;
    CampaignOptions options;
    std::unique_ptr<WorkerPool> pool;
};

Reproducer::Reproducer(const Flags& flags) : state_(std::make_unique<State>()) {
    const ToolPaths tools = find_tools(flags);
    CampaignOptions& options = state_->options;
    options.subject = tools.subject;
    options.reference = tools.reference;
    options.exposed = exposed_from(flags);
    options.run_as = tool_identity(flags);
    options.limits = limits_from(flags);
    state_->pool = std::make_unique<WorkerPool>(state_->context, options.executable,
                                                state_->scratch.descriptor(),
                                                worker_setup(options, default_plan()), 1);
}

Reproducer::~Reproducer() = default;

std::vector<CaseReport> Reproducer::run(const ParsedRecord& input) {
    std::vector<CaseReport> reports{run_once(*state_->pool, input.recipe)};
    while (reports.size() < repro_runs && judge_run(input, reports.front()) != Found::same) {
        reports.push_back(run_once(*state_->pool, input.recipe));
    }
    return reports;
}

}  // namespace difffuzz
