#include "campaign/evidence/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include "campaign/evidence/files.hpp"
#include "core/errors.hpp"

namespace difffuzz {

namespace {

void take(int file, int how, const std::string& directory) {
    if (::flock(file, how | LOCK_NB) != 0) {
        throw EnvironmentError("'" + directory +
                               "' is in use by another difffuzz; wait for it to end, or give "
                               "another --out directory");
    }
}

}  // namespace

EvidenceLock::EvidenceLock(const std::string& directory)
    : file_(open_evidence_file(directory + "/lock", O_RDWR | O_CREAT)) {
    take(file_.get(), LOCK_EX, directory);
}

FileDescriptor share_evidence(const std::string& directory) {
    FileDescriptor file(open_evidence_file(directory + "/lock", O_RDONLY));
    if (file.valid()) {
        take(file.get(), LOCK_SH, directory);
    }
    return file;
}

}  // namespace difffuzz
