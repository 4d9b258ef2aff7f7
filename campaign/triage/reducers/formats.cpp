#include <algorithm>
#include <array>

#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

// The simplest first. A format is only ever replaced by one that stands before it here.
constexpr std::array<std::string_view, 2> simple_formats{"raw", "qcow2"};

// Which of the words that name the old format become the new one, in steps that name the image.
enum class Words { none, first, last, all };

void replace_words(Step& step, std::string_view from, std::string_view to, Words which) {
    std::vector<WordValue*> found;
    for (Argument& argument : step.arguments) {
        auto* word = argument.value ? std::get_if<WordValue>(&*argument.value) : nullptr;
        if (word != nullptr && word->text == from) {
            found.push_back(word);
        }
    }
    for (WordValue* word : found) {
        if (which == Words::all || (which == Words::first && word == found.front()) ||
            (which == Words::last && word == found.back())) {
            word->text = to;
        }
    }
}

// What an image of the other format cannot be told to have.
void set_format(ImageRecipe& image, std::string_view format) {
    image.format = format;
    image.options.clear();
    image.damage.clear();
    if (format == "raw") {
        image.backing.reset();
        image.snapshots.clear();
        image.bitmaps.clear();
        for (ContentWrite& write : image.content) {
            write.kind = has_data(write.kind) ? WriteKind::write : WriteKind::zero;
        }
    }
}

Reduced with_format(Reduced r, std::string_view id, std::string_view from, std::string_view to,
                    Words words) {
    const auto meant = [&](std::string_view one) { return id.empty() || one == id; };
    for (ImageRecipe& image : r.c.images) {
        if (image.format == from && meant(image.id)) {
            set_format(image, to);
        }
    }
    for (OutputImage& output : r.c.outputs) {
        if (output.format == from && meant(output.id)) {
            output.format = to;
        }
    }
    for (Step& step : r.c.steps) {
        if (id.empty() || names_image(step, id)) {
            replace_words(step, from, to, words);
        }
    }
    return r;
}

}  // namespace

std::vector<Edit> format_edits(const Reduced& from, const WordDomain&) {
    std::vector<std::pair<std::string, std::string>> used;  // id (empty: all), format
    const auto add = [&](const std::string& id, const std::string& format) {
        if (std::ranges::find(used, std::pair{id, format}) == used.end()) {
            used.emplace_back(id, format);
        }
    };
    for (const ImageRecipe& image : from.c.images) {
        add("", image.format);
    }
    for (const OutputImage& output : from.c.outputs) {
        add("", output.format);
    }
    for (const ImageRecipe& image : from.c.images) {
        add(image.id, image.format);
    }
    for (const OutputImage& output : from.c.outputs) {
        add(output.id, output.format);
    }
    std::vector<Edit> edits;
    for (const auto& [id, format] : used) {
        for (const std::string_view simpler : simple_formats) {
            if (simpler == format) {
                break;
            }
            for (const Words words : {Words::all, Words::first, Words::last, Words::none}) {
                edits.push_back(
                    {id.empty() ? "format of all " + format + " images" : "format of image " + id,
                     std::string(simpler), [id = id, format = format, simpler, words](Reduced r) {
                         return with_format(std::move(r), id, format, simpler, words);
                     }});
            }
        }
    }
    return edits;
}

}  // namespace difffuzz
