#include "pickers/snapshot_parameter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "pickers/byte_names.hpp"

namespace difffuzz {
namespace {

constexpr std::string_view id_key = "snapshot.id=";
constexpr std::string_view name_key = "snapshot.name=";

std::string id_at(std::size_t index) { return std::to_string(index + 1); }

std::string doubled_commas(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        result.append(letter == ',' ? 2 : 1, letter);
    }
    return result;
}

// The text at commas that are not doubled.
std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != ',') {
            parts.back() += text[i];
        } else if (i + 1 < text.size() && text[i + 1] == ',') {
            parts.back() += ',';
            ++i;
        } else {
            parts.emplace_back();
        }
    }
    return parts;
}

std::optional<std::size_t> find(const ImageRecipe& image, const std::optional<std::string>& id,
                                const std::optional<std::string>& name) {
    for (std::size_t i = 0; i < image.snapshots.size(); ++i) {
        if ((!id || *id == id_at(i)) && (!name || *name == image.snapshots[i].name)) {
            return i;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::size_t> named_snapshot(const ImageRecipe& image, const Value& value) {
    const std::string* text = byte_name_in(value);
    if (text == nullptr) {
        return std::nullopt;
    }
    if (!text->starts_with("snapshot.")) {
        const auto by_id = find(image, *text, std::nullopt);
        return by_id ? by_id : find(image, std::nullopt, *text);
    }
    std::optional<std::string> id;
    std::optional<std::string> name;
    for (const std::string& part : split(*text)) {
        if (part.starts_with(id_key)) {
            id = part.substr(id_key.size());
        } else if (part.starts_with(name_key)) {
            name = part.substr(name_key.size());
        } else {
            return std::nullopt;
        }
    }
    return find(image, id, name);
}

Value draw_snapshot_parameter(const Draws& draws, const ImageRecipe& image) {
    const std::size_t index = draws.between("snapshot", 0, image.snapshots.size() - 1);
    const std::string id = id_at(index);
    const std::string& name = image.snapshots[index].name;
    const std::string by_id = std::string(id_key) + id;
    const std::string by_name = std::string(name_key) + doubled_commas(name);
    const std::array<std::string, 5> forms{id, name, by_id, by_name, by_id + "," + by_name};
    const Value value = byte_name(draws.pick("form", std::span<const std::string>(forms)));
    // A name may look like a form that names none.
    return named_snapshot(image, value) ? value : byte_name(by_id);
}

Value draw_no_snapshot(const Draws& draws) {
    static constexpr std::string_view texts[] = {"nothing",
                                                 "99",
                                                 "",
                                                 "snapshot.id=99",
                                                 "snapshot.name=nothing",
                                                 "snapshot.id=1,snapshot.name=nothing",
                                                 "snapshot.size=1"};
    return WordValue{std::string(draws.pick("text", texts))};
}

}  // namespace difffuzz
