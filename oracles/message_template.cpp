#include "oracles/message_template.hpp"

#include <algorithm>
#include <array>

#include "core/decimal.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::size_t max_word_bytes = 64;
constexpr std::size_t max_quoted_bytes = 4096;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }
bool is_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80U) == 0; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
// Cannot stand before the start of a quotation, path or name. '>' counts because it may close a
// placeholder, which must be read like the word that it replaced.
bool joins(char c) { return is_word(c) || c == '>' || !is_ascii(c); }

bool ends_path(char c) {
    return is_space(c) || std::string_view("'\"`,:;()<>").find(c) != std::string_view::npos;
}

// Reads one token after the other from the text, each into its abstraction.
class Scanner {
public:
    Scanner(std::string_view text, const std::vector<std::string>& names)
        : text_(text), names_(names) {}

    bool done() const { return at_ >= text_.size(); }

    // The abstraction of the next token.
    std::string next() {
        const char c = text_[at_];
        if (is_space(c)) {
            return take_while(is_space, " ");
        }
        if (c == '\'' || c == '"') {
            return quotation(c);
        }
        if (printable_length(text_, at_) == 0) {
            while (!done() && !is_space(text_[at_]) && printable_length(text_, at_) == 0) {
                ++at_;
            }
            return "<bytes>";
        }
        if (const std::size_t length = name_length(); length > 0) {
            return take(length, "<file>");
        }
        if (const std::size_t length = node_length(); length > 0) {
            return take(length, "<node>");
        }
        if (const std::size_t length = path_length(); length > 0) {
            return take(length, "<path>");
        }
        if (is_word(c)) {
            return word();
        }
        if (c == '`') {
            backtick_ = true;
        }
        const std::size_t length = printable_length(text_, at_);
        return take(length, std::string(text_.substr(at_, length)));
    }

private:
    char before() const { return at_ == 0 ? ' ' : text_[at_ - 1]; }
    char peek(std::size_t distance) const {
        return at_ + distance < text_.size() ? text_[at_ + distance] : '\0';
    }
    std::string take(std::size_t length, std::string replacement) {
        at_ += length;
        return replacement;
    }
    std::string take_while(bool (*predicate)(char), std::string replacement) {
        while (!done() && predicate(text_[at_])) {
            ++at_;
        }
        return replacement;
    }

    // An apostrophe within a word, the quote that closes a `backtick, and a quote that nothing
    // closes stay as they are.
    std::string quotation(char quote) {
        if (quote == '\'' && backtick_) {
            backtick_ = false;
            return take(1, "'");
        }
        const std::string abstracted = std::string(1, quote) + "<name>" + quote;
        if (text_.substr(at_).starts_with(abstracted)) {
            return take(abstracted.size(), abstracted);
        }
        if (!joins(before())) {
            const std::size_t end = std::min(text_.size(), at_ + max_quoted_bytes);
            for (std::size_t i = at_ + 1; i < end; ++i) {
                const char after = i + 1 < text_.size() ? text_[i + 1] : ' ';
                if (text_[i] == quote && !is_word(after) && is_ascii(after) && after != '<') {
                    return take(i + 1 - at_, abstracted);
                }
            }
        }
        return take(1, std::string(1, quote));
    }

    std::size_t name_length() const {
        if (joins(before())) {
            return 0;
        }
        for (const std::string& name : names_) {
            if (!name.empty() && text_.substr(at_).starts_with(name) &&
                !is_word(peek(name.size()))) {
                return name.size();
            }
        }
        return 0;
    }

    std::size_t node_length() const {
        constexpr std::string_view prefix = "#block";
        std::size_t length = prefix.size();
        if (!text_.substr(at_).starts_with(prefix) || !is_digit(peek(length))) {
            return 0;
        }
        while (is_digit(peek(length))) {
            ++length;
        }
        return length;
    }

