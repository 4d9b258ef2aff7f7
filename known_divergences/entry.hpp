// One known divergence: what it is about, when it holds, and what is then to be seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cases/symptom.hpp"
#include "known_divergences/tool_pair.hpp"
#include "known_divergences/versions.hpp"

namespace difffuzz {

// What an entry explains: a symptom with all of its fields but operation and shape. A field that
// the entry does not name is empty, and covers only symptoms in which it is empty too.
struct Effect {
    LayerId layer = LayerId::exit;
    Direction direction = Direction::differ;
    std::string subject_class;
    std::string reference_class;
    std::string field;
    std::string subject_message;  // templates, as in symptoms
    std::string reference_message;
    bool operator==(const Effect&) const = default;
};

// The same difference with the tools in each other's place.
Effect mirrored(const Effect& effect);
// The names of the effect's fields that the symptom has otherwise; empty where it is covered.
std::vector<std::string> differing_fields(const Effect& effect, const Symptom& symptom);

// A tool and the versions of it that an entry is about.
struct ToolRange {
    std::string tool;
    VersionRange versions;
    bool holds(const ToolVersion& tool_version) const {
        return tool == tool_version.tool && versions.contains(tool_version.version);
    }
};

// Where in a file something stands, for messages.
struct Place {
    std::string file;
    std::size_t line = 0;  // 1-based
};

struct KnownDivergence {
    std::string id;  // [a-z0-9-], the file's name without ".toml"
    Place place;
    std::vector<std::string> operations;  // of steps, as in the table of operations
    ToolRange subject;
    ToolRange reference;
    bool either_way = false;  // also with the tools in each other's place, the effect mirrored
    std::string predicate;    // an SQL expression (predicates.hpp)
    Place predicate_place;
    std::vector<Effect> effects;  // at least one; any of them
    std::string reason;
    std::string link;
    std::string owner;
    std::string date;       // "2026-11-30"
    std::string review_by;  // likewise
    bool steers = true;     // pickers keep away from it
    std::string wide;       // why it may cover more than max_share_percent; empty: it does not
    unsigned agreeing = 0;  // per cent of the cases inside that may show nothing
    std::string exhibit;    // a recipe's JSON text
    Place exhibit_place;
};

// What an entry may cover of an operation's cases unless it says why it is wide, per cent.
inline constexpr unsigned max_share_percent = 2;

// How an entry applies to two tools: not at all, as written, or with the roles exchanged.
enum class Fit { none, as_written, mirrored };
Fit fit(const KnownDivergence& entry, const ToolPair& pair);
// Its effects for tools that it applies to in this way.
std::vector<Effect> effects_for(const KnownDivergence& entry, Fit fit);

// "'FILE', line N: known divergence 'ID': REASON", as a UsageError.
[[noreturn]] void refuse_entry(const Place& place, const std::string& id,
                               const std::string& reason);

}  // namespace difffuzz
