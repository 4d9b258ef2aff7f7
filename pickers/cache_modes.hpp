// The cache modes of -t and -T. `none` and `directsync` are never drawn: they need a file system
// with O_DIRECT, which a workspace in memory need not have.
#pragma once

#include "pickers/value_rules.hpp"

namespace difffuzz {

inline constexpr std::string_view cache_words[] = {"writeback", "writethrough", "unsafe"};

struct TargetCacheOption {
    static constexpr std::string_view option = "-t";
    static constexpr std::string_view text_rule = "unknown-cache-mode";
    static constexpr std::string_view texts[] = {"write", "Unsafe", "on", ""};
};

struct SourceCacheOption {
    static constexpr std::string_view option = "-T";
    static constexpr std::string_view text_rule = "unknown-source-cache-mode";
    static constexpr std::string_view texts[] = {"write", "Unsafe", "on", ""};
};

}  // namespace difffuzz
