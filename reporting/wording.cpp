#include "reporting/wording.hpp"

#include <algorithm>
#include <array>

#include "core/cases/symptom.hpp"
#include "reporting/attribution_text.hpp"
#include "reporting/markdown.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

struct LayerWords {
    std::string_view layer;
    std::string_view differs;  // follows "OPERATION: "
    std::string_view expected;
};

constexpr std::array words{
    LayerWords{"crash", "a tool crashes",
               "No input and no command line ends a tool by a signal, a failed assertion or an "
               "internal error; what cannot be done is refused with a message and an exit code."},
    LayerWords{"exit", "one tool succeeds, the other refuses",
               "Both tools accept the command, or both refuse it: they were given the same words "
               "and the same images."},
    LayerWords{"code", "the exit codes differ",
               "Both tools end with the same exit code, since scripts tell answers apart by it."},
    LayerWords{"header", "the first line of the output differs",
               "The first line of the output is the same to the byte."},
    LayerWords{"error", "the error messages differ",
               "Both tools give the same reason for refusing: the core of one message is part of "
               "the other. Prefixes and the tool's name may differ."},
    LayerWords{"json", "the JSON output differs",
               "The JSON of both tools has the same fields, types and values, apart from those "
               "that depend on the moment or the file system."},
    LayerWords{"text", "the printed text differs",
               "Both tools print the same text, apart from what depends on the moment or the "
               "file system."},
    LayerWords{"inputs", "an input image is changed",
               "An image that the command only reads is the same, to the byte, afterwards."},
    LayerWords{"files", "the files left in the directory differ",
               "Both tools leave files of the same names, types and sizes, no leftovers, and "
               "nothing outside of the directory."},
    LayerWords{"content", "the content of an image differs",
               "A guest reads the same data from both images, and what the command line and the "
               "input images say it should be."},
    LayerWords{"check", "a written image is not clean",
               "The reference's check finds neither corruptions nor leaks in an image that the "
               "command wrote."},
    LayerWords{"bytes", "the written bytes differ",
               "The written file is the same to the byte, as it is from run to run of the "
               "reference."},
    LayerWords{"relations", "what is said and what is written do not fit together",
               "What one tool says about images and what it writes fit together: sizes, extents, "
               "bounds."},
    LayerWords{"determinism", "the result differs from run to run",
               "The same command on the same input gives the same result each time."},
    LayerWords{"resource", "far more resources are used",
               "Memory, written bytes and processes stay within a small factor of the "
               "reference's."},
};

const LayerWords* find_words(std::string_view layer) {
    const auto found = std::ranges::find(words, layer, &LayerWords::layer);
    return found == words.end() ? nullptr : &*found;
}

std::string plain(const json& symptom, const char* field) {
    return plain_words(symptom.value(field, ""), 80);
}

std::string outcome(const json& symptom, const std::string& side) {
    return side + " " + plain(symptom, (side + "_class").c_str());
}

// The side that the record's attribution blames; for a record without one, the side that deviates
// as far as its layer can tell.
std::string side_of(const json& record) {
    const std::string side = blamed_side(record);
    const std::string direction = record.at("symptom").value("direction", "");
    return !side.empty() ? side : direction == "differ" ? "undecided" : plain_words(direction, 40);
}

std::string shape_words(const json& symptom) {
    if (!symptom.contains("shape") || !symptom.at("shape").is_object()) {
        return {};
    }
    const json& shape = symptom.at("shape");
    const std::string has = plain(shape, "subject_has");
    const std::string cluster = plain(shape, "cluster");
    return " The side that is off has " + has + " " + plain(shape, "where") + " a " +
           plain(shape, "unit") + (cluster.empty() ? "" : ", in a cluster of kind " + cluster) +
           ".";
}

// What tells this bucket from others of its layer: a field, or what the side that refuses says.
std::string distinction(const json& symptom, const std::string& field) {
    if (field != "class" && field != "message") {
        return field;
    }
    const char* side =
        symptom.value("direction", "") == "reference" ? "reference_message" : "subject_message";
    std::string message = symptom.value(side, "");
    // Placeholders of message templates.
    std::erase_if(message, [](char byte) { return byte == '<' || byte == '>'; });
    return plain_words(message, 90);
}

}  // namespace

std::string_view layer_meaning(std::string_view layer) {
    const LayerWords* const row = find_words(layer);
    return row == nullptr ? std::string_view{} : row->expected;
}

Wording wording_of(const json& record) {
    constexpr std::size_t longest_title = 200;
    const json& symptom = record.at("symptom");
    const std::string operation = plain(symptom, "operation");
    const LayerWords* const row = find_words(symptom.value("layer", ""));
    const std::string differs =
        row == nullptr ? plain(symptom, "layer_name") + " differs" : std::string(row->differs);
    const std::string field = plain(symptom, "field");
    Wording wording;
    const std::string side = side_of(record);
    wording.suspicion = (side == "subject" || side == "reference" ? "the " : "") + side;
    const std::string tail = "; " + blame_sentence(side);
    std::string head = operation + ": " + differs;
    if (const std::string mark = distinction(symptom, field); !mark.empty()) {
        head += " (" + mark + ")";
    }
    wording.title = head.substr(0, longest_title - tail.size()) + tail;
    wording.what = "In an operation " + operation + ", " + differs +
                   (field.empty() ? "" : " (" + field + ")") + ": the " +
                   outcome(symptom, "subject") + ", the " + outcome(symptom, "reference") + "; " +
                   blame_sentence(side) + "." + shape_words(symptom);
    wording.expected = row == nullptr ? "Both tools do the same." : std::string(row->expected);
    return wording;
}

}  // namespace difffuzz
