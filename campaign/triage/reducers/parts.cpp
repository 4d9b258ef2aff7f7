#include "campaign/triage/reducers/parts.hpp"

#include <algorithm>
#include <bit>

namespace difffuzz {
namespace {

bool value_names(const Value& value, std::string_view id) {
    if (const auto* image = std::get_if<ImageValue>(&value)) {
        return image->id == id;
    }
    const auto* list = std::get_if<OptionList>(&value);
    return list != nullptr && std::ranges::any_of(list->options, [&](const FormatOption& option) {
               const auto* image = std::get_if<ImageValue>(&option.value);
               return image != nullptr && image->id == id;
           });
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> pieces(std::size_t size) {
    std::vector<std::pair<std::size_t, std::size_t>> result;
    for (std::size_t count = size; count > 0; count = count == 1 ? 0 : (count + 1) / 2) {
        for (std::size_t end = size; end > 0;) {
            const std::size_t begin = end > count ? end - count : 0;
            result.emplace_back(begin, end - begin);
            end = begin;
        }
    }
    return result;
}

std::vector<std::uint64_t> simpler_numbers(std::uint64_t value) {
    std::vector<std::uint64_t> result;
    const auto add = [&](std::uint64_t number) {
        if (number < value && std::ranges::find(result, number) == result.end()) {
            result.push_back(number);
        }
    };
    constexpr std::uint64_t units[] = {1U << 20, 1U << 16, 1U << 12, 1U << 9};
    for (const std::uint64_t number : {0U, 1U, 1U << 9, 1U << 12, 1U << 16, 1U << 20}) {
        add(number);
    }
    add(std::bit_floor(value));
    for (const std::uint64_t unit : units) {
        if (value > unit) {
            add(value / unit * unit);
        }
    }
    add(value / 2);
    return result;
}

bool names_image(const Step& step, std::string_view id) {
    return std::ranges::any_of(step.arguments, [&](const Argument& argument) {
        return argument.value && value_names(*argument.value, id);
    });
}

void drop_unused_outputs(Case& c) {
    std::erase_if(c.outputs, [&](const OutputImage& output) {
        return std::ranges::none_of(c.steps,
                                    [&](const Step& step) { return names_image(step, output.id); });
    });
}

void erase_writes(ImageRecipe& image, std::size_t begin, std::size_t count) {
    erase_piece(image.content, begin, count);
    for (SnapshotRecipe& snapshot : image.snapshots) {
        if (snapshot.after > begin) {
            snapshot.after -=
                static_cast<std::uint32_t>(std::min<std::size_t>(count, snapshot.after - begin));
        }
    }
}

void set_image_size(ImageRecipe& image, std::uint64_t size) {
    image.size = size;
    for (std::size_t w = image.content.size(); w > 0; --w) {
        ContentWrite& write = image.content[w - 1];
        if (write.offset >= size) {
            erase_writes(image, w - 1, 1);
        } else {
            write.length = std::min(write.length, size - write.offset);
        }
    }
    for (BitmapRecipe& bitmap : image.bitmaps) {
        std::erase_if(bitmap.dirty, [&](const ByteRange& range) { return range.offset >= size; });
        for (ByteRange& range : bitmap.dirty) {
            range.length = std::min(range.length, size - range.offset);
        }
    }
}

std::string piece_of_image(std::string_view item, std::size_t begin, std::size_t count,
                           std::string_view image) {
    const std::string word(item);
    const std::string which = count == 1 ? word + " " + std::to_string(begin)
                                         : word + "s " + std::to_string(begin) + " to " +
                                               std::to_string(begin + count - 1);
    return which + " of image " + std::string(image);
}

std::string argument_name(const Case& c, std::size_t step, std::size_t argument) {
    const std::string& option = c.steps[step].arguments[argument].option;
    return (option.empty() ? "argument " + std::to_string(argument) : "option " + option) +
           " of step " + std::to_string(step);
}

}  // namespace difffuzz
