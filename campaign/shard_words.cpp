#include "campaign/shard_words.hpp"

#include <cstdlib>
#include <vector>

#include "core/decimal.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

std::string shown(const Shard& shard) {
    return std::to_string(shard.index + 1) + "/" + std::to_string(shard.count);
}

// A scheduler that numbers the jobs it starts.
struct Scheduler {
    const char* name;
    const char* mark;  // the variable that only such a job has
    Shard (*shard)(const Environment& environment);
};

std::uint64_t number_in(const Environment& environment, const char* name,
                        const std::string& remedy) {
    const auto text = environment(name);
    if (!text) {
        throw UsageError("--shard auto: " + std::string(name) + " is not set" + remedy);
    }
    const auto number = parse_decimal(*text);
    if (!number) {
        throw UsageError("--shard auto: " + std::string(name) + " is '" + text->substr(0, 80) +
                         "', not a whole number; give --shard I/N");
    }
    return *number;
}

Shard checked(std::uint64_t index, std::uint64_t count, const std::string& variables) {
    if (count == 0 || count > max_shards || index >= count) {
        throw UsageError("--shard auto: " + variables + " make no shard (the " +
                         std::to_string(index) + "th, counted from 0, of " + std::to_string(count) +
                         "); give --shard I/N");
    }
    return {index, count};
}

Shard slurm(const Environment& environment) {
    const std::string remedy = ", as it is for every task of an array; give --shard I/N";
    const std::uint64_t id = number_in(environment, "SLURM_ARRAY_TASK_ID", remedy);
    const std::uint64_t least = number_in(environment, "SLURM_ARRAY_TASK_MIN", remedy);
    const std::uint64_t most = number_in(environment, "SLURM_ARRAY_TASK_MAX", remedy);
    const std::uint64_t step = number_in(environment, "SLURM_ARRAY_TASK_STEP", remedy);
    const std::uint64_t count = number_in(environment, "SLURM_ARRAY_TASK_COUNT", remedy);
    const bool regular = step > 0 && least <= id && id <= most && (id - least) % step == 0 &&
                         (most - least) / step + 1 == count;
    if (!regular) {
        throw UsageError("--shard auto: the array of Slurm is no plain range (task " +
                         std::to_string(id) + " of " + std::to_string(least) + "-" +
                         std::to_string(most) + ":" + std::to_string(step) + ", " +
                         std::to_string(count) +
                         " tasks); submit it with --array=FIRST-LAST, or give --shard I/N");
    }
    return checked((id - least) / step, count, "SLURM_ARRAY_TASK_*");
}

Shard gitlab(const Environment& environment) {
    const std::uint64_t index = number_in(environment, "CI_NODE_INDEX", "");
    const std::uint64_t total =
        number_in(environment, "CI_NODE_TOTAL", ", though CI_NODE_INDEX is; give --shard I/N");
    if (index == 0) {
        throw UsageError("--shard auto: CI_NODE_INDEX is 0, but counts from 1; give --shard I/N");
    }
    return checked(index - 1, total, "CI_NODE_INDEX and CI_NODE_TOTAL");
}

Shard kubernetes(const Environment& environment) {
    const std::uint64_t index = number_in(environment, "JOB_COMPLETION_INDEX", "");
    const std::uint64_t count = number_in(
        environment, "DIFFFUZZ_SHARD_COUNT",
        ", and Kubernetes does not tell the number of completions; set it in the job's env");
    return checked(index, count, "JOB_COMPLETION_INDEX and DIFFFUZZ_SHARD_COUNT");
}

constexpr Scheduler schedulers[] = {{"Slurm", "SLURM_ARRAY_TASK_ID", slurm},
                                    {"GitLab", "CI_NODE_INDEX", gitlab},
                                    {"Kubernetes", "JOB_COMPLETION_INDEX", kubernetes}};

Shard from_scheduler(const Environment& environment) {
    const Scheduler* first = nullptr;
    Shard shard;
    std::string marks;
    for (const Scheduler& scheduler : schedulers) {
        marks += std::string(marks.empty() ? "" : ", ") + scheduler.mark;
        if (!environment(scheduler.mark)) {
            continue;
        }
        const Shard told = scheduler.shard(environment);
        if (first != nullptr && told != shard) {
            throw UsageError(std::string("--shard auto: ") + first->name + " says " + shown(shard) +
                             " and " + scheduler.name + " says " + shown(told) +
                             "; give --shard I/N");
        }
        first = &scheduler;
        shard = told;
    }
    if (first == nullptr) {
        throw UsageError("--shard auto: no scheduler numbers this job (" + marks +
                         " are not set); give --shard I/N");
    }
    return shard;
}

}  // namespace

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

Shard parse_shard(const std::string& text, const Environment& environment) {
    if (text.empty()) {
        return {};
    }
    if (text == "auto") {
        return from_scheduler(environment);
    }
    const std::size_t slash = text.find('/');
    const auto index = parse_decimal(text.substr(0, slash));
    const auto count =
        slash == std::string::npos ? std::nullopt : parse_decimal(text.substr(slash + 1));
    if (!index || !count || *index < 1 || *index > *count || *count > max_shards) {
        throw UsageError("--shard takes I/N with I from 1 to N (at most " +
                         std::to_string(max_shards) + "), such as 2/4, or auto, not '" +
                         text.substr(0, 80) + "'");
    }
    return {*index - 1, *count};
}

}  // namespace difffuzz
