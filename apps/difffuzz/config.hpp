// difffuzz.toml: defaults of a checkout.
#pragma once

#include <optional>
#include <string>

namespace difffuzz {

struct Config {
    std::string path;
    std::optional<std::string> subject;  // relative ones are relative to the file
    std::optional<std::string> reference;
};

// The difffuzz.toml of the working directory or the nearest above it, up to the repository's root
// or the home directory; only one that belongs to the user or root and that nobody else can write.
// Throws UsageError naming file, line and reason for one that cannot be used.
std::optional<Config> find_config();

}  // namespace difffuzz
