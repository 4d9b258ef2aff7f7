#include "pickers/map.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t offset_max = 9'223'372'036'854'775'807;

struct StartOption {
    static constexpr std::string_view option = "--start-offset";
    static constexpr std::string_view text_rule = "start-not-a-size";
    static constexpr std::string_view range_rule = "start-out-of-range";
    static constexpr std::uint64_t max = offset_max;
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "k", "4kk", "-64k"};
    static constexpr std::uint64_t outside[] = {9'223'372'036'854'775'808U,
                                                10'376'293'541'461'622'784U};
};

struct LengthOption {
    static constexpr std::string_view option = "--max-length";
    static constexpr std::string_view text_rule = "length-not-a-size";
    static constexpr std::string_view range_rule = "length-out-of-range";
    static constexpr std::uint64_t max = offset_max;
    static constexpr std::string_view texts[] = {"abc", "-1", "4Q", "", "k", "4kk", "-64k"};
    static constexpr std::uint64_t outside[] = {9'223'372'036'854'775'808U,
                                                10'376'293'541'461'622'784U};
};

const ImageRecipe* mapped_image(const Case& c) {
    const auto names = positionals(last_step(c));
    return names.empty() ? nullptr : find_image(c, std::get<ImageValue>(*names.front()->value).id);
}

bool prints_text(const Case& c) {
    const Argument* output = find_argument(last_step(c), "--output");
    return output == nullptr || output->value == Value{WordValue{"human"}};
}

// Clusters that lie at no offset of a file: compressed ones, and all of a vhdx or a
// stream-optimised vmdk.
bool has_compressed_write(const ImageRecipe& image) {
    const auto stream = [](const FormatOption& option) {
        return option.value == Scalar{WordValue{"streamOptimized"}};
    };
    if (image.format == "vhdx" || std::ranges::any_of(image.options, stream)) {
        return true;
    }
    return std::ranges::any_of(image.content, [](const ContentWrite& write) {
        return write.kind == WriteKind::compressed;
    });
}

bool chain_has_compressed_write(const Case& c) {
    const ImageRecipe* image = mapped_image(c);
    while (image != nullptr) {
        if (has_compressed_write(*image)) {
            return true;
        }
        image = image->backing ? find_image(c, *image->backing) : nullptr;
    }
    return false;
}

// The text form maps onto files, which compressed clusters cannot be.
Rule compressed_as_text_rule() {
    return {"compressed-as-text",
            true,
            "compressed clusters are mapped with --output json only",
            [](const Case& c) { return prints_text(c) && chain_has_compressed_write(c); },
            [](Case& c, const Draws& draws) {
                Step& step = last_step(c);
                ImageRecipe& image = c.images.back();
                const std::uint64_t unit = find_format(image.format)->cluster_bytes(image);
                // Last and compressible, so that the cluster is there and stays compressed.
                image.content.push_back(
                    {WriteKind::compressed, 0,
                     std::min(unit, find_format(image.format)->actual_size(image)),
                     ByteFill{static_cast<std::uint8_t>(draws.between("byte", 1, 255))}});
                remove_option(step, StartOption::option);
                remove_option(step, LengthOption::option);
                remove_option(step, "--output");
            },
            [](const Case& c) {
                const ImageRecipe& image = c.images.back();
                return image.format == "qcow2" &&
                       std::ranges::find(image.options, "data_file", &FormatOption::name) ==
                           image.options.end();
            }};
}

// The largest sum that is no overflow for a reference that adds both as signed numbers.
Rule window_overflow_rule() {
    return {"window-overflow", false,
            "start and length add up to at most 9223372036854775807; the reference accepts more, "
            "overflows and maps nothing",
            [](const Case& c) {
                const auto start = bytes_of(last_step(c), StartOption::option);
                const auto length = bytes_of(last_step(c), LengthOption::option);
                return start && length && *start <= offset_max && *length <= offset_max &&
                       *start > offset_max - *length;
            }};
}

