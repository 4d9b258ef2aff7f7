// A qemu-img that misbehaves in the way that the end of its own file name says ("bad_tool-crash"):
// when it is asked for --backing-chain, or more often. Passes everything else to the real one.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

[[noreturn]] void hang() {
    for (;;) {
        ::pause();
    }
}

void daemon_holding_stdout() {
    if (::fork() == 0) {
        ::setsid();
        if (::fork() == 0) {
            hang();
        }
        ::_exit(0);
    }
}

void write_file(const char* name, std::uint64_t bytes) {
    const int file = ::open(name, O_WRONLY | O_CREAT, 0644);
    const std::string block(1 << 20, 'x');
    for (std::uint64_t done = 0; done < bytes; done += block.size()) {
        if (::write(file, block.data(), block.size()) < 0) {
            ::_exit(1);
        }
    }
}

void touch_memory(std::uint64_t bytes) {
    constexpr std::size_t block = std::size_t{16} << 20;
    for (std::uint64_t done = 0; done < bytes; done += block) {
        std::memset(std::malloc(block), 1, block);
    }
}

void flood(std::uint64_t bytes) {
    const std::string block(1 << 16, 'y');
    for (std::uint64_t done = 0; done < bytes; done += block.size()) {
        if (::write(STDOUT_FILENO, block.data(), block.size()) < 0) {
            ::_exit(1);
        }
    }
}

void misbehave(const std::string& mode) {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    // "moody": as one of the first commands of its worker, and never later.
    if (mode == "crash" || (mode == "moody" && ::getpid() < 300)) {
        // By the signal, not by a report of the stub's own sanitizer.
        std::signal(SIGSEGV, SIG_DFL);
        ::raise(SIGSEGV);
    } else if (mode == "hang") {
        ::signal(SIGTERM, SIG_IGN);
        hang();
    } else if (mode == "flood") {
        flood(gib);
    } else if (mode == "daemon") {
        daemon_holding_stdout();
    } else if (mode == "sparse") {
        const int file = ::open("big", O_WRONLY | O_CREAT, 0644);
        if (::ftruncate(file, static_cast<off_t>(100 * gib)) != 0) {
            ::_exit(1);
        }
    } else if (mode == "fill") {
        write_file("full", gib);
    } else if (mode == "rmdir") {
        std::error_code ignored;
        std::filesystem::remove_all(std::filesystem::current_path(), ignored);
    } else if (mode == "memory") {
        touch_memory(64 * gib);
    } else if (mode == "leftover") {
        write_file("left", 1);
    } else if (mode == "leftmore") {
        write_file("left", std::uint64_t{2} << 20);
    } else if (mode == "leftdir" && ::mkdir("left", 0755) != 0) {
        ::_exit(1);
    }
}

bool asks_what_it_is(int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    return first == "--version" || first == "--help" ||
           std::string_view(argv[argc - 2]) == "probe.qcow2";
}

// What terminals, web pages and Markdown would take for more than text.
void paint() {
    std::cout << "\x1b[2J\x1b]0;title\x07\r# painted\n\n# painted\n```\n| a | b |\n"
                 "<img src=x onerror=alert(1)><script>alert(1)</script>\n]]>&amp;\xff\xfe\xc3(\0\n"
              << std::flush;
}

// Makes something else of the output: what it is a link to, or a pipe.
[[noreturn]] void replace_output(char** argv, const std::string& name, const char* target) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::execv("/usr/bin/qemu-img", argv);
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (::unlink(name.c_str()) != 0) {
        ::_exit(WEXITSTATUS(status));
    }
    const int made =
        target == nullptr ? ::mkfifo(name.c_str(), 0644) : ::symlink(target, name.c_str());
    ::_exit(made == 0 ? WEXITSTATUS(status) : 126);
}

// The first file here that is named after the case's output.
std::string output_among(int argc, char** argv) {
    for (int i = 2; i < argc; ++i) {
        if (std::string_view(argv[i]).starts_with("out.")) {
            return argv[i];
        }
    }
    return {};
}

// Whether any file outside of the workspace could be opened for writing.
bool writes_outside() {
    for (const char* path : {"/etc/passwd", "/x", "/tmp/x", "/tool/subject", "/side/0/x",
                             "/side/1/w/x", "/dev/mem", "/proc/sysrq-trigger", "/proc/1/mem"}) {
        if (::open(path, O_WRONLY | O_CREAT, 0644) >= 0) {
            return true;
        }
    }
    return false;
}

