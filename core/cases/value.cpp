#include "core/cases/value.hpp"

#include <array>

namespace difffuzz {

Value to_value(Scalar scalar) {
    return std::visit([](auto&& inner) -> Value { return std::forward<decltype(inner)>(inner); },
                      std::move(scalar));
}

SizeValue plain_size(std::uint64_t bytes) { return {bytes, std::to_string(bytes)}; }

SizeValue suffixed_size(std::uint64_t bytes) {
    static constexpr std::array<std::pair<unsigned, char>, 4> suffixes{
        {{40, 'T'}, {30, 'G'}, {20, 'M'}, {10, 'k'}}};
    for (const auto& [shift, letter] : suffixes) {
        const std::uint64_t unit = std::uint64_t{1} << shift;
        if (bytes != 0 && bytes % unit == 0) {
            return {bytes, std::to_string(bytes / unit) + letter};
        }
    }
    return plain_size(bytes);
}

}  // namespace difffuzz
