// What the -o lists of a step ask for, read as values: shared by drawing, rules and costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pickers/creation_options.hpp"

namespace difffuzz {

// Bytes: of qcow2, and for formats without clusters.
inline constexpr std::uint64_t default_cluster = 64 << 10;

// The row of the table; null for an option that the format does not have.
const CreationOption* known_option(std::string_view format, std::string_view name);

// The word of the last option of that name; empty where it is absent or no word.
std::string_view word_of(const std::vector<FormatOption>& options, std::string_view name);
// Its size in bytes, or its number; nothing where it is absent, of another type or negative.
std::optional<std::uint64_t> number_of(const std::vector<FormatOption>& options,
                                       std::string_view name);

// A power of two from 512 to 2 MiB.
bool is_cluster_size(std::uint64_t bytes);
// A power of two from 1 to 64.
bool is_refcount_width(std::uint64_t bits);

// Of qcow2:
bool is_version_2(const std::vector<FormatOption>& options);
// The cluster size asked for where it is one, else the default; bytes.
std::uint64_t cluster_of(const std::vector<FormatOption>& options);
bool has_preallocation(const std::vector<FormatOption>& options);
bool makes_qcow2(const Case& c);

}  // namespace difffuzz
