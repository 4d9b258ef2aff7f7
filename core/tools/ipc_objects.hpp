// System V shared memory, message queues and semaphores: what processes leave behind when they end.
#pragma once

#include <cstdint>

namespace difffuzz {

// Resident bytes of all shared memory of this IPC namespace, attached or not (shmctl(2), SHM_INFO).
std::uint64_t shared_memory_bytes();

// Removes every object of this IPC namespace. For a namespace of our own only. What cannot be
// removed is left: it stays within the memory group and ends with the worker.
void remove_ipc_objects();

}  // namespace difffuzz
