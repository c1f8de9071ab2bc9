// What every thread of a worker's processes is doing: the evidence of a hang, taken before the
// kill.
//
//   process 41 (python): main thread D, uninterruptible, in tenstorrent_wait < do_ioctl (ioctl);
//   37 threads sleeping in futex_wait_queue (futex). process 52 (loader): …
//
// Bounded: 1024 threads are looked at, 64 asked where they wait; what cannot be killed comes first.
// A few milliseconds.
//
// Everybody sees the state; where a thread waits takes the rights to trace the process (the same
// user); the kernel's stack takes root. Nothing here takes the process's memory lock, which a hung
// one may hold; only a process that is at this instant replacing its program (exec) is waited for.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace trainward::host {

// Of the process and everything below it; at most 2000 characters, printable. Empty when the
// process is gone.
std::string thread_report(const std::filesystem::path& root, pid_t pid);

}  // namespace trainward::host
