#include "known_divergences/entry_file.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <toml++/toml.h>

#include "core/errors.hpp"
#include "core/toml_nesting.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_text = 4096;
constexpr std::size_t max_items = 64;
constexpr std::size_t max_shown_key = 64;

// The keys of one table. finish() refuses those that nobody asked for.
class Keys {
public:
    Keys(const toml::table& table, std::string file, std::string id, std::string prefix)
        : table_(table), file_(std::move(file)), id_(std::move(id)), prefix_(std::move(prefix)) {}

    [[noreturn]] void refuse(const toml::node& node, const std::string& reason) const {
        refuse_entry(place(node), id_, reason);
    }

    Place place(const toml::node& node) const { return {file_, node.source().begin.line}; }

    const toml::node* optional(const std::string& key) {
        asked_.insert(key);
        return table_.get(key);
    }

    const toml::node& required(const std::string& key) {
        const toml::node* node = optional(key);
        if (node == nullptr) {
            refuse(table_, "'" + prefix_ + key + "' is missing");
        }
        return *node;
    }

    std::string text(const toml::node& node, const std::string& key,
                     std::size_t max_bytes = max_text) const {
        const auto value = node.value_exact<std::string>();
        if (!value || value->size() > max_bytes) {
            refuse(node, "'" + prefix_ + key + "' must be text of at most " +
                             std::to_string(max_bytes) + " bytes");
        }
        return *value;
    }

    std::string required_text(const std::string& key, std::size_t max_bytes = max_text) {
        const toml::node& node = required(key);
        const std::string value = text(node, key, max_bytes);
        if (value.empty()) {
            refuse(node, "'" + prefix_ + key + "' must not be empty");
        }
        return value;
    }

    std::string optional_text(const std::string& key) {
        const toml::node* node = optional(key);
        return node == nullptr ? std::string{} : text(*node, key);
    }

    bool flag(const std::string& key, bool otherwise) {
        const toml::node* node = optional(key);
        if (node == nullptr) {
            return otherwise;
        }
        const auto value = node->value_exact<bool>();
        if (!value) {
            refuse(*node, "'" + prefix_ + key + "' must be true or false");
        }
        return *value;
    }

    unsigned percent(const std::string& key) {
        const toml::node* node = optional(key);
        if (node == nullptr) {
            return 0;
        }
        const auto value = node->value_exact<std::int64_t>();
        if (!value || *value < 0 || *value > 100) {
            refuse(*node, "'" + prefix_ + key + "' must be a whole number from 0 to 100");
        }
        return static_cast<unsigned>(*value);
    }

    std::string date(const std::string& key) {
        const toml::node& node = required(key);
        const auto value = node.value_exact<toml::date>();
        if (!value) {
            refuse(node, "'" + prefix_ + key + "' must be a date such as 2026-11-30");
        }
        std::ostringstream out;
        out << *value;
        return out.str();
    }

    Keys table(const std::string& key) {
        const toml::node& node = required(key);
        if (!node.is_table()) {
            refuse(node, "'" + prefix_ + key + "' must be a table");
        }
        return {*node.as_table(), file_, id_, prefix_ + key + "."};
    }

    // The elements of a required array of 1 to max_items.
    std::vector<const toml::node*> array(const std::string& key) {
        const toml::node& node = required(key);
        const toml::array* items = node.as_array();
        if (items == nullptr || items->empty() || items->size() > max_items) {
            refuse(node,
                   "'" + prefix_ + key + "' must be an array of 1 to " + std::to_string(max_items));
        }
        std::vector<const toml::node*> result;
        for (const toml::node& item : *items) {
            result.push_back(&item);
        }
        return result;
    }

    Keys element(const toml::node& node, const std::string& key) const {
        if (!node.is_table()) {
            refuse(node, "'" + prefix_ + key + "' must hold tables");
        }
        return {*node.as_table(), file_, id_, prefix_ + key + "."};
    }

    void finish() const {
        for (const auto& [key, node] : table_) {
            const std::string name(key.str());
            if (!asked_.contains(name)) {
                refuse(node, "'" + prefix_ + name.substr(0, max_shown_key) + "' is not known");
            }
        }
    }

private:
    const toml::table& table_;
    std::string file_;
    std::string id_;
    std::string prefix_;
    std::set<std::string> asked_;
};

ToolRange tool_range(Keys keys) {
    ToolRange range;
    range.tool = keys.required_text("tool", 31);
    const toml::node& node = keys.required("versions");
    const auto versions = VersionRange::parse(keys.text(node, "versions"));
    if (!versions) {
        keys.refuse(node, "'versions' must be bounds such as '>=7.2 <10.0', or '' for all");
    }
    range.versions = *versions;
    keys.finish();
    return range;
}

