#include "supervisor/evidence/host/kernel_features.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <thread>

#include "common/os/fd.hpp"
#include "common/os/processes/process_id.hpp"

namespace trainward::host {
namespace {

// Each of these returns 0, or the errno of the refusal.
int opens(int fd) { return Fd(fd) ? 0 : errno; }

Fd own_process() { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))); }

int pidfd_open_answer() { return own_process() ? 0 : errno; }

int pidfd_send_signal_answer() {
  // Without pidfd_open there is no process to ask with; "this is not a process" is an answer too.
  const Fd process = own_process();
  const Fd other(process ? -1 : ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int fd = process ? process.get() : other.get();
  if (::syscall(SYS_pidfd_send_signal, fd, 0, nullptr, 0) == 0) return 0;
  return errno == EBADF ? 0 : errno;
}

int signalfd_answer() {
  sigset_t none;
  ::sigemptyset(&none);
  return opens(::signalfd(-1, &none, SFD_CLOEXEC));
}

// The C library makes threads and processes with clone3 where it can, and with clone where the
// kernel says that there is no clone3. A filter that says "not permitted" leaves it without either.
int thread_answer() {
  try {
    std::thread([] {}).join();
    return 0;
  } catch (const std::system_error& error) {
    return error.code().value();
  }
}

int getrandom_answer() {
  unsigned char byte = 0;
  return ::getrandom(&byte, 1, GRND_NONBLOCK) == 1 || errno == EAGAIN ? 0 : errno;
}

int proc_answer() { return identify(::getpid()) ? 0 : ENOENT; }

int inotify_answer() { return opens(::inotify_init1(IN_CLOEXEC)); }

// A group that cannot be open: the kernel looks for it only if it knows the flag.
int clone_into_group_answer() {
  clone_args arguments{};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = INT_MAX;
  if (::syscall(SYS_clone3, &arguments, sizeof(arguments)) == 0) ::_exit(0);
  return errno == EBADF ? 0 : errno;
}

int renameat2_answer() {
  if (::renameat2(AT_FDCWD, "", AT_FDCWD, "", RENAME_NOREPLACE) == 0) return 0;
  return errno == ENOENT ? 0 : errno;
}

std::string in_words(int answer) {
  return answer == 0 ? "" : std::generic_category().message(answer);
}

}  // namespace

std::vector<Feature> kernel_features() {
  return {
      {"pidfd_open", "Linux 5.3", "watches shims and workers", "", in_words(pidfd_open_answer())},
      {"pidfd_send_signal", "Linux 5.1", "stops them, and nobody else", "",
       in_words(pidfd_send_signal_answer())},
      {"signalfd", "Linux 2.6.27", "the shim hears signals", "", in_words(signalfd_answer())},
      {"threads", "", "work in the background", "", in_words(thread_answer())},
      {"getrandom", "Linux 3.17", "tells attempts apart", "", in_words(getrandom_answer())},
      {"/proc", "", "tells processes apart", "", in_words(proc_answer())},
      {"inotify", "Linux 2.6.27", "hears of new records and files",
       "they are looked for once a second", in_words(inotify_answer())},
      {"clone3 into cgroup", "Linux 5.7", "starts workers in their group",
       "they join it before their program begins", in_words(clone_into_group_answer())},
      {"renameat2", "Linux 3.15", "replaces checkpoints in one step",
       "in two; a crash between is repaired", in_words(renameat2_answer())},
  };
}

Status require(const std::vector<Feature>& features) {
  std::string missing;
  for (const Feature& feature : features) {
    if (feature.offered() || !feature.required()) continue;
    missing +=
        fmt::format("{}{} ({}{}{})", missing.empty() ? "" : ", ", feature.name, feature.refusal,
                    feature.since.empty() ? "" : "; it came with ", feature.since);
  }
  if (missing.empty()) return {};
  return fail(ErrorKind::permanent, "this host does not offer what Trainward needs: " + missing, "",
              "a newer kernel, or in a container a seccomp profile that allows it; trainwardd "
              "--check lists everything");
}

std::string table(const std::vector<Feature>& features) {
  constexpr auto row = "{:<20} {:<5} {:<34} {}\n";
  std::string text = fmt::format(row, "THIS HOST OFFERS", "", "USED FOR", "WITHOUT IT");
  for (const Feature& feature : features) {
    const std::string because = feature.offered() ? "" : " (here: " + feature.refusal + ")";
    text += fmt::format(
        row, feature.name, feature.offered() ? "yes" : "no", feature.purpose,
        std::string(feature.required() ? "trainwardd does not start" : feature.without) + because);
  }
  return text;
}

}  // namespace trainward::host
