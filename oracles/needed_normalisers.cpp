#include "oracles/needed_normalisers.hpp"

#include <nlohmann/json.hpp>

#include "oracles/comparing.hpp"
#include "oracles/json_diff.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

template <typename Normaliser, typename Value>
void apply_some(const std::vector<const Normaliser*>& chain, const std::vector<bool>& applied,
                std::size_t first, Value& value) {
    for (std::size_t i = 0; i < chain.size(); ++i) {
        if (applied[first + i]) {
            chain[i]->apply(value);
        }
    }
}

template <typename Normaliser>
void add_names(const std::vector<const Normaliser*>& chain, std::vector<std::string_view>& names) {
    for (const Normaliser* normaliser : chain) {
        names.push_back(normaliser->name);
    }
}

}  // namespace

std::vector<std::string_view> needed_of(
    const std::vector<std::string_view>& names,
    const std::function<bool(const std::vector<bool>& applied)>& agrees) {
    if (agrees(std::vector<bool>(names.size(), false))) {
        return {};
    }
    std::vector<bool> applied(names.size(), true);
    std::vector<std::string_view> needed;
    for (std::size_t i = 0; i < names.size(); ++i) {
        applied[i] = false;
        if (!agrees(applied)) {
            applied[i] = true;
            needed.push_back(names[i]);
        }
    }
    return needed;
}

std::vector<std::string_view> needed_for_text(
    const Comparison& comparison, std::string_view subject, std::string_view reference,
    const std::function<bool(const std::string&, const std::string&)>& agrees) {
    if (subject == reference) {
        return {};
    }
    const std::vector<const TextNormaliser*> chain = text_chain(comparison);
    std::vector<std::string_view> names;
    add_names(chain, names);
    return needed_of(names, [&](const std::vector<bool>& applied) {
        std::string left(subject);
        std::string right(reference);
        apply_some(chain, applied, 0, left);
        apply_some(chain, applied, 0, right);
        return agrees(left, right);
    });
}

std::vector<std::string_view> needed_for_json(const Comparison& comparison, const json& subject,
                                              const json& reference) {
    std::vector<std::string_view> names;
    add_names(comparison.json_normalisers, names);
    return needed_of(names, [&](const std::vector<bool>& applied) {
        json left = subject;
        json right = reference;
        apply_some(comparison.json_normalisers, applied, 0, left);
        apply_some(comparison.json_normalisers, applied, 0, right);
        return difference_of(left, right).count == 0;
    });
}

std::vector<std::string_view> needed_for_json_text(const Comparison& comparison,
                                                   std::string_view subject,
                                                   std::string_view reference) {
    if (subject == reference) {
        return {};
    }
    // What always holds is applied to the text, the operation's own to what was parsed.
    const std::vector<const TextNormaliser*> always{&harness_path_text(), &node_name_text()};
    std::vector<std::string_view> names;
    add_names(always, names);
    add_names(comparison.json_normalisers, names);
    return needed_of(names, [&](const std::vector<bool>& applied) {
        const auto parsed = [&](std::string text) {
            apply_some(always, applied, 0, text);
            ParsedJson output = parse_output(text);
            apply_some(comparison.json_normalisers, applied, always.size(), output.value);
            return output.value;
        };
        return difference_of(parsed(std::string(subject)), parsed(std::string(reference))).count ==
               0;
    });
}

}  // namespace difffuzz
