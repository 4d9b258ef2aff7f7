#include <algorithm>
#include <optional>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

// The same spelling in plain bytes; a sign says how the size is meant and stays.
SizeValue plainly(const SizeValue& like, std::uint64_t bytes) {
    SizeValue plain = plain_size(bytes);
    if (like.as.starts_with('+') || like.as.starts_with('-')) {
        plain.as.insert(plain.as.begin(), like.as.front());
    }
    return plain;
}

// Simpler values of the same type, the simplest first.
std::vector<Scalar> simpler_values(const Scalar& value) {
    std::vector<Scalar> result;
    if (const auto* size = std::get_if<SizeValue>(&value)) {
        for (const std::uint64_t bytes : simpler_numbers(size->bytes)) {
            result.emplace_back(plainly(*size, bytes));
        }
        if (SizeValue plain = plainly(*size, size->bytes); plain != *size) {
            result.emplace_back(std::move(plain));
        }
    } else if (const auto* number = std::get_if<NumberValue>(&value)) {
        const bool negative = number->value < 0;
        const auto magnitude = negative ? ~static_cast<std::uint64_t>(number->value) + 1
                                        : static_cast<std::uint64_t>(number->value);
        for (const std::uint64_t smaller : simpler_numbers(magnitude)) {
            const auto signed_value = static_cast<std::int64_t>(smaller);
            result.emplace_back(NumberValue{negative ? -signed_value : signed_value});
        }
    }
    return result;
}

std::string shown(const Scalar& value) {
    if (const auto* size = std::get_if<SizeValue>(&value)) {
        return size->as;
    }
    return std::to_string(std::get<NumberValue>(value).value);
}

std::optional<Scalar> scalar_of(const Value& value) {
    if (const auto* size = std::get_if<SizeValue>(&value)) {
        return *size;
    }
    if (const auto* number = std::get_if<NumberValue>(&value)) {
        return *number;
    }
    return std::nullopt;
}

void add_edits_of_argument(std::vector<Edit>& edits, const Reduced& from, const WordDomain& words,
                           std::size_t s, std::size_t a) {
    const Step& step = from.c.steps[s];
    const Argument& argument = step.arguments[a];
    const std::string name = argument_name(from.c, s, a);
    const auto set = [&](Value value, std::string becomes) {
        edits.push_back(
            {"value of " + name, std::move(becomes), [s, a, value = std::move(value)](Reduced r) {
                 r.c.steps[s].arguments[a].value = value;
                 return r;
             }});
    };
    if (const auto scalar = scalar_of(*argument.value)) {
        for (const Scalar& simpler : simpler_values(*scalar)) {
            set(to_value(simpler), shown(simpler));
        }
    } else if (const auto* word = std::get_if<WordValue>(&*argument.value)) {
        const auto domain = words(step, argument.option);
        if (std::ranges::find(domain, word->text) == domain.end()) {
            return;  // of its words only those before it are simpler
        }
        for (const std::string_view simpler : domain) {
            if (simpler == word->text) {
                break;
            }
            set(WordValue{std::string(simpler)}, std::string(simpler));
        }
    } else if (const auto* list = std::get_if<OptionList>(&*argument.value)) {
        for (std::size_t o = 0; o < list->options.size(); ++o) {
            for (const Scalar& simpler : simpler_values(list->options[o].value)) {
                OptionList changed = *list;
                changed.options[o].value = simpler;
                edits.push_back({"value of " + list->options[o].name + " of " + name,
                                 shown(simpler), [s, a, changed = std::move(changed)](Reduced r) {
                                     r.c.steps[s].arguments[a].value = changed;
                                     return r;
                                 }});
            }
        }
    }
}

}  // namespace

std::vector<Edit> value_edits(const Reduced& from, const WordDomain& words) {
    std::vector<Edit> edits;
    for (std::size_t s = 0; s < from.c.steps.size(); ++s) {
        for (std::size_t a = 0; a < from.c.steps[s].arguments.size(); ++a) {
            if (from.c.steps[s].arguments[a].value) {
                add_edits_of_argument(edits, from, words, s, a);
            }
        }
    }
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        const std::vector<FormatOption>& options = from.c.images[i].options;
        for (std::size_t o = 0; o < options.size(); ++o) {
            for (const Scalar& simpler : simpler_values(options[o].value)) {
                edits.push_back(
                    {"value of option " + options[o].name + " of image " + from.c.images[i].id,
                     shown(simpler), [i, o, simpler](Reduced r) {
                         r.c.images[i].options[o].value = simpler;
                         return r;
                     }});
            }
        }
    }
    return edits;
}

}  // namespace difffuzz