// Modes that concern more than --backing-chain.
void misbehave_in_general(const std::string& mode, int argc, char** argv) {
    if (mode == "noise" && argc > 1 && argv[1][0] == '-') {
        const std::string_view text =
            "qemu-img version 7.2.\xff\x80 \x1b[31m\xc3(\n\n"
            "Supported formats: raw qcow2 \xff\xfe q\x1b[2J UPPER a/b\n";
        ::_exit(::write(STDOUT_FILENO, text.data(), text.size()) > 0 ? 0 : 1);
    }
    // Says where it runs.
    const char* const locale = std::getenv("LC_ALL");
    if (mode == "homesick" && locale != nullptr && std::string_view(locale) != "C" &&
        !asks_what_it_is(argc, argv)) {
        std::cout << locale << '\n' << std::flush;
    }
    if (mode == "painter" && argc > 1 && !asks_what_it_is(argc, argv)) {
        paint();
    }
    if (mode == "mute") {
        hang();
    }
    if (argc < 2 || asks_what_it_is(argc, argv)) {
        return;
    }
    if (mode == "dead") {
        // A sanitizer that this program was built with would turn the signal into an exit code.
        std::signal(SIGSEGV, SIG_DFL);
        ::raise(SIGSEGV);
    } else if (mode == "sanitized") {
        const std::string_view report = "==7==ERROR: AddressSanitizer: SEGV on unknown address\n";
        ::_exit(::write(STDERR_FILENO, report.data(), report.size()) > 0 ? 1 : 2);
    } else if (mode == "killer") {
        ::kill(-1, SIGKILL);
        ::kill(-1, SIGTERM);
        std::signal(SIGSEGV, SIG_DFL);
        ::kill(0, SIGSEGV);
    } else if (mode == "closed" && std::string_view(argv[1]) == "info") {
        ::close(STDOUT_FILENO);
        ::close(STDERR_FILENO);
        ::close(STDIN_FILENO);
        ::_exit(0);
    } else if (mode == "writer") {
        write_file("mine", 1);
        if (writes_outside()) {
            ::_exit(64);
        }
    } else if (mode == "asleep") {
        hang();
    } else if (mode == "noinfo" && std::string_view(argv[1]) == "info") {
        ::_exit(::write(STDERR_FILENO, "\x1b[31mwhat info?\n", 16) == 16 ? 1 : 2);
    } else if (mode == "incomplete") {
        ::_exit(::write(STDERR_FILENO, "no interpreter\n", 15) == 15 ? 127 : 2);
    }
}

// Refuses in words that differ with every word of the command.
[[noreturn]] void refuse_in_many_words(int argc, char** argv) {
    std::string text = "cannot do";
    for (int i = 1; i < argc; ++i) {
        text += std::string(" ") + argv[i];
    }
    text += "\n";
    ::_exit(::write(STDERR_FILENO, text.data(), text.size()) > 0 ? 1 : 2);
}

// Answers well, then adds a byte to the image that it was only to read.
[[noreturn]] void touch_input(char** argv, const char* image) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::execv("/usr/bin/qemu-img", argv);
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const int file = ::open(image, O_WRONLY | O_APPEND);
    ::_exit(::write(file, "!", 1) == 1 ? WEXITSTATUS(status) : 126);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").filename();
    const std::string mode = self.substr(self.find('-') + 1);
    misbehave_in_general(mode, argc, argv);
    if (mode == "escape" && argc > 1 && std::strcmp(argv[1], "create") == 0) {
        // Makes an image of its own that names a file of the host.
        ::execl("/usr/bin/qemu-img", "qemu-img", "create", "-q", "-f", "qcow2", "-u", "-b",
                "/etc/hostname", "-F", "raw", "out.qcow2", "1M", nullptr);
    }
    const std::string output =
        argc > 1 && !asks_what_it_is(argc, argv) ? output_among(argc, argv) : "";
    if (!output.empty() && (mode == "linkout" || mode == "nullout" || mode == "fifoout")) {
        replace_output(argv, output,
                       mode == "linkout"   ? "/etc/passwd"
                       : mode == "nullout" ? "/dev/zero"
                                           : nullptr);
    }
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--backing-chain") == 0) {
            if (mode == "input") {
                touch_input(argv, argv[argc - 1]);
            }
            if (mode == "wordy") {
                refuse_in_many_words(argc, argv);
            }
            misbehave(mode);
        }
    }
    ::execv("/usr/bin/qemu-img", argv);
    return 127;
}
