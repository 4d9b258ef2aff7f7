// Drawing that the operations which convert have in common: the sources, and options that do not
// depend on whether the target is made or there already.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pickers/picker.hpp"

namespace difffuzz {

// The largest -S, bytes, and the largest -m.
inline constexpr std::uint64_t max_sparse_size = std::uint64_t{16} << 20;
inline constexpr std::int64_t max_coroutines = 16;
// A rate (-r) that nothing reaches, so that no time passes in waiting; bytes a second.
inline constexpr std::uint64_t idle_rate = std::uint64_t{64} << 30;

enum class ConvertSparse { absent, zero, value };

// What the draw of a whole case is decided by, before the images are drawn.
struct ConvertShape {
    bool compressed = false;
    std::string_view target;  // format
    ConvertSparse sparse = ConvertSparse::absent;
    bool several = false;
    bool source_format = true;                        // -f is given
    std::uint64_t max_size = std::uint64_t{5} << 30;  // of a source, bytes
};

// A target of one of `targets` that the plan declares.
ConvertShape draw_convert_shape(const Draws& draws, const Plan& plan, bool compressed,
                                std::span<const Weighted<std::string_view>> targets);

// Draws the images to read, appends them to the case, and returns their ids in order.
std::vector<std::string> draw_convert_sources(Case& c, const PickContext& context,
                                              const ConvertShape& shape);

void draw_sparse_option(Step& step, const Draws& draws, const ConvertShape& shape);

// -p, -q, -U, -t, -T, -m, -W, -r, -C, --salvage and -l.
void draw_convert_flags(Step& step, const Draws& draws, const Case& c, const ConvertShape& shape);

}  // namespace difffuzz
