#include "campaign/execution/file_stamp.hpp"

#include <algorithm>

#include <sys/stat.h>

#include "core/errors.hpp"

namespace difffuzz {

FileStamp stamp_file(const std::string& path) {
    FileStamp stamp{path};
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
        stamp.device = status.st_dev;
        stamp.inode = status.st_ino;
        stamp.bytes = static_cast<std::uint64_t>(status.st_size);
        stamp.modified_ns =
            std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    }
    return stamp;
}

std::vector<FileStamp> stamp_files(const std::vector<std::string>& paths) {
    std::vector<FileStamp> stamps;
    for (const std::string& path : paths) {
        stamps.push_back(stamp_file(path));
    }
    return stamps;
}

std::optional<std::string> changed_file(const std::vector<FileStamp>& before,
                                        const std::vector<FileStamp>& now) {
    for (const auto& [list, other] : {std::pair{&before, &now}, std::pair{&now, &before}}) {
        for (const FileStamp& stamp : *list) {
            if (std::ranges::find(*other, stamp) == other->end()) {
                return stamp.path;
            }
        }
    }
    return std::nullopt;
}

void require_same_files(const std::string& tool, const std::vector<FileStamp>& before,
                        const std::vector<FileStamp>& now) {
    if (const auto path = changed_file(before, now)) {
        throw EnvironmentError("the " + (tool == "io" ? "qemu-io" : tool) + " (" + *path +
                               ") changed during the campaign; put the old one back and continue "
                               "with --resume, or start anew with another --out directory");
    }
}

void require_unchanged(const std::string& tool, const std::vector<FileStamp>& before) {
    std::vector<std::string> paths;
    for (const FileStamp& stamp : before) {
        paths.push_back(stamp.path);
    }
    require_same_files(tool, before, stamp_files(paths));
}

}  // namespace difffuzz
