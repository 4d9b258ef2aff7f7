// Memory in one SQLite file that grows with every campaign.
#pragma once

#include <memory>
#include <string>

#include "reporting/seen/memory.hpp"

struct sqlite3;

namespace difffuzz {

// Tables `campaigns(campaign, date)` and `facts(kind, key, operation, words, first, last,
// campaigns)`. Several difffuzz may use one file; each waits for the others.
class MemoryDatabase {
public:
    // Opens the file, or makes it. Throws EnvironmentError naming it, UsageError where it is
    // something else.
    explicit MemoryDatabase(std::string path);
    ~MemoryDatabase();
    MemoryDatabase(const MemoryDatabase&) = delete;
    MemoryDatabase& operator=(const MemoryDatabase&) = delete;

    void load_into(Memory& memory);
    // What the file holds and `facts` of one campaign, at once or not at all. EnvironmentError.
    void add(const std::string& campaign, const std::vector<Fact>& facts, const std::string& date);

private:
    class Statement;
    void execute(const char* sql);
    [[noreturn]] void fail(const std::string& what);

    std::string path_;
    sqlite3* database_ = nullptr;
};

}  // namespace difffuzz