// A place next to a boundary of the image or of a unit in it, anywhere, or past the end.
std::uint64_t draw_place(const Draws& draws, std::uint64_t size, std::uint64_t unit) {
    enum class Kind { cluster, sector, any, end, past };
    static constexpr Weighted<Kind> kinds[] = {{Kind::cluster, 45},
                                               {Kind::sector, 20},
                                               {Kind::any, 15},
                                               {Kind::end, 10},
                                               {Kind::past, 10}};
    static constexpr std::int64_t nudges[] = {-513, -512, -1, 0, 0, 0, 1, 511, 512, 513};
    const auto nudged = [&](std::uint64_t place) {
        const std::int64_t moved = static_cast<std::int64_t>(place) + draws.pick("nudge", nudges);
        return static_cast<std::uint64_t>(std::max<std::int64_t>(moved, 0));
    };
    switch (draws.pick("kind", kinds)) {
        case Kind::cluster:
            return nudged(draws.between("unit", 0, size / unit) * unit);
        case Kind::sector:
            return draws.between("sector", 0, size / 512) * 512;
        case Kind::any:
            return draws.between("byte", 0, size);
        case Kind::end:
            return nudged(size);
        case Kind::past:
            return size + draws.between("past", 1, 64 * mib);
    }
    return 0;
}

SizeValue draw_place_argument(const Draws& draws, std::uint64_t size, std::uint64_t unit) {
    const std::uint64_t place = draw_place(draws, size, unit);
    return draws.chance("plain", 60) ? plain_size(place) : draw_spelling(draws, place);
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "map";
    const Draws draws = context.draws.scope("step[0]");
    static constexpr Weighted<std::string_view> outputs[] = {{"", 20}, {"human", 15}, {"json", 65}};
    const std::string_view output = draws.pick("arg[--output]", outputs);
    ImageWish wish = every_image();
    wish.compressed = output == "json";
    if (output != "json") {
        wish.formats = {{"qcow2", 6}, {"raw", 3}, {"vpc", 1}, {"vdi", 1}, {"qed", 1}};
    }
    const std::string id = draw_image(c, context, "src", wish);
    const ImageRecipe& image = c.images.back();
    const Format& format = *find_format(image.format);
    const std::uint64_t unit = std::max<std::uint64_t>(format.cluster_bytes(image), 4 * kib);
    Step step{Actor::tool, "map", "map", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{image.format}});
    }
    if (!output.empty()) {
        step.arguments.push_back({"--output", WordValue{std::string(output)}});
    }
    for (const std::string_view option : {StartOption::option, LengthOption::option}) {
        const std::string path = "arg[" + std::string(option) + "]";
        if (draws.chance(path, 35)) {
            step.arguments.push_back(
                {std::string(option),
                 draw_place_argument(draws.scope(path), format.actual_size(image), unit)});
        }
    }
    if (draws.chance("arg[-U]", 15)) {
        step.arguments.push_back({"-U", std::nullopt});
    }
    step.arguments.push_back({"", ImageValue{id}});
    c.steps.push_back(step);
    return c;
}

}  // namespace

const Picker& map_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, known_formats()},
        {"--output", ValueKind::word, output_words()},
        {StartOption::option, ValueKind::size, {}},
        {LengthOption::option, ValueKind::size, {}},
        {"-U", ValueKind::none, {}},
        {"", ValueKind::image, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const Rule rules[] = {
        unknown_option_rule(),
        unknown_format_rule(),
        unknown_output_rule(),
        missing_file_rule(),
        no_file_rule(),
        two_files_rule(),
        other_format_rule(),
        own_format_rule(),
        text_rule<StartOption>("a size"),
        range_rule<StartOption>("at most 9223372036854775807"),
        text_rule<LengthOption>("a size"),
        range_rule<LengthOption>("at most 9223372036854775807"),
        compressed_as_text_rule(),
        window_overflow_rule(),
    };
    static const LeftOut left_out[] = {
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"map", "map", draw_valid, options, rules, left_out};
    return picker;
}

}  // namespace difffuzz
