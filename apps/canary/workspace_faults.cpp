// What is in the workspace afterwards: inputs that were only to be read, and files of no use.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/canary/image_edits.hpp"
#include "apps/canary/planting.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

bool make_file(const char* name, std::string_view text) {
    const int file = ::open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    const bool made = ::write(file, text.data(), text.size()) > 0;
    ::close(file);
    return made;
}

// Leaves a process that holds no stream of ours and waits for its end.
bool leave_process() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setsid();
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            ::close(stream);
        }
        for (;;) {
            ::pause();
        }
    }
    return child > 0;
}

// inputs

Planted convert_touches_source(const Call& call) {
    if (!call.is("convert")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_last_byte(call.source()); });
}

Planted info_grows_image(const Call& call) {
    if (!call.is("info")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return append_bytes(call.target(), 1); });
}

Planted compare_removes_image(const Call& call) {
    if (!call.is("compare")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return ::unlink(call.target().c_str()) == 0; });
}

Planted rebase_touches_backing(const Call& call) {
    const auto backing = call.is("rebase") ? call.value("-b") : std::nullopt;
    if (!backing || backing->empty()) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_header_padding(*backing); });
}

Planted dd_touches_source(const Call& call) {
    if (!call.is("dd")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return flip_byte(call.source(), 0); });
}

// files

Planted convert_leaves_file(const Call& call) {
    if (!call.is("convert")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer&) { return make_file("convert.tmp", "state\n"); });
}

Planted info_leaves_lock(const Call& call) {
    if (!call.is("info")) {
        return std::nullopt;
    }
    return spoilt(call, [](Answer&) { return ::mkdir(".lock", 0755) == 0; });
}

Planted bench_leaves_process(const Call& call) {
    if (!call.is("bench")) {
        return std::nullopt;
    }
    return spoilt_success(call, [](Answer&) { return leave_process(); });
}

Planted dd_loses_output(const Call& call) {
    if (!call.is("dd")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) { return ::unlink(call.target().c_str()) == 0; });
}

// An image that refers to a file outside of the workspace.
Planted create_escapes(const Call& call) {
    if (!call.is("create") || !call.target().ends_with(".qcow2")) {
        return std::nullopt;
    }
    return spoilt_success(call, [&](Answer&) {
        return call.run({"rebase", "-u", "-f", "qcow2", "-b", "/etc/hostname", "-F", "raw",
                         call.target()})
                   .code == 0;
    });
}

}  // namespace

const Faults& workspace_faults() {
    using enum LayerId;
    static const Faults table{
        {"convert-touches-source", "convert", inputs, Seen::by_its_layer_alone, Roles::subject,
         "convert changes the last byte of its source", convert_touches_source},
        {"info-grows-image", "info", inputs, Seen::by_its_layer_alone, Roles::subject,
         "info makes the image a byte longer", info_grows_image},
        {"compare-removes-image", "compare", inputs, Seen::by_others_too, Roles::subject,
         "compare removes the second image when both are equal", compare_removes_image},
        {"rebase-touches-backing", "rebase", inputs, Seen::by_others_too, Roles::subject,
         "rebase writes to the header cluster of the new backing file", rebase_touches_backing},
        {"dd-touches-source", "dd", inputs, Seen::by_its_layer_alone, Roles::subject,
         "dd changes the first byte of its source", dd_touches_source},
        {"convert-leaves-file", "convert", files, Seen::by_its_layer_alone, Roles::subject,
         "convert leaves a temporary file", convert_leaves_file},
        {"info-leaves-lock", "info", files, Seen::by_its_layer_alone, Roles::subject,
         "info leaves a directory", info_leaves_lock},
        {"bench-leaves-process", "bench", files, Seen::by_its_layer_alone, Roles::subject,
         "bench leaves a process", bench_leaves_process},
        {"dd-loses-output", "dd", files, Seen::by_others_too, Roles::subject,
         "dd removes what it wrote", dd_loses_output},
        {"create-escapes", "create", files, Seen::by_others_too, Roles::subject,
         "create makes an image with a backing file of the system's", create_escapes},
    };
    return table;
}

}  // namespace difffuzz::canary
