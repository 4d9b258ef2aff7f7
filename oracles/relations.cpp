#include "oracles/relations.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/decimal.hpp"
#include "images/format.hpp"
#include "images/probed_format.hpp"
#include "oracles/json_diff.hpp"
#include "oracles/measured_convert.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// Tools speak of whole sectors, raw files may end within one.
std::uint64_t whole_sectors(std::uint64_t bytes) {
    return bytes / sector_bytes * sector_bytes + (bytes % sector_bytes == 0 ? 0 : sector_bytes);
}

RelationState equal_sizes(std::uint64_t said, std::uint64_t size) {
    return {said == size, {{"said", said}, {"size", size}}};
}

// What was found in image `id` after the compared step; null where nobody looked, or not at that.
template <typename Value>
const Value* found_in(const OneSide& side, std::string_view id) {
    for (const Inspection& inspection : side.seen().inspections) {
        const auto* value = std::get_if<Value>(&inspection.finding);
        if (inspection.image == id && inspection.snapshot.empty() && value != nullptr) {
            return value;
        }
    }
    return nullptr;
}

bool names(const Step& step, const std::string& id) {
    return std::ranges::any_of(step.arguments, [&](const Argument& argument) {
        const auto* image = argument.value ? std::get_if<ImageValue>(&*argument.value) : nullptr;
        return image != nullptr && image->id == id;
    });
}

// Whether a tool may take the image for a raw one, of another size, since nobody tells it the
// format.
bool may_be_taken_for_raw(const ImageRecipe& recipe, const Step& step) {
    const bool told =
        has_option(step, "--image-opts") ||
        (has_option(step, "-f") && (step.command != "compare" || has_option(step, "-F")));
    return !told && (!recipe.damage.empty() || !shows_its_format(recipe));
}

// The virtual size, whole sectors, that image `id` has after the compared step: as found in it, or,
// for an image that no step named before, as built.
std::optional<std::uint64_t> size_of(const OneSide& side, const std::string& id) {
    const ImageRecipe* recipe = find_image(side.comparison.c, id);
    if (recipe != nullptr && may_be_taken_for_raw(*recipe, side.step())) {
        return std::nullopt;
    }
    if (const auto* found = found_in<ContentFinding>(side, id)) {
        return whole_sectors(found->content.size);
    }
    const Case& c = side.comparison.c;
    const Format* format = recipe == nullptr ? nullptr : find_format(recipe->format);
    for (std::size_t s = 0; s < side.comparison.step; ++s) {
        if (names(c.steps[s], id)) {
            return std::nullopt;
        }
    }
    return format == nullptr ? std::nullopt
                             : std::optional(whole_sectors(format->actual_size(*recipe)));
}

std::vector<std::string> named_images(const Step& step) {
    std::vector<std::string> ids;
    for (const Argument* argument : positionals(step)) {
        if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
            ids.push_back(image->id);
        }
    }
    return ids;
}

std::optional<std::uint64_t> number_at(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_number_unsigned()
               ? std::optional(found->get<std::uint64_t>())
               : std::nullopt;
}

std::optional<json> printed_json(const OneSide& side) {
    const Stream& out = side.seen().outcome.out;
    const std::string text = out.cut() ? std::string() : stream_text(out);
    if (!looks_like_json(text)) {
        return std::nullopt;
    }
    ParsedJson parsed = parse_output(text);
    return parsed.form == JsonForm::parsed ? std::optional(std::move(parsed.value)) : std::nullopt;
}

// The digits in `text` between the first `before` and the `after` that follows.
std::optional<std::uint64_t> number_in(std::string_view text, std::string_view before,
                                       std::string_view after) {
    const auto at = text.find(before);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto begin = at + before.size();
    const auto end = text.find(after, begin);
    return end == std::string_view::npos ? std::nullopt
                                         : parse_decimal(text.substr(begin, end - begin));
}

// `info` of an image, or of a chain, whose first entry is the image itself.
std::optional<RelationState> info_size(const OneSide& side) {
    const std::vector<std::string> ids = named_images(side.step());
    if (side.step().command != "info" || ids.size() != 1) {
        return std::nullopt;
    }
    std::optional<std::uint64_t> said;
    if (const auto printed = printed_json(side)) {
        const bool chain = printed->is_array() && !printed->empty();
        said = number_at(chain ? printed->front() : *printed, "virtual-size");
    } else {
        const std::string text = side.seen().outcome.out.head;
        const auto line = text.find("virtual size: ");
        said = line == std::string::npos
                   ? std::nullopt
                   : number_in(std::string_view(text).substr(line), "(", " bytes)");
    }
    const auto size = size_of(side, ids.front());
    return said && size ? std::optional(equal_sizes(*said, *size)) : std::nullopt;
}

// Metadata and data of an image that the step wrote, as the neutral looks saw them.
std::optional<RelationState> written_size(const OneSide& side) {
    std::optional<RelationState> state;
    for (const Inspection& inspection : side.seen().inspections) {
        const auto* info = std::get_if<InfoFinding>(&inspection.finding);
        const auto* content = found_in<ContentFinding>(side, inspection.image);
        const auto said = info == nullptr ? std::nullopt : number_at(info->info, "virtual-size");
        if (content == nullptr || !said) {
            continue;
        }
        state = equal_sizes(*said, whole_sectors(content->content.size));
        if (!state->holds) {
            break;
        }
    }
    return state;
}

