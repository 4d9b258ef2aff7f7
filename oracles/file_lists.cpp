#include "oracles/file_lists.hpp"

#include <algorithm>

namespace difffuzz {
namespace {

const FileEntry* find_entry(const std::vector<FileEntry>& files, const std::string& name) {
    const auto found = std::find_if(files.begin(), files.end(),
                                    [&](const FileEntry& entry) { return entry.name == name; });
    return found == files.end() ? nullptr : &*found;
}

bool is_part_of(std::string_view name, std::string_view id, std::string_view format) {
    const std::string start = std::string(id) + "-";
    const std::string end = "." + std::string(format);
    return name.size() > start.size() + end.size() && name.starts_with(start) &&
           name.ends_with(end);
}

}  // namespace

FileStates states_of(const Comparison& comparison, const Observation& side, std::string_view id) {
    const std::string name = file_name_of(comparison.c, id);
    const StepObservation& now = side.steps.at(comparison.step);
    const std::vector<FileEntry>& before =
        comparison.step == 0 ? side.initial : side.steps[comparison.step - 1].files;
    return {find_entry(before, name), find_entry(now.files, name), now.files_cut};
}

std::vector<std::string> file_ids(const Case& c) {
    std::vector<std::string> ids;
    for (const ImageRecipe& image : c.images) {
        ids.push_back(image.id);
    }
    for (const OutputImage& output : c.outputs) {
        ids.push_back(output.id);
    }
    return ids;
}

FileRole role_of(const Case& c, std::string_view name) {
    for (const ImageRecipe& image : c.images) {
        if (name == file_name(image.id, image.format)) {
            return FileRole::input;
        }
    }
    for (const OutputImage& output : c.outputs) {
        if (name == file_name(output.id, output.format)) {
            return FileRole::output;
        }
    }
    for (const std::string& id : file_ids(c)) {
        if (is_part_of(name, id, format_of(c, id))) {
            return FileRole::part;
        }
    }
    return FileRole::other;
}

}  // namespace difffuzz