    std::size_t path_length() const {
        if (joins(before()) || before() == '.' || before() == '/') {
            return 0;
        }
        const std::string_view rest = text_.substr(at_);
        std::size_t length = rest.starts_with("/")     ? 1
                             : rest.starts_with("./")  ? 2
                             : rest.starts_with("../") ? 3
                                                       : 0;
        const std::size_t start = length;
        if (!is_ascii(peek(start))) {
            return 0;  // may be the "…" of text that was cut here
        }
        while (start > 0 && at_ + length < text_.size() && !ends_path(text_[at_ + length])) {
            const std::size_t step = printable_length(text_, at_ + length);
            if (step == 0) {
                break;
            }
            length += step;
        }
        return length > start ? length : 0;
    }

    std::size_t uuid_length() const {
        constexpr std::array<std::size_t, 5> groups{8, 4, 4, 4, 12};
        std::size_t length = 0;
        for (const std::size_t group : groups) {
            if (length > 0 && peek(length++) != '-') {
                return 0;
            }
            for (std::size_t i = 0; i < group; ++i) {
                if (!is_hex_digit(peek(length++))) {
                    return 0;
                }
            }
        }
        return is_word(peek(length)) ? 0 : length;
    }

    std::size_t run_of_word(std::size_t from) const {
        std::size_t length = from;
        while (is_word(peek(length))) {
            ++length;
        }
        return length;
    }

    std::string word() {
        if (const std::size_t length = uuid_length(); length > 0) {
            return take(length, "<id>");
        }
        const std::size_t length = run_of_word(0);
        const std::string_view found = text_.substr(at_, length);
        if (is_digit(found[0])) {
            return take(number_length(length), "<n>");
        }
        if (length >= 8 && std::all_of(found.begin(), found.end(), is_hex_digit) &&
            std::any_of(found.begin(), found.end(), is_digit)) {
            return take(length, "<n>");
        }
        return take(length, length > max_word_bytes ? "<word>" : std::string(found));
    }

    // A number that starts with `length` word characters, with its fraction and its unit.
    std::size_t number_length(std::size_t length) const {
        while (peek(length) == '.' && is_digit(peek(length + 1))) {
            length = run_of_word(length + 1);
        }
        if (peek(length) == ' ') {
            const std::size_t end = run_of_word(length + 1);
            const std::string_view unit = text_.substr(at_ + length + 1, end - length - 1);
            constexpr std::array<std::string_view, 9> units{"B",   "bytes", "byte", "KiB", "MiB",
                                                            "GiB", "TiB",   "PiB",  "EiB"};
            if (std::find(units.begin(), units.end(), unit) != units.end()) {
                return end;
            }
        }
        return length;
    }

    std::string_view text_;
    const std::vector<std::string>& names_;
    std::size_t at_ = 0;
    bool backtick_ = false;
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

}  // namespace

std::string message_template(std::string_view message, const std::vector<std::string>& names) {
    Scanner scanner(trimmed(message), names);
    std::string result;
    std::size_t last_cut = 0;  // longest run of whole tokens that leaves room for the ellipsis
    while (!scanner.done()) {
        result += scanner.next();
        if (result.size() > max_template_bytes) {
            return result.substr(0, last_cut).append(ellipsis);
        }
        if (result.size() + ellipsis.size() <= max_template_bytes) {
            last_cut = result.size();
        }
    }
    return result;
}

std::vector<std::string> case_file_names(const Case& c) {
    std::vector<std::string> names;
    for (const ImageRecipe& image : c.images) {
        names.push_back(file_name(image.id, image.format));
    }
    for (const OutputImage& output : c.outputs) {
        names.push_back(file_name(output.id, output.format));
    }
    std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return a.size() > b.size();
    });
    return names;
}

std::string_view first_line(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (!trimmed(line).empty()) {
            return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

std::string_view strip_tool_prefix(std::string_view line, std::string_view argv0) {
    const std::string_view base = argv0.substr(argv0.rfind('/') + 1);
    const std::size_t colon = line.find(": ");
    if (base.empty() || colon == std::string_view::npos) {
        return line;
    }
    const std::string_view name = line.substr(0, colon);
    const bool is_tool = name == argv0 || name == base ||
                         (name.find(' ') == std::string_view::npos && name.ends_with(base) &&
                          name[name.size() - base.size() - 1] == '/');
    return is_tool ? line.substr(colon + 2) : line;
}

}  // namespace difffuzz
