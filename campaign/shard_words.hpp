// --shard: which part of the cases this machine runs.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "campaign/shard.hpp"

namespace difffuzz {

// The value of an environment variable.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// "" is the whole; "I/N" counts from 1; "auto" is what the scheduler that started this process
// says: Slurm (an array), GitLab (`parallel`), Kubernetes (an indexed job, with the number of its
// completions in DIFFFUZZ_SHARD_COUNT). Throws UsageError for anything else: no scheduler, two that
// contradict each other, numbers that make no shard.
Shard parse_shard(const std::string& text, const Environment& environment);

}  // namespace difffuzz
