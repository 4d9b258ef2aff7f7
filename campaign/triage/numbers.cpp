#include "campaign/triage/numbers.hpp"

#include <optional>

#include "campaign/triage/reducers/parts.hpp"

namespace difffuzz {
namespace {

// Of a size only where it is spelled in plain bytes: another spelling is another difference.
std::optional<std::uint64_t> number_in(const Scalar& value) {
    if (const auto* size = std::get_if<SizeValue>(&value)) {
        const bool is_signed = size->as.starts_with('+') || size->as.starts_with('-');
        return size->as.substr(is_signed ? 1 : 0) == plain_size(size->bytes).as
                   ? std::optional(size->bytes)
                   : std::nullopt;
    }
    const auto* number = std::get_if<NumberValue>(&value);
    return number != nullptr && number->value >= 0
               ? std::optional(static_cast<std::uint64_t>(number->value))
               : std::nullopt;
}

// The same type with another number; a sign of a size stays.
Scalar with_number(const Scalar& like, std::uint64_t number) {
    if (const auto* size = std::get_if<SizeValue>(&like)) {
        SizeValue plain = plain_size(number);
        if (size->as.starts_with('+') || size->as.starts_with('-')) {
            plain.as.insert(plain.as.begin(), size->as.front());
        }
        return plain;
    }
    return NumberValue{static_cast<std::int64_t>(number & INT64_MAX)};
}

std::optional<Scalar> scalar_in(const std::optional<Value>& value) {
    if (value) {
        if (const auto* size = std::get_if<SizeValue>(&*value)) {
            return *size;
        }
        if (const auto* number = std::get_if<NumberValue>(&*value)) {
            return *number;
        }
    }
    return std::nullopt;
}

void add_numbers(const ImageRecipe& image, std::size_t i, std::vector<NumberPlace>& places) {
    places.push_back({"size of image " + image.id, image.size, [i](Reduced r, std::uint64_t value) {
                          set_image_size(r.c.images[i], value);
                          return r;
                      }});
    for (std::size_t o = 0; o < image.options.size(); ++o) {
        if (const auto number = number_in(image.options[o].value)) {
            places.push_back({"option " + image.options[o].name + " of image " + image.id, *number,
                              [i, o](Reduced r, std::uint64_t value) {
                                  Scalar& scalar = r.c.images[i].options[o].value;
                                  scalar = with_number(scalar, value);
                                  return r;
                              }});
        }
    }
    for (std::size_t w = 0; w < image.content.size(); ++w) {
        const std::string name = piece_of_image("write", w, 1, image.id);
        places.push_back(
            {"offset of " + name, image.content[w].offset, [i, w](Reduced r, std::uint64_t value) {
                 r.c.images[i].content[w].offset = value;
                 return r;
             }});
        places.push_back(
            {"length of " + name, image.content[w].length, [i, w](Reduced r, std::uint64_t value) {
                 r.c.images[i].content[w].length = value;
                 return r;
             }});
    }
    for (std::size_t d = 0; d < image.damage.size(); ++d) {
        places.push_back({"value of " + piece_of_image("damage", d, 1, image.id),
                          image.damage[d].value, [i, d](Reduced r, std::uint64_t value) {
                              r.c.images[i].damage[d].value = value;
                              return r;
                          }});
    }
}

void add_numbers(const Reduced& from, std::size_t s, std::size_t a,
                 std::vector<NumberPlace>& places) {
    const std::string name = argument_name(from.c, s, a);
    const std::optional<Value>& value = from.c.steps[s].arguments[a].value;
    if (const auto scalar = scalar_in(value)) {
        if (const auto number = number_in(*scalar)) {
            places.push_back(
                {name, *number, [s, a, like = *scalar](Reduced r, std::uint64_t other) {
                     r.c.steps[s].arguments[a].value = to_value(with_number(like, other));
                     return r;
                 }});
        }
        return;
    }
    const auto* list = value ? std::get_if<OptionList>(&*value) : nullptr;
    for (std::size_t o = 0; list != nullptr && o < list->options.size(); ++o) {
        if (const auto number = number_in(list->options[o].value)) {
            places.push_back(
                {list->options[o].name + " of " + name, *number,
                 [s, a, o](Reduced r, std::uint64_t other) {
                     Scalar& scalar =
                         std::get<OptionList>(*r.c.steps[s].arguments[a].value).options[o].value;
                     scalar = with_number(scalar, other);
                     return r;
                 }});
        }
    }
}

}  // namespace

std::vector<NumberPlace> numbers_of(const Reduced& from) {
    std::vector<NumberPlace> places;
    for (std::size_t s = 0; s < from.c.steps.size(); ++s) {
        for (std::size_t a = 0; a < from.c.steps[s].arguments.size(); ++a) {
            add_numbers(from, s, a, places);
        }
    }
    for (std::size_t i = 0; i < from.c.images.size(); ++i) {
        add_numbers(from.c.images[i], i, places);
    }
    return places;
}

}  // namespace difffuzz
