#include "core/cases/json_fields.hpp"

#include <utility>
#include <vector>

namespace difffuzz {

using nlohmann::json;

namespace {

// A stranger's key as messages name it.
std::string shown_key(const std::string& key) { return "'" + key.substr(0, 64) + "'"; }

}  // namespace

RecipeError::RecipeError(const std::string& pointer, const std::string& reason)
    : std::runtime_error((pointer.empty() ? "(top)" : pointer) + ": " + reason) {}

json parse_bounded(std::string_view text, std::size_t max_bytes, int max_depth) {
    if (text.size() > max_bytes) {
        throw RecipeError("", "is " + std::to_string(text.size()) + " bytes long, more than the " +
                                  std::to_string(max_bytes) + " allowed");
    }
    std::vector<std::set<std::string>> keys;
    const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& parsed) {
        if (depth > max_depth) {
            throw RecipeError("", "is nested more than " + std::to_string(max_depth) + " deep");
        }
        switch (event) {
            case json::parse_event_t::object_start:
                keys.emplace_back();
                break;
            case json::parse_event_t::object_end:
                keys.pop_back();
                break;
            case json::parse_event_t::key:
                if (!keys.back().insert(parsed.get<std::string>()).second) {
                    throw RecipeError("", "has the key " + shown_key(parsed.get<std::string>()) +
                                              " twice in one object");
                }
                break;
            default:
                break;
        }
        return true;
    };
    try {
        return json::parse(text.begin(), text.end(), watch);
    } catch (const json::exception& error) {
        // The library's message quotes the input; its position is what helps.
        const auto* parse_error = dynamic_cast<const json::parse_error*>(&error);
        throw RecipeError("", parse_error != nullptr ? "is not JSON: syntax error at byte " +
                                                           std::to_string(parse_error->byte)
                                                     : std::string("is not JSON that can be held"));
    }
}

ObjectFields::ObjectFields(const json& object, std::string pointer)
    : object_(object), pointer_(std::move(pointer)) {
    if (!object.is_object()) {
        throw RecipeError(pointer_, "must be an object");
    }
}

const json& ObjectFields::required(const std::string& name) {
    const json* found = optional(name);
    if (found == nullptr) {
        throw RecipeError(pointer_, "lacks the field '" + name + "'");
    }
    return *found;
}

const json* ObjectFields::optional(const std::string& name) {
    asked_.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
}

std::string ObjectFields::text(const std::string& name, std::size_t max_bytes) {
    return checked_text(required(name), at(name), max_bytes);
}

std::uint64_t ObjectFields::number(const std::string& name, std::uint64_t low, std::uint64_t high) {
    return checked_number(required(name), at(name), low, high);
}

const json& ObjectFields::array(const std::string& name, std::size_t max_items) {
    const json& value = required(name);
    if (!value.is_array()) {
        throw RecipeError(at(name), "must be an array");
    }
    if (value.size() > max_items) {
        throw RecipeError(at(name), "has " + std::to_string(value.size()) +
                                        " items, more than the " + std::to_string(max_items) +
                                        " allowed");
    }
    return value;
}

void ObjectFields::finish() const {
    for (const auto& item : object_.items()) {
        if (!asked_.contains(item.key())) {
            throw RecipeError(pointer_, "has an unknown field " + shown_key(item.key()));
        }
    }
}

void require_schema(const std::string& found, std::string_view expected) {
    if (found == expected) {
        return;
    }
    const std::string_view kind = expected.substr(0, expected.find('/') + 1);
    if (found.starts_with(kind)) {
        throw RecipeError("/schema", "is '" + found.substr(0, 64) +
                                         "', from another version of difffuzz; this one reads '" +
                                         std::string(expected) + "'");
    }
    throw RecipeError("/schema", "must be '" + std::string(expected) + "'");
}

std::string checked_text(const json& value, const std::string& pointer, std::size_t max_bytes) {
    if (!value.is_string()) {
        throw RecipeError(pointer, "must be a string");
    }
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > max_bytes) {
        throw RecipeError(pointer, "is longer than " + std::to_string(max_bytes) + " bytes");
    }
    return text;
}

std::uint64_t checked_number(const json& value, const std::string& pointer, std::uint64_t low,
                             std::uint64_t high) {
    if (!value.is_number_integer() || (value.is_number_integer() && !value.is_number_unsigned() &&
                                       value.get<std::int64_t>() < 0)) {
        throw RecipeError(pointer, "must be a whole number, zero or above");
    }
    const auto number = value.get<std::uint64_t>();
    if (number < low || number > high) {
        throw RecipeError(
            pointer, "must lie between " + std::to_string(low) + " and " + std::to_string(high));
    }
    return number;
}

}  // namespace difffuzz
