#include "campaign/case_source.hpp"

#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

void require_operations(const KnownDivergence& entry) {
    for (const std::string& operation : entry.operations) {
        if (find_operation(operation) == nullptr) {
            refuse_entry(entry.place, entry.id,
                         "there is no operation '" + operation + "'; 'difffuzz ops' lists them");
        }
    }
}

// Whether the predicate holds for it is the audit's to say: it may depend on the tools.
void require_exhibit(const KnownDivergence& entry) {
    try {
        const Case c = case_from_text(entry.exhibit);
        if (const auto violations = validate(c); !violations.empty()) {
            refuse_entry(entry.exhibit_place, entry.id,
                         "its exhibit is outside of the envelope of '" + c.operation +
                             "': " + violations.front().rule + ", " + violations.front().detail);
        }
    } catch (const RecipeError& error) {
        refuse_entry(entry.exhibit_place, entry.id,
                     std::string("its exhibit is no recipe: ") + error.what());
    }
}

}  // namespace

CaseSource::CaseSource(const Plan& plan, std::uint64_t seed, const Registry& registry)
    : plan_(plan), seed_(seed), filter_(registry, plan) {}

DrawnCase CaseSource::draw(std::uint64_t index, const Pins* pins) {
    DrawnCase drawn;
    drawn.c = draw_filtered_case(
        plan_, seed_, index,
        [&](const Case& c) {
            const KnownDivergence* entry = filter_.steered_by(c);
            if (entry != nullptr) {
                drawn.steered.push_back({entry->id, c.operation});
            }
            return entry == nullptr;
        },
        pins);
    return drawn;
}

Registry load_registry(std::string_view mode, const std::string& directory) {
    if (mode == known_off && directory.empty()) {
        return {};
    }
    std::vector<EntryFile> files = built_in_entry_files();
    if (!directory.empty()) {
        for (EntryFile& file : read_entry_files(directory)) {
            files.push_back(std::move(file));
        }
    }
    Registry registry = make_registry(std::move(files));
    // Every predicate is compiled, whatever tools it is about.
    Plan plan;
    plan.registry_mode = known_enter;
    plan.registry_digest = registry_digest(registry.files);
    const KnownFilter filter(registry, plan);
    for (const KnownDivergence& entry : registry.entries) {
        require_operations(entry);
        require_exhibit(entry);
    }
    return mode == known_off ? Registry{} : registry;
}

}  // namespace difffuzz