std::uint64_t size_argument(const Step& step, std::string_view option, std::uint64_t otherwise) {
    const auto* value = option_value<SizeValue>(step, option);
    return value == nullptr ? otherwise : value->bytes;
}

// The extents of a map follow each other without a gap, and add up to the image or to the window.
std::optional<RelationState> map_extents(const OneSide& side) {
    const std::vector<std::string> ids = named_images(side.step());
    if (side.step().command != "map" || ids.size() != 1) {
        return std::nullopt;
    }
    const auto size = size_of(side, ids.front());
    const auto printed = printed_json(side);
    if (!size || !printed || !printed->is_array()) {
        return std::nullopt;
    }
    const std::uint64_t start = size_argument(side.step(), "--start-offset", 0);
    const std::uint64_t most = size_argument(side.step(), "--max-length", UINT64_MAX);
    const std::uint64_t expected = start >= *size ? 0 : std::min(most, *size - start);
    std::uint64_t end = start;
    bool gapless = true;
    for (const json& extent : *printed) {
        const auto from = number_at(extent, "start");
        const auto length = number_at(extent, "length");
        if (!from || !length) {
            return std::nullopt;  // another schema: the json layer's business
        }
        gapless &= *from == end;
        end = *from + *length;
    }
    return RelationState{gapless && end - start == expected,
                         {{"start", start}, {"end", end}, {"expected_bytes", expected}}};
}

// `compare` speaks of a size mismatch exactly where there is one. It does so last, and so only
// where the common part is equal; with -s first.
std::optional<RelationState> compare_sizes(const OneSide& side) {
    const std::vector<std::string> ids = named_images(side.step());
    if (side.step().command != "compare" || ids.size() != 2) {
        return std::nullopt;
    }
    const auto first = size_of(side, ids[0]);
    const auto second = size_of(side, ids[1]);
    const auto* exited = std::get_if<Exited>(&side.seen().outcome.ending);
    if (!first || !second || exited == nullptr) {
        return std::nullopt;
    }
    const bool same = *first == *second;
    const bool told = side.seen().outcome.out.head.find("size mismatch") != std::string::npos;
    const bool strict = has_option(side.step(), "-s");
    const bool identical = exited->code == 0;
    const bool must_tell = !same && !has_option(side.step(), "-q") && (strict || identical);
    const bool holds = (told ? !same : !must_tell) && !(strict && identical && !same);
    return RelationState{holds, {{"first", *first}, {"second", *second}, {"told", told}}};
}

// The file that convert wrote is no larger than measure, asked for the same, says.
std::optional<RelationState> measured_bound(const OneSide& side) {
    const auto pair = measured_convert(side);
    if (!pair) {
        return std::nullopt;
    }
    const Outcome& outcome = side.observation.steps[pair->measure].outcome;
    const char* key = pair->fully_allocated ? "fully-allocated" : "required";
    std::optional<std::uint64_t> said;
    const std::string text = stream_text(outcome.out);
    if (const ParsedJson parsed = parse_output(text); parsed.form == JsonForm::parsed) {
        said = number_at(parsed.value, key);
    } else {
        said = number_in(
            "\n" + text,
            pair->fully_allocated ? "\nfully allocated size: " : "\nrequired size: ", "\n");
    }
    if (!said) {
        return std::nullopt;
    }
    return RelationState{pair->written_bytes <= *said,
                         {{"said", *said}, {"written", pair->written_bytes}}};
}

// The content of an image is the same after the step that copies it as it was when it was last
// looked at: converting twice gives what converting once gave.
std::optional<RelationState> converted_again(const OneSide& side) {
    const Step& step = side.step();
    const std::vector<std::string> ids = named_images(step);
    if (step.command != "convert" || ids.size() != 2 || has_option(step, "-l") ||
        has_option(step, "-n")) {
        return std::nullopt;
    }
    const auto* copy = found_in<ContentFinding>(side, ids[1]);
    const VirtualContent* source = nullptr;
    for (std::size_t s = 0; s < side.comparison.step; ++s) {
        for (const Inspection& inspection : side.observation.steps[s].inspections) {
            const auto* found = std::get_if<ContentFinding>(&inspection.finding);
            if (found != nullptr && inspection.image == ids[0] && inspection.snapshot.empty()) {
                source = &found->content;
            }
        }
    }
    if (copy == nullptr || source == nullptr) {
        return std::nullopt;
    }
    // A format may have rounded the size up: what is behind reads as zeros, so has no sectors.
    const bool holds =
        copy->content.size >= source->size && copy->content.sectors == source->sectors;
    return RelationState{holds, {{"source", source->size}, {"copy", copy->content.size}}};
}

}  // namespace

std::span<const Relation> relations() {
    static constexpr Relation table[] = {
        {"info-size", "info says the size that the image has", info_size},
        {"written-size", "metadata and data of a written image have one size", written_size},
        {"map-extents", "the extents of a map add up to the image", map_extents},
        {"compare-sizes", "compare tells of a size mismatch where there is one", compare_sizes},
        {"measured-bound", "convert writes no more than measure says", measured_bound},
        {"converted-again", "a copy of a copy is the copy", converted_again},
    };
    return table;
}

}  // namespace difffuzz
