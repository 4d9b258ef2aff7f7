#include "pickers/compare.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "pickers/cache_modes.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t sector = 512;

// How the second image comes about.
enum class Relation {
    copy,       // the same content in another file, mostly of another format
    changed,    // that, but for one small write
    resized,    // that, cut or grown
    backing,    // the first one's own backing file
    unrelated,  // any image
};

std::uint64_t actual_size(const ImageRecipe& image) {
    return find_format(image.format)->actual_size(image);
}

// The writes of `image` and of its chain that show within its size, as plain ones.
std::vector<ContentWrite> flat_content(const Case& c, const ImageRecipe& image) {
    std::vector<ContentWrite> writes;
    if (image.backing) {
        writes = flat_content(c, *find_image(c, *image.backing));
    }
    writes.insert(writes.end(), image.content.begin(), image.content.end());
    return writes;
}

void cut_content(std::vector<ContentWrite>& writes, std::uint64_t size) {
    std::erase_if(writes, [&](const ContentWrite& write) { return write.offset >= size; });
    for (ContentWrite& write : writes) {
        write.length = std::min(write.length, size - write.offset);
    }
}

// A copy of `image` of size `size` under another id, without a backing file.
ImageRecipe copy_of(const Case& c, const PickContext& context, const Draws& draws,
                    const ImageRecipe& image, std::uint64_t size) {
    std::vector<Weighted<std::string_view>> formats;
    static constexpr Weighted<std::string_view> all[] = {
        {"qcow2", 5}, {"raw", 4}, {"vmdk", 1}, {"vpc", 1}, {"vdi", 1}, {"vhdx", 1}, {"qed", 1}};
    for (const auto& format : all) {
        const bool by_conversion = !find_format(format.value)->built_in_process;
        if (context.plan.has_format(format.value) && !(by_conversion && size > 64 * mib)) {
            formats.push_back(format);
        }
    }
    ImageRecipe copy;
    copy.id = "second";
    copy.format = draws.pick("format", std::span<const Weighted<std::string_view>>(formats));
    copy.size = size;
    if (copy.format == "qcow2") {
        unsigned smallest = 9;
        while (smallest < 16 && size >> smallest > 262'144) {
            ++smallest;
        }
        copy.options.push_back(
            {"cluster_size",
             plain_size(std::uint64_t{1} << draws.between("cluster_size.bits", smallest, 21))});
    }
    copy.content = flat_content(c, image);
    cut_content(copy.content, size);
    for (ContentWrite& write : copy.content) {
        if (write.kind == WriteKind::compressed) {
            write.kind = WriteKind::write;
        } else if (write.kind == WriteKind::unmap) {
            write.kind = WriteKind::zero;
        }
    }
    return copy;
}

// A small write at an edge: of the image, of a sector, or of 64 KiB; one byte, a sector, or zeros.
ContentWrite draw_change(const Draws& draws, std::uint64_t size) {
    static constexpr std::uint64_t lengths[] = {1, 1, sector, sector, 4 * kib};
    ContentWrite write;
    write.length = std::min(draws.pick("length", lengths), size);
    const std::uint64_t last = size - write.length;
    static constexpr unsigned places[] = {0, 1, 2, 3, 4};
    switch (draws.pick("place", places)) {
        case 0:
            break;
        case 1:
            write.offset = last;
            break;
        case 2:
            write.offset = draws.between("unit", 0, last / (64 * kib)) * 64 * kib;
            break;
        case 3: {
            const std::uint64_t edge = draws.between("edge", 0, last / sector) * sector;
            write.offset = edge == 0 ? 0 : edge - 1;
            break;
        }
        default:
            write.offset = draws.between("offset", 0, last);
            break;
    }
    if (draws.chance("zero", 25)) {
        write.kind = WriteKind::zero;
    } else {
        write.fill = ByteFill{static_cast<std::uint8_t>(draws.between("byte", 1, 255))};
    }
    return write;
}

std::uint64_t draw_other_size(const Draws& draws, std::uint64_t size) {
    static constexpr std::uint64_t steps[] = {sector, 4 * kib, 64 * kib, 1 * mib, 2 * mib};
    const std::uint64_t step = draws.pick("step", steps);
    const bool smaller = draws.chance("smaller", 50) && size > step;
    return smaller ? size - step : size + step;
}

Relation draw_relation(const Draws& draws, bool backed) {
    static constexpr Weighted<Relation> kinds[] = {{Relation::copy, 45},
                                                   {Relation::changed, 25},
                                                   {Relation::resized, 18},
                                                   {Relation::unrelated, 7},
                                                   {Relation::backing, 5}};
    const Relation relation = draws.pick("relation", kinds);
    return relation == Relation::backing && !backed ? Relation::copy : relation;
}

