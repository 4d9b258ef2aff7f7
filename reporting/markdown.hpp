// Markdown in which strangers' text stays inert: all of it stands in fenced code blocks.
#pragma once

#include <string>
#include <string_view>

namespace difffuzz {

// A fenced code block that ends in a line feed. `text` may hold anything: what is not printable
// UTF-8 is escaped (line feeds and tabs stay), a carriage return too, and the fence is longer than
// any run of backticks in it, so that it cannot end the block. `info` is ours ("json").
std::string fenced(std::string_view text, std::string_view info);

// What a record shows as one escaped line (oracles/shown_text.hpp) as lines again: its escapes of
// line feed, tab and backslash undone, all others kept.
std::string shown_lines(std::string_view escaped);

// `text` with every byte that is not a letter, a digit or one of " _.,:;+~!%/()[]'-" as '?', and so
// the bytes by which a link would begin ("](", "://", "www."): plain words for titles and running
// text, where no mention, reference, link or HTML can begin.
std::string plain_words(std::string_view text, std::size_t max_bytes);

// At most `max_bytes` of whole lines from the beginning of `text`, then one line that says how many
// bytes were left out; `text` itself where it fits.
std::string first_lines(const std::string& text, std::size_t max_bytes);

// Goes through a Markdown text line by line; which lines are inside of a fenced code block is what
// tells our own lines from quoted ones.
class MarkdownLines {
public:
    explicit MarkdownLines(std::string_view text) : rest_(text) {}

    // The next line, without its line feed or carriage return; false at the end.
    bool next();

    std::string_view line() const { return line_; }
    // Whether the line is content of a code block; its fences themselves are not.
    bool inside() const { return inside_; }
    // The info string of the block that the line opens or is inside of.
    std::string_view info() const { return info_; }

private:
    std::string_view rest_;
    std::string_view line_;
    std::string_view info_;
    std::size_t fence_ = 0;  // length of the open fence, 0 outside
    bool inside_ = false;
};

}  // namespace difffuzz
