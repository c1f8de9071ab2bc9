#include "supervisor/courier/quiet.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "common/os/file.hpp"

namespace trainward::courier {
namespace {

constexpr int nice_level = 10;
// Best effort, the last of its eight levels; "idle" would wait for ever beside a busy data loader.
// (linux/ioprio.h: class 2 above 13 bits of data.)
constexpr int io_priority = (2 << 13) | 7;
constexpr int for_this_process = 1;  // IOPRIO_WHO_PROCESS
constexpr const char* ended_early = "500";

void come_after_training() {
  ::setpriority(PRIO_PROCESS, 0, nice_level);
  ::syscall(SYS_ioprio_set, for_this_process, 0, io_priority);
  // It inherits the daemon's protection, and is the last that should have it.
  if (auto file = open_regular("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)) {
    (void)write_all(file->get(), ended_early, "/proc/self/oom_score_adj");
  }
}

}  // namespace

void be_quiet() {
  ::umask(::umask(0) | 027);
  come_after_training();
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // A thread a job would otherwise have a heap each.
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_TRIM_THRESHOLD, 256 * 1024);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);   // ^C is for the daemon, which lets workers save first
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on files is a full disk, and no reason to die
}

}  // namespace trainward::courier
