// For SHM_INFO and its like, which are Linux's own.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "core/tools/ipc_objects.hpp"

#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

namespace difffuzz {
namespace {

// semctl(2) leaves the definition to its callers.
union SemaphoreArgument {
    int value;
    semid_ds* status;
    seminfo* information;
};

}  // namespace

std::uint64_t shared_memory_bytes() {
    shm_info information{};
    if (::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&information)) < 0) {
        return 0;
    }
    return static_cast<std::uint64_t>(information.shm_rss) *
           static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void remove_ipc_objects() {
    // Each INFO call gives the highest index in use, 0 also when there is none.
    shm_info memory{};
    const int last_memory = ::shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds*>(&memory));
    for (int i = 0; memory.used_ids > 0 && i <= last_memory; ++i) {
        shmid_ds status{};
        ::shmctl(::shmctl(i, SHM_STAT, &status), IPC_RMID, nullptr);
    }
    msginfo queues{};
    const int last_queue = ::msgctl(0, MSG_INFO, reinterpret_cast<msqid_ds*>(&queues));
    for (int i = 0; queues.msgpool > 0 && i <= last_queue; ++i) {
        msqid_ds status{};
        ::msgctl(::msgctl(i, MSG_STAT, &status), IPC_RMID, nullptr);
    }
    seminfo semaphores{};
    SemaphoreArgument argument{};
    argument.information = &semaphores;
    const int last_set = ::semctl(0, 0, SEM_INFO, argument);
    for (int i = 0; semaphores.semusz > 0 && i <= last_set; ++i) {
        semid_ds status{};
        SemaphoreArgument place{};
        place.status = &status;
        ::semctl(::semctl(i, 0, SEM_STAT, place), 0, IPC_RMID);
    }
}

}  // namespace difffuzz
