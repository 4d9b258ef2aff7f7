#include "pickers/creation_option_values.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "pickers/rules.hpp"

namespace difffuzz {

std::string_view word_of(const std::vector<FormatOption>& options, std::string_view name) {
    const Scalar* value = find_creation_option(options, name);
    const auto* word = value == nullptr ? nullptr : std::get_if<WordValue>(value);
    return word == nullptr ? std::string_view{} : std::string_view(word->text);
}

std::optional<std::uint64_t> number_of(const std::vector<FormatOption>& options,
                                       std::string_view name) {
    const Scalar* value = find_creation_option(options, name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (const auto* size = std::get_if<SizeValue>(value)) {
        return size->bytes;
    }
    const auto* number = std::get_if<NumberValue>(value);
    return number == nullptr || number->value < 0
               ? std::nullopt
               : std::optional(static_cast<std::uint64_t>(number->value));
}

bool is_cluster_size(std::uint64_t bytes) {
    return std::has_single_bit(bytes) && bytes >= 512 && bytes <= (2U << 20);
}
bool is_refcount_width(std::uint64_t bits) { return std::has_single_bit(bits) && bits <= 64; }

bool is_version_2(const std::vector<FormatOption>& options) {
    const std::string_view compat = word_of(options, "compat");
    return compat == "0.10" || compat == "v2";
}

// The cluster size asked for where it is one, else the default.
std::uint64_t cluster_of(const std::vector<FormatOption>& options) {
    const auto asked = number_of(options, "cluster_size");
    return asked && is_cluster_size(*asked) ? *asked : default_cluster;
}

bool has_preallocation(const std::vector<FormatOption>& options) {
    const std::string_view mode = word_of(options, "preallocation");
    return !mode.empty() && mode != "off";
}

bool makes_qcow2(const Case& c) { return target_format(c) == "qcow2"; }

}  // namespace difffuzz
