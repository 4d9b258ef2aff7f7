#include "known_divergences/entry.hpp"

#include <algorithm>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

Direction mirrored(Direction direction) {
    switch (direction) {
        case Direction::subject:
            return Direction::reference;
        case Direction::reference:
            return Direction::subject;
        default:
            return direction;
    }
}

// "+a,-b" is "+b,-a": paths of one side alone change their sign, and the list stays sorted.
std::string mirrored_paths(const std::string& field) {
    std::vector<std::string> paths;
    for (std::size_t begin = 0; begin <= field.size();) {
        const std::size_t end = std::min(field.find(',', begin), field.size());
        std::string path = field.substr(begin, end - begin);
        if (path.starts_with('+')) {
            path[0] = '-';
        } else if (path.starts_with('-')) {
            path[0] = '+';
        }
        paths.push_back(std::move(path));
        begin = end + 1;
    }
    std::sort(paths.begin(), paths.end());
    std::string joined;
    for (const std::string& path : paths) {
        joined += (joined.empty() ? "" : ",") + path;
    }
    return joined;
}

}  // namespace

Effect mirrored(const Effect& effect) {
    Effect result = effect;
    result.direction = mirrored(effect.direction);
    std::swap(result.subject_class, result.reference_class);
    std::swap(result.subject_message, result.reference_message);
    if (effect.layer == LayerId::json) {
        result.field = mirrored_paths(effect.field);
    }
    return result;
}

std::vector<std::string> differing_fields(const Effect& effect, const Symptom& symptom) {
    std::vector<std::string> names;
    const auto compare = [&](const char* name, bool equal) {
        if (!equal) {
            names.emplace_back(name);
        }
    };
    compare("layer", effect.layer == symptom.layer);
    compare("direction", effect.direction == symptom.direction);
    compare("subject_class", effect.subject_class == symptom.subject_class);
    compare("reference_class", effect.reference_class == symptom.reference_class);
    compare("field", effect.field == symptom.field);
    compare("subject_message", effect.subject_message == symptom.subject_message);
    compare("reference_message", effect.reference_message == symptom.reference_message);
    return names;
}

Fit fit(const KnownDivergence& entry, const ToolPair& pair) {
    if (entry.subject.holds(pair.subject) && entry.reference.holds(pair.reference)) {
        return Fit::as_written;
    }
    if (entry.either_way && entry.subject.holds(pair.reference) &&
        entry.reference.holds(pair.subject)) {
        return Fit::mirrored;
    }
    return Fit::none;
}

std::vector<Effect> effects_for(const KnownDivergence& entry, Fit fit) {
    std::vector<Effect> effects;
    for (const Effect& effect : entry.effects) {
        effects.push_back(fit == Fit::mirrored ? mirrored(effect) : effect);
    }
    return effects;
}

void refuse_entry(const Place& place, const std::string& id, const std::string& reason) {
    throw UsageError("'" + place.file + "', line " + std::to_string(place.line) +
                     ": known divergence '" + id + "': " + reason);
}

}  // namespace difffuzz
