// Reading JSON that strangers wrote: every field named, bounded, and none left unread.
#pragma once

#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace difffuzz {

// What is wrong with a recipe or record, and where ("/steps/0/args/2: ...").
class RecipeError : public std::runtime_error {
public:
    RecipeError(const std::string& pointer, const std::string& reason);
};

// Parses at most `max_bytes` of JSON nested at most `max_depth` deep, without duplicate keys.
// Throws RecipeError.
nlohmann::json parse_bounded(std::string_view text, std::size_t max_bytes, int max_depth = 32);

// The fields of one object. Call finish() once all are read: a field that was not asked for is an
// error, so that no misspelt field is ever ignored.
class ObjectFields {
public:
    ObjectFields(const nlohmann::json& object, std::string pointer);

    const nlohmann::json& required(const std::string& name);
    const nlohmann::json* optional(const std::string& name);
    std::string text(const std::string& name, std::size_t max_bytes);
    std::uint64_t number(const std::string& name, std::uint64_t low, std::uint64_t high);
    // A required array of at most `max_items`.
    const nlohmann::json& array(const std::string& name, std::size_t max_items);
    void finish() const;

    std::string at(const std::string& name) const { return pointer_ + "/" + name; }
    const std::string& pointer() const { return pointer_; }

private:
    const nlohmann::json& object_;
    std::string pointer_;
    std::set<std::string> asked_;
};

// RecipeError at "/schema" unless `found` is `expected` ("difffuzz.record/1"); a sentence about
// versions for another number after the slash.
void require_schema(const std::string& found, std::string_view expected);

// A JSON string of at most `max_bytes`, or RecipeError at `pointer`.
std::string checked_text(const nlohmann::json& value, const std::string& pointer,
                         std::size_t max_bytes);
// A JSON integer in [low, high], or RecipeError.
std::uint64_t checked_number(const nlohmann::json& value, const std::string& pointer,
                             std::uint64_t low, std::uint64_t high);

}  // namespace difffuzz
