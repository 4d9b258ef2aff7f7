#include "known_divergences/predicates.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string_view>

#include <sqlite3.h>

namespace difffuzz {
namespace {

constexpr int steps_between_counts = 100;

// Deterministic, without side effects, and bounded by what goes in.
constexpr std::string_view allowed_functions[] = {
    "abs",    "coalesce", "count", "glob",  "ifnull", "iif",   "instr",
    "length", "like",     "lower", "ltrim", "max",    "min",   "nullif",
    "rtrim",  "substr",   "sum",   "trim",  "typeof", "upper",
};

int compare_version_texts(void*, int a_bytes, const void* a, int b_bytes, const void* b) {
    const auto text = [](const void* bytes, int count) {
        return std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
    };
    const auto order = compare_versions(text(a, a_bytes), text(b, b_bytes));
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

void bind(sqlite3_stmt* statement, int at, const Cell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
        sqlite3_bind_int64(statement, at, *integer);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
        sqlite3_bind_text(statement, at, text->data(), static_cast<int>(text->size()),
                          SQLITE_TRANSIENT);
    } else {
        sqlite3_bind_null(statement, at);
    }
}

void run_once(sqlite3_stmt* statement) {
    const int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    if (result != SQLITE_DONE) {
        throw std::runtime_error(std::string("SQLite: ") + sqlite3_errstr(result));
    }
}

void run_with(sqlite3_stmt* statement, const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
        bind(statement, static_cast<int>(i) + 1, row[i]);
    }
    run_once(statement);
}

void bound_language(sqlite3* database) {
    for (const auto& [what, most] :
         {std::pair{SQLITE_LIMIT_LENGTH, 1 << 20}, std::pair{SQLITE_LIMIT_SQL_LENGTH, 16 << 10},
          std::pair{SQLITE_LIMIT_EXPR_DEPTH, 100}, std::pair{SQLITE_LIMIT_COMPOUND_SELECT, 8},
          std::pair{SQLITE_LIMIT_FUNCTION_ARG, 8}, std::pair{SQLITE_LIMIT_ATTACHED, 0},
          std::pair{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256},
          std::pair{SQLITE_LIMIT_VARIABLE_NUMBER, 16}}) {
        sqlite3_limit(database, what, most);
    }
}

}  // namespace

void Predicates::CloseDatabase::operator()(sqlite3* database) const { sqlite3_close(database); }
void Predicates::FinishStatement::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Predicates::Predicates(const ToolPair& pair) {
    sqlite3* opened = nullptr;
    const int result = sqlite3_open_v2(
        ":memory:", &opened,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
        nullptr);
    database_.reset(opened);
    if (result != SQLITE_OK) {
        throw std::runtime_error(std::string("SQLite: ") + sqlite3_errstr(result));
    }
    // Else an unknown column in double quotes is taken for a text.
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_create_collation(opened, "version", SQLITE_UTF8, nullptr, compare_version_texts);
    create_tables(pair);
    bound_language(opened);
}

Predicates::Statement Predicates::prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
        throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(database_.get()));
    }
    return Statement(statement);
}

// Nothing is ever rolled back, and nothing is on a disk.
void Predicates::create_tables(const ToolPair& pair) {
    for (const char* pragma : {"PRAGMA journal_mode = OFF", "PRAGMA temp_store = MEMORY"}) {
        const Statement statement = prepare(pragma);
        while (sqlite3_step(statement.get()) == SQLITE_ROW) {
        }
    }
    run_once(prepare("CREATE TABLE pair(role, tool, version COLLATE version)").get());
    const Statement add_tool = prepare("INSERT INTO pair VALUES(?, ?, ?)");
    run_with(add_tool.get(), {std::string("subject"), pair.subject.tool, pair.subject.version});
    run_with(add_tool.get(),
             {std::string("reference"), pair.reference.tool, pair.reference.version});
    for (std::size_t t = 0; t < case_table_count; ++t) {
        const TableShape& shape = case_tables()[t];
        const std::string name(shape.name);
        run_once(prepare("CREATE TABLE " + name + "(" + std::string(shape.columns) + ")").get());
        std::string values = "?";
        for (std::size_t i = 1; i < shape.width; ++i) {
            values += ", ?";
        }
        insert_[t] = prepare("INSERT INTO " + name + " VALUES(" + values + ")");
        clear_[t] = prepare("DELETE FROM " + name);
    }
}

bool Predicates::Authorised::allows(int action, std::string_view first, std::string_view second) {
    if (action == SQLITE_SELECT) {
        return true;
    }
    if (action == SQLITE_FUNCTION) {
        return std::ranges::find(allowed_functions, second) != std::end(allowed_functions);
    }
    if (action != SQLITE_READ) {
        return false;
    }
    const auto table = std::ranges::find(case_tables(), first, &TableShape::name);
    if (table != case_tables().end()) {
        reads[static_cast<std::size_t>(table - case_tables().begin())] = true;
        return true;
    }
    return first == "pair";
}

