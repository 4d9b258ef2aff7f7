// A known divergence as a file of the user's: entry, predicate and exhibit.
//
// Input: the text of entry.toml.
//
//  1. Any bytes end as an entry or as a UsageError with one short sentence that names the file.
//  2. An entry has what its type promises: the id that the file's name gives, an operation, an
//     effect, a reason, a predicate; texts are bounded.
//  3. A key that nobody knows is refused, at the top and in the tables.
//  4. An effect mirrored twice is itself.
//  5. A predicate compiles or is refused with its place; asked about a case, it answers or is
//  refused
//     likewise, and answers the same again.
//  6. The exhibit is a recipe, or a RecipeError.
//  7. The same file twice makes no registry.
//  8. The memory taken stays within a fixed part and a multiple of the text.
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "known_divergences/entry_file.hpp"
#include "known_divergences/predicates.hpp"
#include "known_divergences/registry.hpp"
#include "tests/fuzz/memory_meter.hpp"
#include "tests/fuzz/seeds.hpp"
#include "tests/fuzz/target_rows.hpp"
#include "tests/known_divergences/entry_text.hpp"

namespace difffuzz::fuzz {
namespace {

constexpr std::string_view file_name = "sample.toml";
constexpr std::size_t max_message_bytes = 1000;
constexpr std::size_t fixed_bytes = std::size_t{64} << 10;
constexpr std::size_t bytes_per_byte = 1024;

// Runs `action`; whether it ended without a UsageError.
template <typename Action>
bool succeeds(Action action) {
    try {
        action();
        return true;
    } catch (const UsageError& error) {
        const std::string_view message = error.what();
        require(message.size() <= max_message_bytes, "an error is short");
        require(message.find(file_name) != std::string_view::npos, "an error names the file");
        return false;
    }
}

std::optional<KnownDivergence> read(std::string_view text) {
    std::optional<KnownDivergence> entry;
    succeeds([&] { entry = parse_entry(std::string(file_name), text); });
    return entry;
}

void check_entry(const KnownDivergence& entry) {
    require(entry.id == "sample", "the id is the file's name");
    require(!entry.operations.empty() && !entry.effects.empty() && !entry.predicate.empty() &&
                !entry.reason.empty() && !entry.subject.tool.empty(),
            "an entry is about something");
    require(entry.reason.size() <= 4096 && entry.predicate.size() <= 4096, "texts are bounded");
    for (const Effect& effect : entry.effects) {
        require(mirrored(mirrored(effect)) == effect, "an effect mirrored twice is itself");
    }
}

void check_unknown_keys(std::string_view text) {
    require(!read("nobody_knows = 1\n" + std::string(text)), "an unknown key is refused");
    require(!read(std::string(text) + "\n[nobody_knows]\n"), "an unknown table is refused");
}

void check_predicate(const KnownDivergence& entry) {
    Case c;
    c.operation = "info";
    ImageRecipe image;
    image.id = "src";
    image.format = "qcow2";
    image.size = 65536;
    image.content = {{WriteKind::write, 0, 512, ByteFill{1}}};
    c.images = {image};
    Step step{Actor::tool, "info", "info", {}, {}};
    step.arguments = {{"--output", WordValue{"json"}}, {"", ImageValue{"src"}}};
    c.steps = {step};
    Predicates predicates({{"qemu-img", "7.2.22"}, {"qemu-img", "10.0.0"}});
    if (!succeeds([&] { predicates.add(entry); })) {
        return;
    }
    const auto asked = [&] {
        std::optional<bool> answer;
        predicates.set_case(c);
        succeeds([&] { answer = predicates.holds(0, 0); });
        return answer;
    };
    const auto first = asked();
    require(asked() == first, "a predicate answers the same again");
}

void check_exhibit(const KnownDivergence& entry) {
    try {
        case_from_text(entry.exhibit);
    } catch (const RecipeError&) {
        // For the audit to say.
    }
}

Verdict run(std::string_view input) {
    const MemoryMeter meter;
    const std::optional<KnownDivergence> entry = read(input);
    require(meter.peak() <= fixed_bytes + bytes_per_byte * input.size(), "the memory is bounded");
    if (!entry) {
        return Verdict::refused;
    }
    check_entry(*entry);
    check_unknown_keys(input);
    check_predicate(*entry);
    check_exhibit(*entry);
    const EntryFile file{std::string(file_name), std::string(input)};
    require(!succeeds([&] { make_registry({file, file}); }), "an id is there once");
    return Verdict::accepted;
}

std::vector<Seed> seeds() {
    const std::string valid = test::entry_text();
    const auto refused = Verdict::refused;
    std::vector<Seed> seeds{{valid}};
    add_prefixes(seeds, valid, 48);
    const auto predicate = [&](std::string_view expression) {
        seeds.push_back(
            {with(valid, "EXISTS (SELECT 1 FROM arg WHERE step = :step AND value = 'json')",
                  expression)});
    };
    predicate("1");
    predicate("NULL");
    predicate("nothing of ours");
    predicate("9223372036854775807 + 1");
    predicate(
        "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT max(i) FROM n) > 0");
    predicate("EXISTS (SELECT 1 FROM pair WHERE role = 'subject' AND version < '8.0')");
    predicate("(SELECT count(*) FROM write) + (SELECT count(*) FROM image)");
    predicate("length(zeroblob(1000000000)) > 0");
    predicate("1; DROP TABLE arg");
    const std::string effect =
        valid.substr(valid.find("[[effect]]"), valid.find("[exhibit]") - valid.find("[[effect]]"));
    std::string effects;
    for (int i = 0; i < 16; ++i) {
        effects += effect;
    }
    seeds.push_back({with(valid, "[exhibit]", effects + "[exhibit]")});
    seeds.push_back(
        {with(valid, "either_way = true", "wide = 'all'\nsteer = false\nagreeing_percent = 100")});
    seeds.push_back(
        {with(valid, "either_way = true", "wide = 'all'\nagreeing_percent = 101"), refused});
    seeds.push_back({with(valid, "either_way = true", "either_way = 1"), refused});
    seeds.push_back({with(valid, "\"info\"", ""), refused});
    seeds.push_back({with(valid, "\"sample\"", "\"other\""), refused});
    seeds.push_back({with(valid, "2026-11-30", "2026-13-30"), refused});
    seeds.push_back({with(valid, "[exhibit]", "[exhibit.more]"), refused});
    seeds.push_back({with(valid, ">=10.0", "about 10"), refused});
    seeds.push_back({with(valid, "it prints more", repeated(4096, 'r'))});
    seeds.push_back({with(valid, "it prints more", repeated(4097, 'r')), refused});
    seeds.push_back({valid + valid, refused});
    seeds.push_back({repeated(max_input_bytes, '['), refused});
    seeds.push_back({"a" + repeated(4000, '.') + "b = 1", refused});
    seeds.push_back({repeated(4000, 'k') + " = 1", refused});
    seeds.push_back({repeated(4000, 'k') + " = 1\n" + valid, refused});
    return seeds;
}

}  // namespace

Target registry_toml() { return {"registry_toml", Tier::rest, run, seeds}; }

}  // namespace difffuzz::fuzz
