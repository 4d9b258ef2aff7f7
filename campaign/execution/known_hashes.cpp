#include "campaign/execution/known_hashes.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/inotify.h>
#include <unistd.h>

namespace difffuzz {

KnownHashes::KnownHashes() : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

void KnownHashes::clear() {
    take_events();
    for (const auto& [watch, path] : paths_) {
        // Fails for a file that is gone, whose watch went with it.
        ::inotify_rm_watch(events_.get(), watch);
    }
    paths_.clear();
    hashes_.clear();
}

void KnownHashes::remember(const std::string& path, std::uint64_t hash) {
    // IN_ATTRIB tells that a name was taken away from a file that has others.
    constexpr std::uint32_t mask =
        IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW;
    const int watch = ::inotify_add_watch(events_.get(), path.c_str(), mask);
    if (watch < 0) {
        hashes_.erase(path);
        return;
    }
    // What came before this moment is settled.
    take_events();
    const auto [at, added] = paths_.try_emplace(watch, path);
    if (!added && at->second != path) {
        // One file of two names has one watch, which could speak for one of them only.
        hashes_.erase(at->second);
        hashes_.erase(path);
        return;
    }
    hashes_[path] = hash;
}

std::optional<std::uint64_t> KnownHashes::find(const std::string& path) {
    take_events();
    const auto found = hashes_.find(path);
    return found == hashes_.end() ? std::nullopt : std::optional(found->second);
}

void KnownHashes::take_events() {
    alignas(inotify_event) std::array<char, 4096> buffer;  // NOLINT(*-member-init): filled by read
    for (;;) {
        const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            return;
        }
        for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
            inotify_event event;
            std::memcpy(&event, buffer.data() + at, sizeof event);
            at += sizeof event + event.len;
            if ((event.mask & IN_Q_OVERFLOW) != 0) {
                hashes_.clear();
            } else if (const auto path = paths_.find(event.wd); path != paths_.end()) {
                hashes_.erase(path->second);
            }
        }
    }
}

}  // namespace difffuzz
