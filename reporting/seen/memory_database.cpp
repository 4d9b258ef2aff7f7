#include "reporting/seen/memory_database.hpp"

#include <sqlite3.h>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

// "dfzs": tells our files from other databases.
constexpr int application_id = 0x64667a73;
constexpr int layout_version = 1;
constexpr int patience_ms = 60'000;
constexpr sqlite3_int64 max_facts = 4'000'000;

}  // namespace

class MemoryDatabase::Statement {
public:
    Statement(MemoryDatabase& owner, const char* sql) : owner_(owner) {
        if (sqlite3_prepare_v2(owner.database_, sql, -1, &statement_, nullptr) != SQLITE_OK) {
            owner_.fail("read");
        }
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(int at, const std::string& text) {
        sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
        return *this;
    }
    Statement& bind(int at, std::uint64_t number) {
        sqlite3_bind_int64(statement_, at, static_cast<sqlite3_int64>(number));
        return *this;
    }
    // True for a row, false at the end.
    bool step() {
        const int result = sqlite3_step(statement_);
        if (result != SQLITE_ROW && result != SQLITE_DONE) {
            owner_.fail("use");
        }
        return result == SQLITE_ROW;
    }
    void run() {
        step();
        sqlite3_reset(statement_);
    }
    std::string text(int column) {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
        return bytes == nullptr
                   ? std::string()
                   : std::string(
                         bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    }
    sqlite3_int64 number(int column) { return sqlite3_column_int64(statement_, column); }

private:
    MemoryDatabase& owner_;
    sqlite3_stmt* statement_ = nullptr;
};

MemoryDatabase::MemoryDatabase(std::string path) : path_(std::move(path)) {
    if (sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        nullptr) != SQLITE_OK) {
        const std::string reason = sqlite3_errmsg(database_);
        sqlite3_close(database_);
        throw EnvironmentError("--seen: cannot open '" + path_ + "': " + reason);
    }
    try {
        sqlite3_busy_timeout(database_, patience_ms);
        // Whoever has the right to write the file decides what stands in it, not what is run.
        sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        sqlite3_db_config(database_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
        execute("BEGIN IMMEDIATE");
        Statement tables(*this, "SELECT count(*) FROM sqlite_schema");
        tables.step();
        if (tables.number(0) == 0) {
            execute(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
            execute(("PRAGMA user_version = " + std::to_string(layout_version)).c_str());
            execute("CREATE TABLE campaigns(campaign TEXT PRIMARY KEY, date TEXT NOT NULL)");
            execute(
                "CREATE TABLE facts(kind TEXT NOT NULL, key TEXT NOT NULL, operation TEXT NOT "
                "NULL, words TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, campaigns "
                "INTEGER NOT NULL, PRIMARY KEY(kind, key)) WITHOUT ROWID");
        }
        Statement application(*this, "PRAGMA application_id");
        Statement version(*this, "PRAGMA user_version");
        application.step();
        version.step();
        if (application.number(0) != application_id || version.number(0) != layout_version) {
            throw UsageError("--seen: '" + path_ +
                             "' is a database, but none of this difffuzz's; name another file");
        }
    } catch (...) {
        sqlite3_close_v2(database_);
        throw;
    }
    execute("COMMIT");
}

MemoryDatabase::~MemoryDatabase() { sqlite3_close(database_); }

void MemoryDatabase::fail(const std::string& what) {
    if (sqlite3_errcode(database_) == SQLITE_NOTADB) {
        throw UsageError("--seen: '" + path_ + "' is no database; name another file");
    }
    throw EnvironmentError("--seen: cannot " + what + " '" + path_ +
                           "': " + sqlite3_errmsg(database_));
}

void MemoryDatabase::execute(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail("use");
    }
}

void MemoryDatabase::load_into(Memory& memory) {
    Statement campaigns(*this, "SELECT campaign FROM campaigns");
    while (campaigns.step()) {
        memory.put_campaign(campaigns.text(0));
    }
    Statement facts(*this,
                    "SELECT kind, key, operation, words, first, last, campaigns FROM facts LIMIT "
                    "?");
    facts.bind(1, static_cast<std::uint64_t>(max_facts));
    while (facts.step()) {
        memory.put({{facts.text(0), facts.text(1), facts.text(2), facts.text(3)},
                    facts.text(4),
                    facts.text(5),
                    static_cast<std::uint64_t>(facts.number(6))});
    }
}

void MemoryDatabase::add(const std::string& campaign, const std::vector<Fact>& facts,
                         const std::string& date) {
    execute("BEGIN IMMEDIATE");
    try {
        // Somebody else may have added to it since it was loaded.
        Memory memory;
        load_into(memory);
        memory.add(campaign, facts, date);
        Statement(*this, "INSERT OR IGNORE INTO campaigns VALUES(?, ?)")
            .bind(1, campaign)
            .bind(2, date)
            .run();
        Statement put(*this, "INSERT OR REPLACE INTO facts VALUES(?, ?, ?, ?, ?, ?, ?)");
        for (const Fact& fact : facts) {
            const Remembered& known = *memory.find(fact);
            put.bind(1, known.fact.kind)
                .bind(2, known.fact.key)
                .bind(3, known.fact.operation)
                .bind(4, known.fact.words)
                .bind(5, known.first)
                .bind(6, known.last)
                .bind(7, known.campaigns)
                .run();
        }
        execute("COMMIT");
    } catch (...) {
        sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
        throw;
    }
}

}  // namespace difffuzz
