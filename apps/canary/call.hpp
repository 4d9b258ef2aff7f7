// One command as the stand-in got it, and the real tool that it can hand it on to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace difffuzz::canary {

// What the caller is to see: the real tool's answer, or what a fault makes of it.
struct Answer {
    int code = 0;
    std::string out;
    std::string err;
    // Dies of this signal after having printed; 0: exits.
    int signal = 0;
    // Never ends after having printed.
    bool hangs = false;
    // Whether there is a fault in it. What was not to be spoilt after all is passed on as it is.
    bool planted = true;
};

// The words of a command, and the images that they name. Files are those of the working directory.
class Call {
public:
    // `words` without argv[0]. `program`: path of the real tool; `environment`: all that it gets.
    Call(std::vector<std::string> words, std::string program, std::vector<std::string> environment);

    const std::vector<std::string>& words() const { return words_; }
    // "info", "convert", ...; empty when there are no words.
    std::string_view command() const;
    bool is(std::string_view command) const { return this->command() == command; }
    bool has(std::string_view word) const;
    // The word behind the option, or the value of an operand ("of").
    std::optional<std::string> value(std::string_view option) const;
    // Whether any word has the text in it ("compression_type=zstd").
    bool mentions(std::string_view text) const;
    // Names of the image files that the command works on, in the order of its words; not those that
    // are named as a backing file.
    std::vector<std::string> images() const;
    // The one that convert and dd write, and all others work on; empty if there is none.
    std::string target() const;
    // The one that they read.
    std::string source() const;
    bool wants_json() const;

    // Runs the real tool with these words, or others, to its end.
    Answer run() const { return run(words_); }
    Answer run(const std::vector<std::string>& words) const;
    // Becomes the real tool. Returns only if that cannot be.
    void become_tool() const;

    // The words with another in place of the value of `option`.
    std::vector<std::string> with_value(std::string_view option, const std::string& value) const;
    // The words with `from` replaced by `to` in each of them.
    std::vector<std::string> with_text(std::string_view from, std::string_view to) const;
    // The words without `option`, and without its value if it has one.
    std::vector<std::string> without(std::string_view option, bool has_value) const;
    // The words with `more` behind the command.
    std::vector<std::string> with_more(const std::vector<std::string>& more) const;

private:
    std::vector<std::string> words_;
    std::string program_;
    std::vector<std::string> environment_;
};

// The format that a file of a case is named after ("qcow2" of "src.qcow2"); empty if none.
std::string_view format_of_file(std::string_view name);

}  // namespace difffuzz::canary
