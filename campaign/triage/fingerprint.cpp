#include "campaign/triage/fingerprint.hpp"

#include <set>

#include "core/cases/digest.hpp"
#include "images/format.hpp"

namespace difffuzz {
namespace {

std::string_view kind_name(WriteKind kind) {
    switch (kind) {
        case WriteKind::write:
            return "data";
        case WriteKind::compressed:
            return "compressed";
        case WriteKind::zero:
            return "zeros";
        case WriteKind::unmap:
            return "unmapped";
    }
    return "data";
}

// What every name is shrunk to (campaign/triage/reducers/names.cpp): it says nothing.
bool is_plain_name(std::string_view word) {
    return word.size() == 1 && word.front() >= 'a' && word.front() <= 'z';
}

// An option with the word it is given; numbers and names are left out.
std::string option_feature(const std::string& name, const Scalar* value) {
    const auto* word = value == nullptr ? nullptr : std::get_if<WordValue>(value);
    return word == nullptr ? name : name + "=" + word->text;
}

void add_features(const ImageRecipe& image, std::set<std::string>& features) {
    const std::string of = image.format + " image";
    features.insert(of);
    for (const FormatOption& option : image.options) {
        const bool file = option.name.starts_with("data_file") &&
                          option.name != "data_file_raw";  // names a file of the case
        features.insert(of + " with " +
                        option_feature(option.name, file ? nullptr : &option.value));
    }
    if (image.backing) {
        features.insert(of + " with a backing file");
    }
    for (const ContentWrite& write : image.content) {
        features.insert(of + " with " + std::string(kind_name(write.kind)));
    }
    if (!image.snapshots.empty()) {
        features.insert(of + " with snapshots");
    }
    if (!image.bitmaps.empty()) {
        features.insert(of + " with bitmaps");
    }
    for (const Damage& damage : image.damage) {
        features.insert(of + " damaged at " + damage.field);
    }
}

void add_features(const Step& step, std::set<std::string>& features) {
    const std::string command = (step.actor == Actor::neutral ? "neutral " : "") + step.command;
    features.insert(command);
    for (const Argument& argument : step.arguments) {
        if (argument.option.empty()) {
            continue;
        }
        const auto* word = argument.value ? std::get_if<WordValue>(&*argument.value) : nullptr;
        if (word != nullptr && is_plain_name(word->text)) {
            word = nullptr;
        }
        features.insert(command + " " + argument.option +
                        (word == nullptr ? "" : " " + word->text));
        const auto* list = argument.value ? std::get_if<OptionList>(&*argument.value) : nullptr;
        for (std::size_t o = 0; list != nullptr && o < list->options.size(); ++o) {
            features.insert(command + " " + argument.option + " " +
                            option_feature(list->options[o].name, &list->options[o].value));
        }
    }
}

}  // namespace

std::vector<std::string> case_features(const Case& c) {
    std::set<std::string> features;
    const std::string_view rule = broken_rule(c);
    features.insert("intent " + std::string(intent_name(c)) + (rule.empty() ? "" : ": ") +
                    std::string(rule));
    for (const ImageRecipe& image : c.images) {
        add_features(image, features);
    }
    for (const OutputImage& output : c.outputs) {
        features.insert(output.format + " output");
    }
    for (const Step& step : c.steps) {
        add_features(step, features);
    }
    if (const std::string_view damage = damage_feature(c); !damage.empty()) {
        features.insert("damage: " + std::string(damage));
    }
    return {features.begin(), features.end()};
}

std::string shrunk_fingerprint(const Case& c, const Symptom& symptom) {
    std::string text = std::to_string(fingerprint_version) + "\n" + symptom_key(symptom);
    for (const std::string& feature : case_features(c)) {
        text += "\n" + feature;
    }
    return sha256_hex(text).substr(0, 16);
}

std::string unshrunk_fingerprint(const Case& c, std::size_t culprit_step, const Symptom& symptom) {
    std::string format = "none";
    for (const Argument* argument : positionals(c.steps.at(culprit_step))) {
        if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
            format = std::string(format_of(c, image->id));
            break;
        }
    }
    const std::string_view feature = damage_feature(c);
    return sha256_hex(symptom_key(symptom) + " " + format + (feature.empty() ? "" : " ") +
                      std::string(feature))
        .substr(0, 16);
}

}  // namespace difffuzz