int Predicates::authorise(void* context, int action, const char* first, const char* second,
                          const char*, const char*) {
    auto& authorised = *static_cast<Authorised*>(context);
    const auto text = [](const char* word) { return std::string_view(word ? word : ""); };
    if (authorised.allows(action, text(first), text(second))) {
        return SQLITE_OK;
    }
    authorised.denied = true;
    return SQLITE_DENY;
}

int Predicates::count_steps(void* left) {
    std::uint64_t& steps = *static_cast<std::uint64_t*>(left);
    steps -= std::min<std::uint64_t>(steps, steps_between_counts);
    return steps == 0 ? 1 : 0;
}

void Predicates::refuse(const Compiled& compiled, const std::string& reason) const {
    refuse_entry(compiled.place, compiled.id, reason);
}

void Predicates::add(const KnownDivergence& entry) {
    Compiled compiled;
    compiled.place = entry.predicate_place;
    compiled.id = entry.id;
    // What is an expression is one as an argument of a function too: nothing else is both. The line
    // feed ends a comment that the expression may end in.
    compile(compiled, "SELECT ifnull((" + entry.predicate + "\n), 0)");
    compile(compiled, "SELECT (" + entry.predicate + "\n) IS TRUE");
    sqlite3_stmt* const statement = compiled.statement.get();
    for (int p = 1; p <= sqlite3_bind_parameter_count(statement); ++p) {
        const char* name = sqlite3_bind_parameter_name(statement, p);
        if (name == nullptr ||
            (std::string_view(name) != ":step" && std::string_view(name) != ":image")) {
            refuse(compiled, "its predicate may use the parameters :step and :image and no other");
        }
    }
    compiled_.push_back(std::move(compiled));
}

void Predicates::compile(Compiled& compiled, const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    const char* tail = nullptr;
    Authorised authorised;
    sqlite3_set_authorizer(database_.get(), &Predicates::authorise, &authorised);
    const int result = sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, &tail);
    sqlite3_set_authorizer(database_.get(), nullptr, nullptr);
    compiled.statement.reset(statement);
    compiled.reads = authorised.reads;
    const std::string message = sqlite3_errmsg(database_.get());
    if (authorised.denied) {
        refuse(compiled, "its predicate uses what predicates may not use (" + message +
                             "): they read the tables of the case and call a few functions");
    }
    if (result != SQLITE_OK) {
        refuse(compiled, "its predicate is no SQL expression: " + message);
    }
    if (tail != sql.c_str() + sql.size()) {
        refuse(compiled, "its predicate must be one SQL expression and nothing else");
    }
}

void Predicates::set_case(const Case& c) {
    case_ = &c;
    loaded_.fill(false);
}

void Predicates::load(CaseTable table) {
    const auto t = static_cast<std::size_t>(table);
    run_once(clear_[t].get());
    for (const Row& row : case_rows(*case_, table)) {
        run_with(insert_[t].get(), row);
    }
    loaded_[t] = true;
}

bool Predicates::holds(std::size_t predicate, std::size_t step) {
    assert(case_ != nullptr);
    const Compiled& compiled = compiled_.at(predicate);
    for (std::size_t t = 0; t < case_table_count; ++t) {
        if (compiled.reads[t] && !loaded_[t]) {
            load(static_cast<CaseTable>(t));
        }
    }
    sqlite3_stmt* const statement = compiled.statement.get();
    const std::string named = main_image(case_->steps.at(step));
    const Cell image = named.empty() ? Cell{} : Cell{named};
    const auto set = [&](const char* name, const Cell& value) {
        if (const int at = sqlite3_bind_parameter_index(statement, name); at != 0) {
            bind(statement, at, value);
        }
    };
    set(":step", static_cast<std::int64_t>(step));
    set(":image", image);
    steps_left_ = max_predicate_steps;
    sqlite3_progress_handler(database_.get(), steps_between_counts, &Predicates::count_steps,
                             &steps_left_);
    const int result = sqlite3_step(statement);
    sqlite3_progress_handler(database_.get(), 0, nullptr, nullptr);
    const bool held = result == SQLITE_ROW && sqlite3_column_int(statement, 0) != 0;
    const std::string message = sqlite3_errmsg(database_.get());
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (result == SQLITE_INTERRUPT) {
        refuse(compiled, "its predicate takes more than " + std::to_string(max_predicate_steps) +
                             " steps of SQLite's virtual machine for one case");
    }
    if (result != SQLITE_ROW) {
        refuse(compiled, "its predicate cannot be computed for every case: " + message);
    }
    return held;
}

}  // namespace difffuzz
