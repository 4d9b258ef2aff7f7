#include "pickers/io_steps.hpp"

#include <algorithm>
#include <array>

#include "images/bytes.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t max_length = std::uint64_t{256} << 10;

// Formats that qemu-io writes to.
constexpr std::array<std::string_view, 8> writable{"raw", "qcow2", "vmdk", "vpc",
                                                   "vdi", "vhdx",  "qed",  "parallels"};

const ImageState* image_of(const Step& step, const CaseState& state) {
    const auto image = state.find(image_of_step(step));
    return image == state.end() ? nullptr : &image->second;
}

struct Area {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

// The two sizes among the positional arguments.
std::optional<Area> area_of(const Step& step) {
    std::vector<std::uint64_t> sizes;
    for (const Argument* argument : positionals(step)) {
        if (const auto* size = std::get_if<SizeValue>(&*argument->value)) {
            sizes.push_back(size->bytes);
        }
    }
    return sizes.size() == 2 ? std::optional(Area{sizes[0], sizes[1]}) : std::nullopt;
}

std::optional<std::string> draw_target(const Draws& draws, const CaseState& state,
                                       bool (*suits)(const ImageState&)) {
    std::vector<std::string> targets;
    for (const std::string& id : top_images(state)) {
        const ImageState& image = state.at(id);
        if (image.own.size != 0 && suits(image)) {
            targets.push_back(id);
        }
    }
    return targets.empty()
               ? std::nullopt
               : std::optional(draws.pick("image", std::span<const std::string>(targets)));
}

// Hugs edges of units and clusters and both ends of the image.
Area draw_area(const Draws& draws, const ImageState& image) {
    const std::uint64_t size = image.own.size;
    const std::uint64_t unit = std::clamp<std::uint64_t>(image.unit, 512, 65536);
    const std::uint64_t lengths[] = {1, 512, unit, 2 * unit, unit + 1, 4096, 3 * unit - 512};
    Area area;
    area.length = std::min({draws.pick("length", lengths), size, max_length});
    const std::uint64_t last = size - area.length;
    static constexpr Weighted<int> places[] = {{0, 3}, {1, 2}, {2, 4}, {3, 2}};
    switch (draws.pick("place", places)) {
        case 0:
            break;
        case 1:
            area.offset = last;
            break;
        case 2:
            area.offset = draws.between("unit", 0, last / unit) * unit;
            break;
        default:
            area.offset = draws.between("offset", 0, last);
            break;
    }
    return area;
}

Step io_step(std::string_view command, const ImageState& image) {
    Step step{Actor::neutral, "io", std::string(command), ValidIntent{}, {}};
    step.arguments.push_back({"-f", WordValue{image.format}});
    return step;
}

void add_area(Step& step, const Area& area, const std::string& id) {
    step.arguments.push_back({"", plain_size(area.offset)});
    step.arguments.push_back({"", plain_size(area.length)});
    step.arguments.push_back({"", ImageValue{id}});
}

std::optional<Step> draw_write(Case&, const PickContext& context, const CaseState& state) {
    const Draws& draws = context.draws;
    if (!context.plan.has_feature("io")) {
        return std::nullopt;
    }
    const auto id = draw_target(draws, state, [](const ImageState& image) {
        return std::ranges::find(writable, image.format) != writable.end();
    });
    if (!id) {
        return std::nullopt;
    }
    const ImageState& image = state.at(*id);
    Step step = io_step("write", image);
    static constexpr Weighted<int> kinds[] = {{0, 6}, {1, 2}, {2, 1}};
    const int kind = draws.pick("kind", kinds);
    if (kind == 0) {
        step.arguments.push_back(
            {"-P", NumberValue{static_cast<std::int64_t>(draws.between("byte", 1, 255))}});
    } else {
        step.arguments.push_back({"-z", std::nullopt});
        if (kind == 2) {
            step.arguments.push_back({"-u", std::nullopt});
        }
    }
    add_area(step, draw_area(draws, image), *id);
    return step;
}

bool discards_to_zeros(const ImageState& image) {
    return image.format == "qcow2" && image.version == 3 && !image.extended_l2;
}

std::optional<Step> draw_discard(Case&, const PickContext& context, const CaseState& state) {
    if (!context.plan.has_feature("io")) {
        return std::nullopt;
    }
    const auto id = draw_target(context.draws, state, discards_to_zeros);
    if (!id) {
        return std::nullopt;
    }
    const ImageState& image = state.at(*id);
    Step step = io_step("discard", image);
    add_area(step, draw_area(context.draws, image), *id);
    return step;
}

// A neutral step is never refused; these rules only bound strangers' recipes.
std::string_view obstacle(const Step& step, const CaseState& state) {
    const ImageState* image = image_of(step, state);
    const auto area = area_of(step);
    const auto* format = option_value<WordValue>(step, "-f");
    const auto tops = top_images(state);
    const bool inside = image != nullptr && area && area->length != 0 &&
                        area->length <= max_length && area->offset <= image->own.size &&
                        area->length <= image->own.size - area->offset;
    const bool top = std::ranges::find(tops, image_of_step(step)) != tops.end();
    return inside && top && format != nullptr && format->text == image->format
               ? std::string_view{}
               : std::string_view{"write-outside"};
}

std::string_view apply_write(const Case&, const Step& step, CaseState& state) {
    if (const std::string_view rule = obstacle(step, state); !rule.empty()) {
        return rule;
    }
    const Area area = *area_of(step);
    const auto* byte = option_value<NumberValue>(step, "-P");
    if ((byte != nullptr) == has_option(step, "-z") ||
        (byte != nullptr && (byte->value < 0 || byte->value > 255 || has_option(step, "-u")))) {
        return "write-outside";
    }
    ContentWrite write{WriteKind::zero, area.offset, area.length, ByteFill{}};
    if (byte != nullptr) {
        write.kind = WriteKind::write;
        write.fill = ByteFill{static_cast<std::uint8_t>(byte->value)};
    }
    write_image(state, image_of_step(step), write);
    return {};
}

std::string_view apply_discard(const Case&, const Step& step, CaseState& state) {
    if (const std::string_view rule = obstacle(step, state); !rule.empty()) {
        return rule;
    }
    if (!discards_to_zeros(*image_of(step, state))) {
        return "write-outside";
    }
    const Area area = *area_of(step);
    write_image(state, image_of_step(step), {WriteKind::unmap, area.offset, area.length, {}});
    return {};
}

std::vector<std::string> changes(const Case&, const Step& step, const CaseState&) {
    return {image_of_step(step)};
}

}  // namespace

std::vector<std::string> top_images(const CaseState& state) {
    std::vector<std::string> tops;
    for (const auto& [id, image] : state) {
        const bool below = std::ranges::any_of(
            state, [&id = id](const auto& other) { return other.second.backing == id; });
        if (!below) {
            tops.push_back(id);
        }
    }
    return tops;
}

const StepKind& write_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}, 1, 1}, {"-P", ValueKind::number, {}},
        {"-z", ValueKind::none, {}},       {"-u", ValueKind::none, {}},
        {"", ValueKind::size, {}, 2, 2},   {"", ValueKind::image, {}, 1, 1},
    };
    static const StepKind kind{"io",       "write",     Actor::neutral, options,
                               draw_write, apply_write, changes,        false};
    return kind;
}

const StepKind& discard_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}, 1, 1},
        {"", ValueKind::size, {}, 2, 2},
        {"", ValueKind::image, {}, 1, 1},
    };
    static const StepKind kind{"io",         "discard",     Actor::neutral, options,
                               draw_discard, apply_discard, changes,        false};
    return kind;
}

}  // namespace difffuzz