std::string draw_second(Case& c, const PickContext& context, const std::string& first) {
    const Draws draws = context.draws.scope("image[second]");
    const ImageRecipe image = *find_image(c, first);
    const std::uint64_t size = actual_size(image);
    const Relation relation = draw_relation(draws, image.backing.has_value());
    if (relation == Relation::backing) {
        return *image.backing;
    }
    if (relation == Relation::unrelated) {
        ImageWish wish = every_image();
        wish.max_size = 64 * mib;
        return draw_image(c, context, "other", wish);
    }
    const bool resized = relation == Relation::resized;
    ImageRecipe second = copy_of(c, context, draws, image,
                                 resized ? draw_other_size(draws.scope("size"), size) : size);
    if (relation == Relation::changed) {
        second.content.push_back(draw_change(draws.scope("change"), second.size));
    } else if (resized && second.size > size && draws.chance("tail", 40)) {
        ContentWrite tail = draw_change(draws.scope("tail"), second.size - size);
        tail.offset += size;
        second.content.push_back(tail);
    }
    c.images.push_back(second);
    return second.id;
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "compare";
    ImageWish wish = every_image();
    // Both images hold it.
    wish.max_content = 192 * kib;
    const std::string first = draw_image(c, context, "first", wish);
    const std::string second = draw_second(c, context, first);
    const Draws draws = context.draws.scope("step[0]");
    Step step{Actor::tool, "compare", "compare", ValidIntent{}, {}};
    if (draws.chance("arg[-f]", 80)) {
        step.arguments.push_back({"-f", WordValue{std::string(format_of(c, first))}});
    }
    if (draws.chance("arg[-F]", 80)) {
        step.arguments.push_back({"-F", WordValue{std::string(format_of(c, second))}});
    }
    if (draws.chance("arg[-T]", 20)) {
        step.arguments.push_back(
            {"-T", WordValue{std::string(draws.pick("arg[-T].mode", cache_words))}});
    }
    static constexpr Weighted<std::string_view> flags[] = {
        {"-p", 12}, {"-q", 12}, {"-s", 20}, {"-U", 12}};
    for (const auto& flag : flags) {
        if (draws.chance("arg[" + std::string(flag.value) + "]", flag.weight)) {
            step.arguments.push_back({std::string(flag.value), std::nullopt});
        }
    }
    step.arguments.push_back({"", ImageValue{first}});
    step.arguments.push_back({"", ImageValue{second}});
    c.steps.push_back(std::move(step));
    return c;
}

// --- rules -------------------------------------------------------------------------------------

struct SecondFormatOption {
    static constexpr std::string_view option = "-F";
    static constexpr std::string_view text_rule = "unknown-second-format";
    static constexpr std::string_view texts[] = {"qcow9", "RAW", "vdmk", "none"};
};

// The id of the second image; empty where there is none.
std::string_view second_id(const Case& c) {
    const auto names = positionals(last_step(c));
    return names.size() < 2 ? std::string_view{} : std::get<ImageValue>(*names[1]->value).id;
}

std::string_view second_format_word(const Case& c) {
    const auto* word = option_value<WordValue>(last_step(c), "-F");
    return word == nullptr ? std::string_view{} : std::string_view(word->text);
}

Rule one_file_rule() {
    return {"one-file", true, "two images must be named",
            [](const Case& c) { return positionals(last_step(c)).size() == 1; },
            [](Case& c, const Draws&) { last_step(c).arguments.pop_back(); }};
}

Rule three_files_rule() {
    return {"three-files", true, "no more than two images may be named",
            [](const Case& c) { return positionals(last_step(c)).size() > 2; },
            [](Case& c, const Draws&) {
                last_step(c).arguments.push_back(*positionals(last_step(c)).front());
            }};
}

Rule missing_second_rule() {
    return {"missing-second-file", true, "the second image must exist",
            [](const Case& c) {
                const std::string_view id = second_id(c);
                return !id.empty() && find_image(c, id) == nullptr;
            },
            [](Case& c, const Draws&) {
                c.outputs.push_back({"absent", std::string(format_of(c, second_id(c)))});
                last_step(c).arguments.back().value = ImageValue{"absent"};
            }};
}

Rule other_second_format_rule() {
    return {"other-second-format", true, "the second image must be of the format that -F names",
            [](const Case& c) {
                const std::string_view word = second_format_word(c);
                return !word.empty() && word != "raw" && find_image(c, second_id(c)) != nullptr &&
                       std::ranges::find(known_formats(), word) != known_formats().end() &&
                       word != format_of(c, second_id(c));
            },
            [](Case& c, const Draws& draws) {
                std::vector<std::string_view> others;
                for (const std::string_view format : known_formats()) {
                    if (format != "raw" && format != format_of(c, second_id(c))) {
                        others.push_back(format);
                    }
                }
                set_option(last_step(c), "-F",
                           WordValue{std::string(
                               draws.pick("format", std::span<const std::string_view>(others)))});
            }};
}

Rule own_second_format_rule() {
    return {"own-second-format", false,
            "the second image must be of the format that -F names; raw is accepted for any",
            [](const Case& c) {
                const std::string_view word = second_format_word(c);
                return word == "raw" && find_image(c, second_id(c)) != nullptr &&
                       format_of(c, second_id(c)) != "raw";
            }};
}

}  // namespace

const Picker& compare_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, known_formats()},
        {"-F", ValueKind::word, known_formats()},
        {"-T", ValueKind::word, cache_words},
        {"-p", ValueKind::none, {}},
        {"-q", ValueKind::none, {}},
        {"-s", ValueKind::none, {}},
        {"-U", ValueKind::none, {}},
        {"", ValueKind::image, {}, 2, 2},
        {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const Rule rules[] = {
        unknown_option_rule(),
        unknown_format_rule(),
        text_rule<SecondFormatOption>("-F must name a format that exists"),
        text_rule<SourceCacheOption>("-T must be a cache mode"),
        missing_file_rule(),
        missing_second_rule(),
        no_file_rule(),
        one_file_rule(),
        three_files_rule(),
        other_format_rule(),
        own_format_rule(),
        other_second_format_rule(),
        own_second_format_rule(),
        known_images_rule(),
    };
    static const LeftOut left_out[] = {
        {"--image-opts", "names protocols"},
        {"--object", "asks for a password"},
    };
    static const Picker picker{"compare", "compare", draw_valid, options, rules, left_out};
    return picker;
}

}  // namespace difffuzz
