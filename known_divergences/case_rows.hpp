// A case as rows of tables: what predicates can ask about. docs/known-divergences.md lists them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/cases/case.hpp"

namespace difffuzz {

// NULL, an integer, or text. Numbers above 2^63 - 1 are given as 2^63 - 1.
using Cell = std::variant<std::monostate, std::int64_t, std::string>;
using Row = std::vector<Cell>;

enum class CaseTable { step, arg, image, feature, write, damage };
inline constexpr std::size_t case_table_count = 6;

struct TableShape {
    std::string_view name;
    std::string_view columns;  // as CREATE TABLE takes them
    std::size_t width;
};
const std::array<TableShape, case_table_count>& case_tables();

// The rows of one table, in the order of the case. Pure.
std::vector<Row> case_rows(const Case& c, CaseTable table);

// The image that a step is about: the first that its positional arguments name; empty if none.
std::string main_image(const Step& step);

}  // namespace difffuzz
