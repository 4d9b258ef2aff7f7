// Loaded into difffuzz with LD_PRELOAD, to see what it does when the system fails it.
//
// FAIL_CALL    write, fsync or rename: this call fails with ENOSPC or EIO ...
// FAIL_NAME    ... where it is about the evidence's file of this name (also as it is written,
//              "NAME.new")
// CLOCK_JUMPS  set: the wall clock jumps by an hour, to and fro, every time it is looked at
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <sys/time.h>
#include <unistd.h>

namespace {

template <typename Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_wanted_name(std::string_view path) {
    const char* const wanted = std::getenv("FAIL_NAME");
    if (wanted == nullptr) {
        return false;
    }
    if (path.ends_with(".new")) {
        path.remove_suffix(4);
    }
    const std::size_t slash = path.rfind('/');
    return path.substr(slash == std::string_view::npos ? 0 : slash + 1) == wanted;
}

bool is_wanted_call(std::string_view call) {
    const char* const wanted = std::getenv("FAIL_CALL");
    return wanted != nullptr && call == wanted;
}

bool fails(std::string_view call, int file) {
    if (!is_wanted_call(call)) {
        return false;
    }
    char path[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
    return length > 0 && is_wanted_name({path, static_cast<std::size_t>(length)});
}

int fail(int error_number) {
    errno = error_number;
    return -1;
}

std::time_t jump() {
    static bool forth = false;
    forth = !forth;
    return std::getenv("CLOCK_JUMPS") == nullptr ? 0 : forth ? 3600 : -3600;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t count) {
    static auto* const call = real<ssize_t(int, const void*, size_t)>("write");
    return fails("write", file) ? fail(ENOSPC) : call(file, bytes, count);
}

int fsync(int file) {
    static auto* const call = real<int(int)>("fsync");
    return fails("fsync", file) ? fail(EIO) : call(file);
}

int renameat(int from_directory, const char* from, int to_directory, const char* to) {
    static auto* const call = real<int(int, const char*, int, const char*)>("renameat");
    return is_wanted_call("rename") && is_wanted_name(to)
               ? fail(EIO)
               : call(from_directory, from, to_directory, to);
}

int clock_gettime(clockid_t clock, timespec* time) {
    static auto* const call = real<int(clockid_t, timespec*)>("clock_gettime");
    const int result = call(clock, time);
    if (clock == CLOCK_REALTIME) {
        time->tv_sec += jump();
    }
    return result;
}

std::time_t time(std::time_t* into) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (into != nullptr) {
        *into = now.tv_sec;
    }
    return now.tv_sec;
}

}  // extern "C"
