#include "core/tools/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace difffuzz {
namespace {

struct Spell {
    const Case& c;

    std::string operator()(const SizeValue& value) const { return value.as; }
    std::string operator()(const NumberValue& value) const { return std::to_string(value.value); }
    std::string operator()(const WordValue& value) const { return value.text; }
    std::string operator()(const LiteralValue& value) const { return value.text; }
    std::string operator()(const BytesValue& value) const { return value.bytes; }
    std::string operator()(const ImageValue& value) const { return file_name_of(c, value.id); }
    std::string operator()(const OptionList& list) const {
        std::string text;
        for (const FormatOption& option : list.options) {
            if (!text.empty()) {
                text += ',';
            }
            text += option.name + '=';
            for (const char letter : std::visit(*this, option.value)) {
                text += letter;
                if (letter == ',') {
                    text += ',';
                }
            }
        }
        return text;
    }
};

// "-f FORMAT -c 'write -q -P 7 0 512' FILE"; -q since statistics hold times. Discards reach the
// file only with -d unmap.
std::vector<std::string> render_io(const Case& c, const Step& step) {
    std::vector<std::string> words;
    std::string file;
    std::string command = step.command + " -q";
    for (const Argument& argument : step.arguments) {
        const std::string value =
            argument.value ? std::visit(Spell{c}, *argument.value) : std::string{};
        if (argument.option == "-f") {
            words = {"-f", value};
        } else if (argument.value && std::holds_alternative<ImageValue>(*argument.value)) {
            file = value;
        } else {
            command += (argument.option.empty() ? "" : " " + argument.option) +
                       (value.empty() ? "" : " " + value);
        }
    }
    if (step.command == "discard" || has_option(step, "-u")) {
        words.insert(words.end(), {"-d", "unmap"});
    }
    words.insert(words.end(), {"-c", command, file});
    return words;
}

// An operand: a name and its value in one word, as dd has them ("bs=64k"). Options have dashes.
bool is_operand(const Argument& argument) {
    return !argument.option.empty() && argument.option.front() != '-';
}

bool is_locked(const Case& c, const std::string& id) {
    const auto image = std::ranges::find(c.images, id, &ImageRecipe::id);
    return format_of(c, id) == "luks" ||
           (image != c.images.end() &&
            std::ranges::find(image->options, encryption_option, &FormatOption::name) !=
                image->options.end());
}

std::string by_driver(const Case& c, const std::string& id) {
    const std::string_view driver = format_of(c, id);
    return is_locked(c, id) ? locked_image_options(driver, file_name_of(c, id))
                            : fmt::format("driver={},file.driver=file,file.filename={}", driver,
                                          file_name_of(c, id));
}

}  // namespace

std::string locked_image_options(std::string_view format, std::string_view name) {
    return fmt::format("driver={},{}key-secret={},file.driver=file,file.filename={}", format,
                       format == "luks" ? "" : "encrypt.", secret_id, name);
}

std::string_view program_of(const Step& step) {
    return step.operation == "io" ? "qemu-io" : "qemu-img";
}

bool names_made_file(const Step& step, const Argument& argument) {
    return step.command == "convert" && &argument == &step.arguments.back();
}

std::vector<std::string> render_step(const Case& c, const Step& step) {
    if (program_of(step) == "qemu-io") {
        return render_io(c, step);
    }
    std::vector<std::string> words{step.command};
    const bool drivers = has_option(step, "--image-opts");
    for (const Argument& argument : step.arguments) {
        const bool operand = is_operand(argument);
        if (!operand && !argument.option.empty()) {
            words.push_back(argument.option);
        }
        const auto* image = argument.value ? std::get_if<ImageValue>(&*argument.value) : nullptr;
        if (drivers && image != nullptr && !names_made_file(step, argument) &&
            (argument.option.empty() || argument.option == "if")) {
            words.push_back((operand ? argument.option + '=' : std::string{}) +
                            by_driver(c, image->id));
        } else if (argument.value) {
            words.push_back((operand ? argument.option + '=' : std::string{}) +
                            std::visit(Spell{c}, *argument.value));
        }
    }
    return words;
}

}  // namespace difffuzz
