#include "pickers/check.hpp"

#include "images/format.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

bool supports_checks(std::string_view format) {
    const Format* known = find_format(format);
    return known != nullptr && known->checkable;
}

const ImageRecipe* checked_image(const Case& c) {
    const auto names = positionals(last_step(c));
    return names.empty() ? nullptr : find_image(c, std::get<ImageValue>(*names.front()->value).id);
}

// The format that the image is opened with; empty where it is none that can be opened so.
std::string_view opened_as(const Case& c) {
    const ImageRecipe* image = checked_image(c);
    if (image == nullptr) {
        return {};
    }
    const auto* word = option_value<WordValue>(last_step(c), "-f");
    if (word == nullptr) {
        return has_option(last_step(c), "-f") ? std::string_view{} : image->format;
    }
    return word->text == "raw" || word->text == image->format ? std::string_view(word->text)
                                                              : std::string_view{};
}

void make_raw(ImageRecipe& image) {
    // Writes may reach the end of the last sector.
    image.size = find_format(image.format)->actual_size(image);
    image.format = "raw";
    image.options.clear();
    image.backing.reset();
    image.snapshots.clear();
    image.bitmaps.clear();
    for (ContentWrite& write : image.content) {
        if (write.kind == WriteKind::compressed) {
            write.kind = WriteKind::write;
        } else if (write.kind == WriteKind::unmap) {
            write.kind = WriteKind::zero;
        }
    }
}

Rule no_check_support_rule() {
    return {"no-check-support", true,
            "the format must have checks, which raw has not; the reference answers 63",
            [](const Case& c) {
                const std::string_view format = opened_as(c);
                return !format.empty() && !supports_checks(format);
            },
            [](Case& c, const Draws& draws) {
                if (draws.chance("raw-image", 60)) {
                    make_raw(c.images.back());
                }
                if (c.images.back().format != "raw" || has_option(last_step(c), "-f")) {
                    set_option(last_step(c), "-f", WordValue{"raw"});
                }
            }};
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "check";
    ImageWish wish = every_image();
    wish.formats = {{"qcow2", 8}, {"vmdk", 2}, {"vhdx", 1},
                    {"vdi", 2},   {"qed", 2},  {"parallels", 1}};
    wish.backing_formats = every_format();
    const std::string image = draw_image(c, context, "src", wish);
    const Draws draws = context.draws.scope("step[0]");
    Step step{Actor::tool, "check", "check", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{std::string(format_of(c, image))}});
    }
    static constexpr Weighted<std::string_view> outputs[] = {{"", 30}, {"human", 15}, {"json", 55}};
    if (const auto output = draws.pick("arg[--output]", outputs); !output.empty()) {
        step.arguments.push_back({"--output", WordValue{std::string(output)}});
    }
    if (draws.chance("arg[-T]", 25)) {
        step.arguments.push_back(
            {"-T", WordValue{std::string(draws.pick("arg[-T].word", cache_words))}});
    }
    for (const std::string_view flag : {"-U", "-q"}) {
        if (draws.chance("arg[" + std::string(flag) + "]", 15)) {
            step.arguments.push_back({std::string(flag), std::nullopt});
        }
    }
    step.arguments.push_back({"", ImageValue{image}});
    c.steps.push_back(step);
    return c;
}

}  // namespace

const Picker& check_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, known_formats()},
        {"--output", ValueKind::word, output_words()},
        {SourceCacheOption::option, ValueKind::word, cache_words},
        {"-U", ValueKind::none, {}},
        {"-q", ValueKind::none, {}},
        {"", ValueKind::image, {}, 1, 1},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const Rule rules[] = {
        unknown_option_rule(),   unknown_format_rule(),
        unknown_output_rule(),   text_rule<SourceCacheOption>("-T must name a cache mode"),
        missing_file_rule(),     no_file_rule(),
        two_files_rule(),        other_format_rule(),
        no_check_support_rule(),
    };
    static const LeftOut left_out[] = {
        {"-r", "is for the operation repair"},
        {"--object", "asks for a password"},
        {"--image-opts", "names protocols"},
    };
    static const Picker picker{"check", "check", draw_valid, options, rules, left_out};
    return picker;
}

}  // namespace difffuzz
