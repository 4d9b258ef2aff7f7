// A corpus: cases that are kept, each with what must become of it. docs/corpus.md and
// docs/corpus.schema.json describe an entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaign/execution/case_result.hpp"
#include "campaign/json_files.hpp"
#include "campaign/workers/messages.hpp"
#include "core/errors.hpp"
#include "known_divergences/entry.hpp"

namespace difffuzz {

inline constexpr std::string_view corpus_schema = "difffuzz.corpus/1";
// Of one entry's file.
inline constexpr std::size_t max_corpus_entry_bytes = std::size_t{64} << 10;

enum class CorpusState {
    open,    // must show its symptom
    closed,  // both tools must do the same
};
std::string_view to_string(CorpusState state);

// What a reference did once.
struct RecordedReference {
    std::string version;      // its version line
    nlohmann::json outcomes;  // campaign/execution/recorded.hpp
};

struct CorpusEntry {
    std::string name;  // path below the corpus, without ".json"
    std::string path;
    CorpusState state = CorpusState::closed;
    std::string why;  // one sentence: what it shows, or showed
    // The tools that it speaks of; nothing: any.
    std::optional<ToolRange> subject;
    std::optional<ToolRange> reference;
    Case recipe;
    std::optional<Symptom> symptom;  // always of an open one; of a closed one, what it once showed
    std::string promoted_by;         // may be empty
    std::optional<RecordedReference> recorded;
};

nlohmann::json to_json(const CorpusEntry& entry);
// Throws RecipeError (pointer and reason), also for a case outside of its operation's envelope.
CorpusEntry parse_corpus_entry(const JsonFile& file);

// All entries below a directory, in the order of their names. The whole corpus is checked first:
// regular files, none empty, none above its size, all tracked where the directory lies in a git
// work tree, no case twice. Throws UsageError naming the file, the place in it and the reason.
std::vector<CorpusEntry> read_corpus(const std::string& directory);

// Whether the entry speaks of these tools.
bool speaks_of(const CorpusEntry& entry, const ToolVersion& subject, const ToolVersion* reference);

// What became of an entry.
enum class CorpusVerdict {
    holds,        // as its state demands
    gone,         // open, and both tools agree now
    changed,      // open, and another symptom shows
    returned,     // closed, and the tools diverge
    unclear,      // comes and goes, or a run could not tell
    not_asked,    // it speaks of other tools
    not_recorded  // there is nothing recorded that could be compared
};
std::string_view to_string(CorpusVerdict verdict);

// Of one or several runs of its case: all must say the same.
CorpusVerdict judge_entry(const CorpusEntry& entry, const std::vector<CaseReport>& runs);

// 1 when an entry does not hold, else 4 when one is unclear or none was run, else 0.
ExitCode corpus_exit(const std::vector<CorpusVerdict>& verdicts);

// Why the entry cannot be run against what is recorded; empty if it can.
std::string not_recorded_reason(const CorpusEntry& entry);

}  // namespace difffuzz
