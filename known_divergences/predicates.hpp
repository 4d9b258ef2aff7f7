// Predicates of known divergences: SQL expressions over the rows of one case, asked in an
// in-memory SQLite. They come from users: they can read these tables and nothing else, call a few
// functions, and take a bounded number of steps of SQLite's virtual machine.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"
#include "known_divergences/case_rows.hpp"
#include "known_divergences/entry.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace difffuzz {

// What one predicate may take for one step of one case: about 2 ms.
inline constexpr std::uint64_t max_predicate_steps = 200'000;

// An expression may use the tables of case_rows.hpp and pair(role, tool, version), whose versions
// compare as versions where the table is asked (elsewhere with COLLATE version); and the parameters
// :step (the number of the step it is asked for) and :image (the id of its main image, or NULL). It
// holds when its value is neither NULL nor 0.
class Predicates {
public:
    explicit Predicates(const ToolPair& pair);

    // Compiles the entry's predicate; its number is that of the call. Throws UsageError with its
    // place and what is wrong with it.
    void add(const KnownDivergence& entry);

    // The case that holds() asks about from now on; it must live until the next one.
    void set_case(const Case& c);

    // Throws UsageError with the entry's place when it takes too many steps or cannot be computed
    // (an integer overflow, say).
    bool holds(std::size_t predicate, std::size_t step);

private:
    struct CloseDatabase {
        void operator()(sqlite3* database) const;
    };
    struct FinishStatement {
        void operator()(sqlite3_stmt* statement) const;
    };
    using Database = std::unique_ptr<sqlite3, CloseDatabase>;
    using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;
    using TableSet = std::array<bool, case_table_count>;

    struct Compiled {
        Statement statement;
        TableSet reads{};
        Place place;
        std::string id;
    };

    void compile(Compiled& compiled, const std::string& sql) const;
    Statement prepare(const std::string& sql) const;
    void create_tables(const ToolPair& pair);
    void load(CaseTable table);
    [[noreturn]] void refuse(const Compiled& compiled, const std::string& reason) const;

    // What compiling one predicate asked for.
    struct Authorised {
        TableSet reads{};
        bool denied = false;
        bool allows(int action, std::string_view first, std::string_view second);
    };
    static int authorise(void* context, int action, const char* first, const char* second,
                         const char* database, const char* trigger);
    static int count_steps(void* left);

    Database database_;
    std::array<Statement, case_table_count> insert_;
    std::array<Statement, case_table_count> clear_;
    std::vector<Compiled> compiled_;
    const Case* case_ = nullptr;
    TableSet loaded_{};
    std::uint64_t steps_left_ = 0;
};

}  // namespace difffuzz
