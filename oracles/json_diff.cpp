#include "oracles/json_diff.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_key_bytes = 64;
constexpr std::size_t max_path_bytes = 128;
constexpr std::size_t max_fields = 8;

// Thrown out of the parser to leave it early.
struct TooDeep {};
struct DuplicateKey {};

class Watch {
public:
    bool operator()(int depth, json::parse_event_t event, json& parsed) {
        if (depth > max_json_depth) {
            throw TooDeep{};
        }
        if (event == json::parse_event_t::object_start) {
            keys_.emplace_back();
        } else if (event == json::parse_event_t::object_end) {
            keys_.pop_back();
        } else if (event == json::parse_event_t::key &&
                   !keys_.back().insert(parsed.get<std::string>()).second) {
            throw DuplicateKey{};
        }
        return true;
    }

private:
    std::vector<std::set<std::string>> keys_;
};

enum class Kind { null, boolean, integer, real, text, array, object };

Kind kind_of(const json& value) {
    switch (value.type()) {
        case json::value_t::boolean:
            return Kind::boolean;
        case json::value_t::number_integer:
        case json::value_t::number_unsigned:
            return Kind::integer;
        case json::value_t::number_float:
            return Kind::real;
        case json::value_t::string:
        case json::value_t::binary:
            return Kind::text;
        case json::value_t::array:
            return Kind::array;
        case json::value_t::object:
            return Kind::object;
        case json::value_t::null:
        case json::value_t::discarded:
            break;
    }
    return Kind::null;
}

json bounded(const json& value) {
    if (value.is_string()) {
        return shown_text(value.get_ref<const std::string&>(), max_shown_value);
    }
    if (!value.is_structured()) {
        return value;
    }
    const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() <= max_shown_value ? value : json(shown_text(text, max_shown_value));
}

char sign(JsonChange change) {
    switch (change) {
        case JsonChange::only_subject:
            return '+';
        case JsonChange::only_reference:
            return '-';
        case JsonChange::value:
            return '~';
        case JsonChange::type:
            break;
    }
    return '!';
}

std::string_view name_of(JsonChange change) {
    switch (change) {
        case JsonChange::only_subject:
            return "only_subject";
        case JsonChange::only_reference:
            return "only_reference";
        case JsonChange::value:
            return "value";
        case JsonChange::type:
            break;
    }
    return "type";
}

class Comparer {
public:
    void compare(const json& subject, const json& reference, const std::string& path) {
        const Kind kind = kind_of(subject);
        if (kind != kind_of(reference)) {
            add(path, JsonChange::type, subject, reference);
        } else if (kind == Kind::object) {
            objects(subject, reference, path);
        } else if (kind == Kind::array) {
            arrays(subject, reference, path);
        } else if (subject != reference) {
            add(path, JsonChange::value, subject, reference);
        }
    }

    JsonDifferences take() && {
        result_.fields.assign(fields_.begin(), fields_.end());
        return std::move(result_);
    }

private:
    void add(const std::string& path, JsonChange change, const json& subject,
             const json& reference) {
        ++result_.count;
        const std::string shown =
            path.size() <= max_path_bytes ? path : shown_text(path, max_path_bytes);
        fields_.insert(sign(change) + shown);
        if (result_.first.size() < max_differences) {
            result_.first.push_back({shown, change, bounded(subject), bounded(reference)});
        }
    }

    void objects(const json& subject, const json& reference, const std::string& path) {
        auto left = subject.begin();
        auto right = reference.begin();
        while (left != subject.end() || right != reference.end()) {
            const bool only_left =
                right == reference.end() || (left != subject.end() && left.key() < right.key());
            const bool only_right =
                !only_left && (left == subject.end() || right.key() < left.key());
            const std::string& key = only_right ? right.key() : left.key();
            const std::string place =
                (path.empty() ? "" : path + ".") + shown_text(key, max_key_bytes);
            if (only_left) {
                add(place, JsonChange::only_subject, *left, nullptr);
            } else if (only_right) {
                add(place, JsonChange::only_reference, nullptr, *right);
            } else {
                compare(*left, *right, place);
            }
            if (!only_right) {
                ++left;
            }
            if (!only_left) {
                ++right;
            }
        }
    }

    void arrays(const json& subject, const json& reference, const std::string& path) {
        const std::string place = path + "[]";
        const std::size_t common = std::min(subject.size(), reference.size());
        for (std::size_t i = 0; i < common; ++i) {
            compare(subject[i], reference[i], place);
        }
        for (std::size_t i = common; i < subject.size(); ++i) {
            add(place, JsonChange::only_subject, subject[i], nullptr);
        }
        for (std::size_t i = common; i < reference.size(); ++i) {
            add(place, JsonChange::only_reference, nullptr, reference[i]);
        }
    }

    JsonDifferences result_;
    std::set<std::string> fields_;
};

}  // namespace

ParsedJson parse_output(std::string_view text) {
    try {
        json value = json::parse(text.begin(), text.end(), Watch{});
        return value.is_structured() ? ParsedJson{JsonForm::parsed, std::move(value)}
                                     : ParsedJson{};
    } catch (const TooDeep&) {
        return {JsonForm::too_deep, nullptr};
    } catch (const DuplicateKey&) {
        return {};
    } catch (const json::exception&) {
        return {};
    }
}

bool looks_like_json(std::string_view text) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
}

JsonDifferences difference_of(const json& subject, const json& reference) {
    Comparer comparer;
    comparer.compare(subject, reference, "");
    return std::move(comparer).take();
}

std::string joined_fields(const JsonDifferences& differences) {
    std::string result;
    for (std::size_t i = 0; i < differences.fields.size(); ++i) {
        if (i == max_fields) {
            return result + ",…";
        }
        result += (i == 0 ? "" : ",") + differences.fields[i];
    }
    return result;
}

json to_json(const JsonDifferences& differences) {
    json list = json::array();
    for (const JsonDifference& difference : differences.first) {
        list.push_back({{"path", difference.path},
                        {"change", name_of(difference.change)},
                        {"subject", difference.subject},
                        {"reference", difference.reference}});
    }
    return {{"count", differences.count}, {"differences", std::move(list)}};
}

}  // namespace difffuzz
