#include "campaign/evidence/lock.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>

#include "core/errors.hpp"

namespace difffuzz {

EvidenceLock::EvidenceLock(const std::string& directory)
    : file_(::open((directory + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (!file_.valid()) {
        throw EnvironmentError("cannot open the lock of '" + directory +
                               "': " + std::strerror(errno));
    }
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        throw EnvironmentError("'" + directory +
                               "' is in use by another difffuzz; wait for it to end, or give "
                               "another --out directory");
    }
}

}  // namespace difffuzz
