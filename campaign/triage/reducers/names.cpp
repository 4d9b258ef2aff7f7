#include <algorithm>
#include <set>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

// One name wherever it stands: of snapshots and bitmaps of images, and free text of steps.
void rename(Case& c, const std::string& from, const std::string& to) {
    for (ImageRecipe& image : c.images) {
        for (SnapshotRecipe& snapshot : image.snapshots) {
            snapshot.name = snapshot.name == from ? to : snapshot.name;
        }
        for (BitmapRecipe& bitmap : image.bitmaps) {
            bitmap.name = bitmap.name == from ? to : bitmap.name;
        }
    }
    for (Step& step : c.steps) {
        for (Argument& argument : step.arguments) {
            if (argument.value == Value{BytesValue{from}}) {
                argument.value = BytesValue{to};
            } else if (argument.value == Value{WordValue{from}}) {
                argument.value = WordValue{to};
            }
        }
    }
}

std::set<std::string> names_of(const Case& c, const WordDomain& words) {
    std::set<std::string> names;
    for (const ImageRecipe& image : c.images) {
        for (const SnapshotRecipe& snapshot : image.snapshots) {
            names.insert(snapshot.name);
        }
        for (const BitmapRecipe& bitmap : image.bitmaps) {
            names.insert(bitmap.name);
        }
    }
    for (const Step& step : c.steps) {
        for (const Argument& argument : step.arguments) {
            if (!argument.value) {
                continue;
            }
            if (const auto* bytes = std::get_if<BytesValue>(&*argument.value)) {
                names.insert(bytes->bytes);
            } else if (const auto* word = std::get_if<WordValue>(&*argument.value);
                       word != nullptr && words(step, argument.option).empty()) {
                names.insert(word->text);
            }
        }
    }
    return names;
}

bool is_simple(const std::string& name) {
    return name.size() == 1 && name.front() >= 'a' && name.front() <= 'z';
}

}  // namespace

std::vector<Edit> name_edits(const Reduced& from, const WordDomain& words) {
    std::vector<Edit> edits;
    const std::set<std::string> names = names_of(from.c, words);
    std::string simple = "a";
    for (const std::string& name : names) {
        while (names.contains(simple) && simple < "z") {
            ++simple.front();
        }
        if (is_simple(name) || names.contains(simple)) {
            continue;
        }
        edits.push_back({"a name of " + std::to_string(name.size()) + " bytes", simple,
                         [name, simple](Reduced r) {
                             rename(r.c, name, simple);
                             return r;
                         }});
    }
    return edits;
}

}  // namespace difffuzz
