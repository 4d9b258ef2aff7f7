// Rules about the value of one option, made from a description of that option:
//
//     struct CountOption {
//         static constexpr std::string_view option = "-c";
//         static constexpr std::string_view text_rule = "count-not-a-number";
//         static constexpr std::string_view range_rule = "count-out-of-range";
//         static constexpr std::uint64_t max = 2147483647;      // and 0 the least
//         static constexpr std::string_view texts[] = {"abc"};  // that are no value at all
//         static constexpr std::int64_t outside[] = {-1};       // for sizes std::uint64_t
//     };
//
// Numbers (NumberValue) and sizes (SizeValue) alike: the type of `outside` tells which it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "pickers/rules.hpp"

namespace difffuzz {

// The option's value where it is a number; nothing where it is absent or of another type.
inline std::optional<std::int64_t> number_of(const Step& step, std::string_view option) {
    const auto* number = option_value<NumberValue>(step, option);
    return number == nullptr ? std::nullopt : std::optional(number->value);
}

// The option's value in bytes where it is a size; nothing where it is absent or of another type.
inline std::optional<std::uint64_t> bytes_of(const Step& step, std::string_view option) {
    const auto* size = option_value<SizeValue>(step, option);
    return size == nullptr ? std::nullopt : std::optional(size->bytes);
}

template <typename Option>
inline constexpr bool takes_size =
    std::is_same_v<std::remove_cvref_t<decltype(Option::outside[0])>, std::uint64_t>;

// The option's value is a literal: nothing of the option's type.
template <typename Option>
Rule text_rule(std::string_view why, bool (*applicable)(const Case&) = nullptr) {
    return {Option::text_rule,
            true,
            why,
            [](const Case& c) {
                return option_value<LiteralValue>(last_step(c), Option::option) != nullptr;
            },
            [](Case& c, const Draws& draws) {
                set_option(last_step(c), Option::option,
                           LiteralValue{std::string(draws.pick("text", Option::texts))});
            },
            applicable};
}

// The option's value is a number or size outside of 0..max.
template <typename Option>
Rule range_rule(std::string_view why, bool (*applicable)(const Case&) = nullptr) {
    return {Option::range_rule,
            true,
            why,
            [](const Case& c) {
                if constexpr (takes_size<Option>) {
                    const auto bytes = bytes_of(last_step(c), Option::option);
                    return bytes && *bytes > Option::max;
                } else {
                    const auto number = number_of(last_step(c), Option::option);
                    return number &&
                           (*number < 0 || static_cast<std::uint64_t>(*number) > Option::max);
                }
            },
            [](Case& c, const Draws& draws) {
                const auto value = draws.pick("outside", Option::outside);
                if constexpr (takes_size<Option>) {
                    set_option(last_step(c), Option::option, suffixed_size(value));
                } else {
                    set_option(last_step(c), Option::option, NumberValue{value});
                }
            },
            applicable};
}

}  // namespace difffuzz
