// What an amend step does to the image of a case, and what speaks against it.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/cases/case.hpp"
#include "images/state_model.hpp"

namespace difffuzz {

// Virtual sizes that images are amended to are at most this, bytes.
inline constexpr std::uint64_t largest_amended = std::uint64_t{64} << 20;

// StepKind::apply of amend.
std::string_view apply_amendment(const Case& c, const Step& step, CaseState& state);

}  // namespace difffuzz
