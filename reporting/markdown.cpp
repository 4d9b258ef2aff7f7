#include "reporting/markdown.hpp"

#include <algorithm>

#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

std::size_t backticks_at(std::string_view text, std::size_t at) {
    const std::size_t end = text.find_first_not_of('`', at);
    return (end == std::string_view::npos ? text.size() : end) - at;
}

std::size_t longest_backtick_run(std::string_view text) {
    std::size_t longest = 0;
    for (std::size_t at = text.find('`'); at < text.size(); at = text.find('`', at)) {
        const std::size_t length = backticks_at(text, at);
        longest = std::max(longest, length);
        at += length;
    }
    return longest;
}

bool is_plain(char byte) {
    constexpr std::string_view others = " _.,:;+~!%/()[]'-";
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || others.find(byte) != std::string_view::npos;
}

bool begins_www(std::string_view text) {
    const auto is_w = [](char byte) { return byte == 'w' || byte == 'W'; };
    return text.size() > 3 && is_w(text[0]) && is_w(text[1]) && is_w(text[2]) && text[3] == '.';
}

}  // namespace

std::string fenced(std::string_view text, std::string_view info) {
    std::string content;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\n' || text[at] == '\t') {
            content += text[at++];
            continue;
        }
        const std::size_t length = printable_length(text, at);
        // One byte escaped by shown_text is at most four.
        content +=
            length == 0 ? shown_text(text.substr(at, 1), 16) : std::string(text.substr(at, length));
        at += std::max<std::size_t>(length, 1);
    }
    if (content.empty() || content.back() != '\n') {
        content += '\n';
    }
    const std::string fence(std::max<std::size_t>(3, longest_backtick_run(content) + 1), '`');
    return fence + std::string(info) + "\n" + content + fence + "\n";
}

std::string shown_lines(std::string_view escaped) {
    std::string text;
    for (std::size_t at = 0; at < escaped.size(); ++at) {
        if (escaped[at] != '\\' || at + 1 == escaped.size()) {
            text += escaped[at];
            continue;
        }
        switch (escaped[++at]) {
            case 'n':
                text += '\n';
                break;
            case 't':
                text += '\t';
                break;
            case '\\':
                text += '\\';
                break;
            default:
                text += '\\';
                text += escaped[at];
        }
    }
    return text;
}

std::string plain_words(std::string_view text, std::size_t max_bytes) {
    std::string plain(text.substr(0, max_bytes));
    std::ranges::replace_if(
        plain, [](char byte) { return !is_plain(byte); }, '?');
    for (std::size_t at = 0; at + 1 < plain.size(); ++at) {
        const std::string_view rest = std::string_view(plain).substr(at);
        if (rest.starts_with("](")) {
            plain[at + 1] = '?';
        } else if (rest.starts_with("://")) {
            plain[at] = '?';
        } else if (begins_www(rest)) {
            plain[at + 3] = '?';
        }
    }
    return plain;
}

std::string first_lines(const std::string& text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) {
        return text;
    }
    const std::size_t end = text.rfind('\n', max_bytes);
    const std::size_t kept = end == std::string::npos ? 0 : end + 1;
    return text.substr(0, kept) + "(" + std::to_string(text.size() - kept) +
           " more bytes: in the evidence)\n";
}

bool MarkdownLines::next() {
    if (rest_.empty()) {
        return false;
    }
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line_.ends_with('\r')) {
        line_.remove_suffix(1);
    }
    const std::size_t ticks = backticks_at(line_, 0);
    const std::string_view after = line_.substr(ticks);
    if (fence_ == 0) {
        inside_ = false;
        info_ = {};
        if (ticks >= 3 && after.find('`') == std::string_view::npos) {
            fence_ = ticks;
            info_ = after;
        }
    } else if (ticks >= fence_ && after.find_first_not_of(' ') == std::string_view::npos) {
        fence_ = 0;
        inside_ = false;
    } else {
        inside_ = true;
    }
    return true;
}

}  // namespace difffuzz
