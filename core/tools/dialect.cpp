#include "core/tools/dialect.hpp"

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

}  // namespace

std::vector<std::string> render_step(const Case& c, const Step& step) {
    std::vector<std::string> words{step.command};
    for (const Argument& argument : step.arguments) {
        if (!argument.option.empty()) {
            words.push_back(argument.option);
        }
        if (argument.value) {
            words.push_back(std::visit(Spell{c}, *argument.value));
        }
    }
    return words;
}

}  // namespace difffuzz
