#include "campaign/evidence/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include "campaign/evidence/files.hpp"
#include "core/errors.hpp"

namespace difffuzz {

EvidenceLock::EvidenceLock(const std::string& directory)
    : file_(open_evidence_file(directory + "/lock", O_RDWR | O_CREAT)) {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        throw EnvironmentError("'" + directory +
                               "' is in use by another difffuzz; wait for it to end, or give "
                               "another --out directory");
    }
}

}  // namespace difffuzz