template <typename Value>
Value word(Keys& keys, const std::string& key, std::optional<Value> (*parse)(std::string_view),
           const std::string& kind) {
    const auto value = parse(keys.required_text(key));
    if (!value) {
        keys.refuse(keys.required(key), "'" + key + "' is not the name of a " + kind);
    }
    return *value;
}

// As outcome classes are spelled in symptoms (core/tools/command.hpp).
std::string outcome_word(Keys& keys, const std::string& key) {
    std::string value = keys.required_text(key);
    constexpr std::string_view words[] = {"succeeded", "refused",   "crashed",
                                          "limited",   "timed_out", "not_started"};
    if (std::find(std::begin(words), std::end(words), value) == std::end(words)) {
        keys.refuse(keys.required(key), "'" + key + "' must be an outcome class such as refused");
    }
    return value;
}

Effect effect(Keys keys) {
    Effect result;
    result.layer = word<LayerId>(keys, "layer", parse_layer, "layer");
    result.direction = word<Direction>(keys, "direction", parse_direction, "direction");
    result.subject_class = outcome_word(keys, "subject_class");
    result.reference_class = outcome_word(keys, "reference_class");
    result.field = keys.optional_text("field");
    result.subject_message = keys.optional_text("subject_message");
    result.reference_message = keys.optional_text("reference_message");
    keys.finish();
    return result;
}

bool is_id(std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

void read_reach(Keys& keys, KnownDivergence& entry) {
    entry.wide = keys.optional_text("wide");
    entry.steers = keys.flag("steer", true);
    entry.agreeing = keys.percent("agreeing_percent");
    if (!entry.steers && entry.wide.empty()) {
        keys.refuse(keys.required("steer"), "'steer = false' needs a reason in 'wide'");
    }
    if (entry.agreeing > 0 && entry.wide.empty()) {
        keys.refuse(keys.required("agreeing_percent"),
                    "'agreeing_percent' needs a reason in 'wide'");
    }
}

KnownDivergence read(const std::string& name, const toml::table& table) {
    const std::string stem = std::filesystem::path(name).stem();
    Keys keys(table, name, stem, "");
    KnownDivergence entry;
    entry.id = keys.required_text("id");
    if (!is_id(entry.id) || entry.id != stem) {
        keys.refuse(keys.required("id"),
                    "'id' must be the file's name without .toml, of a-z, 0-9 and '-'");
    }
    entry.place = keys.place(keys.required("id"));
    for (const toml::node* item : keys.array("operations")) {
        entry.operations.push_back(keys.text(*item, "operations"));
    }
    entry.reason = keys.required_text("reason");
    entry.link = keys.required_text("link");
    entry.owner = keys.required_text("owner");
    entry.date = keys.date("date");
    entry.review_by = keys.date("review_by");
    if (entry.review_by < entry.date) {
        keys.refuse(keys.required("review_by"), "'review_by' lies before 'date'");
    }
    read_reach(keys, entry);
    entry.predicate = keys.required_text("predicate");
    entry.predicate_place = keys.place(keys.required("predicate"));
    entry.either_way = keys.flag("either_way", false);
    entry.subject = tool_range(keys.table("subject"));
    entry.reference = tool_range(keys.table("reference"));
    for (const toml::node* item : keys.array("effect")) {
        entry.effects.push_back(effect(keys.element(*item, "effect")));
    }
    Keys exhibit = keys.table("exhibit");
    entry.exhibit = exhibit.required_text("recipe", max_entry_bytes);
    entry.exhibit_place = exhibit.place(exhibit.required("recipe"));
    exhibit.finish();
    keys.finish();
    return entry;
}

}  // namespace

KnownDivergence parse_entry(const std::string& name, std::string_view text) {
    const std::string stem = std::filesystem::path(name).stem();
    if (text.size() > max_entry_bytes) {
        refuse_entry({name, 1}, stem,
                     "a file holds at most " + std::to_string(max_entry_bytes) + " bytes");
    }
    if (const auto line = line_nested_too_deeply(text)) {
        refuse_entry({name, *line}, stem, std::string(toml_nesting_reason));
    }
    try {
        return read(name, toml::parse(text, name));
    } catch (const toml::parse_error& error) {
        refuse_entry({name, error.source().begin.line}, stem, std::string(error.description()));
    }
}

}  // namespace difffuzz
