#include "campaign/evidence/stage.hpp"

#include "campaign/evidence/files.hpp"
#include "core/tools/file_descriptor.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

json outcome_json(const StepObservation& step) {
    const Usage& usage = step.outcome.usage;
    json argv = json::array();
    for (const std::string& word : step.argv) {
        argv.push_back(shown_text(word, 4096));
    }
    json files = json::array();
    for (const FileEntry& file : step.files) {
        files.push_back({{"name", shown_text(file.name, 512)}, {"bytes", file.bytes}});
    }
    json result{{"argv", std::move(argv)},
                {"class", to_string(outcome_class(step.outcome.ending))},
                {"stdout_bytes", step.outcome.out.observed_bytes},
                {"stderr_bytes", step.outcome.err.observed_bytes},
                {"stdout_cut", step.outcome.out.cut()},
                {"stderr_cut", step.outcome.err.cut()},
                {"processes_left", step.outcome.processes_left},
                {"peak_memory_bytes", usage.peak_memory_bytes},
                {"disk_bytes", usage.disk_bytes},
                {"user_us", usage.user_us},
                {"system_us", usage.system_us},
                {"wall_us", usage.wall_us},
                {"files", std::move(files)}};
    if (usage.written_bytes) {
        result["written_bytes"] = *usage.written_bytes;
    }
    if (usage.tasks) {
        result["tasks"] = *usage.tasks;
    }
    if (const auto* exited = std::get_if<Exited>(&step.outcome.ending)) {
        result["code"] = exited->code;
    } else if (const auto* signalled = std::get_if<Signalled>(&step.outcome.ending)) {
        result["signal"] = signalled->signal;
    }
    return result;
}

void stage_side(int raw, const std::string& side, const Observation& observation) {
    for (std::size_t s = 0; s < observation.steps.size(); ++s) {
        const StepObservation& step = observation.steps[s];
        const std::string prefix = side + "-step" + std::to_string(s);
        write_file(raw, prefix + ".json", outcome_json(step).dump(2) + "\n");
        write_file(raw, prefix + ".stdout", stream_text(step.outcome.out));
        write_file(raw, prefix + ".stderr", stream_text(step.outcome.err));
    }
}

}  // namespace

void stage_record(int staging, const std::string& name, const json& record,
                  const CaseResult& result, const std::vector<EvidenceFile>& extra) {
    make_directory(staging, name);
    const FileDescriptor directory(open_directory(staging, name));
    write_file(directory.get(), "record.json", record.dump(2) + "\n");
    for (const EvidenceFile& file : extra) {
        write_file(directory.get(), file.name, file.content);
    }
    make_directory(directory.get(), "raw");
    const FileDescriptor raw(open_directory(directory.get(), "raw"));
    stage_side(raw.get(), "subject", result.subject);
    stage_side(raw.get(), "reference", result.reference);
    stage_side(raw.get(), "again", result.subject_again);
}

}  // namespace difffuzz
