#include "supervisor/daemon/loop/spawn.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "common/os/pipe.hpp"
#include "supervisor/daemon/loop/own_limits.hpp"

namespace trainward::daemon {
namespace {

// As exec wants them: with a null behind the last.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Child {
  char** argv;
  char** environment;
  const std::vector<int>* fds;
  int report;  // gets errno when there is no program to become
  bool own_group;
  rlimit open_files;
  rlimit core;
};

// A number that is beyond the limit on open files is no number to the kernel: EBADF, EINVAL. What
// is missing is room for another one.
int copy_to(int fd, int number, int flags = 0) {
  const int copy = flags == 0 ? ::dup2(fd, number) : ::dup3(fd, number, flags);
  if (copy < 0 && (errno == EBADF || errno == EINVAL)) errno = EMFILE;
  return copy;
}

// Of the child, between fork and exec: system calls only. Returns on failure.
void become_program(Child& child) {
  if (child.own_group) ::setpgid(0, 0);
  const int count = static_cast<int>(child.fds->size());
  const int report = ::fcntl(child.report, F_DUPFD_CLOEXEC, count + 1);
  if (report < 0) {
    if (errno == EINVAL) errno = EMFILE;
    return;
  }
  child.report = report;
  // By way of numbers above all of them, so that none is overwritten before it was copied.
  int above = child.report + 1;
  for (const int fd : *child.fds) above = std::max(above, fd + 1);
  for (int i = 0; i < count; ++i) {
    if (copy_to((*child.fds)[static_cast<std::size_t>(i)], above + i) < 0) return;
  }
  for (int i = 0; i < count; ++i) {
    if (copy_to(above + i, i) < 0) return;
  }
  if (copy_to(child.report, count, O_CLOEXEC) < 0) return;
  child.report = count;
  ::closefrom(count + 1);
  ::setrlimit(RLIMIT_NOFILE, &child.open_files);
  ::setrlimit(RLIMIT_CORE, &child.core);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(child.argv[0], child.argv, child.environment);
}

// Handlers of ours write to pipes that a child shares: none may run in it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// Until the child has become another program. 0, or what has kept it from that.
int failure_of(int report) {
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(report, &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(reason) ? reason : 0;
}

}  // namespace

Result<pid_t> spawn(const std::vector<std::string>& argv, const std::vector<int>& fds,
                    const std::optional<Environment>& environment, bool own_group) {
  std::vector<std::string> words = argv;
  std::vector<char*> pointers = pointers_to(words);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment.value_or(Environment{})) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  std::vector<char*> variable_pointers = pointers_to(variables);
  auto report = make_pipe();
  if (!report) return propagate(report);
  Child child{pointers.data(),
              environment ? variable_pointers.data() : environ,
              &fds,
              report->write.get(),
              own_group,
              inherited_descriptor_limit(),
              inherited_core_limit()};
  pid_t pid = 0;
  {
    const SignalsBlocked blocked;
    pid = ::fork();
    if (pid == 0) {
      become_program(child);
      const int reason = errno;
      (void)!::write(child.report, &reason, sizeof(reason));
      ::_exit(127);
    }
  }
  if (pid < 0) return fail_errno(errno, "start the program", argv.front());
  report->write.reset();
  if (const int reason = failure_of(report->read.get()); reason != 0) {
    ::waitpid(pid, nullptr, 0);
    return fail_errno(reason, "start the program", argv.front());
  }
  return pid;
}

Result<int> open_child(pid_t pid) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return fail_errno(errno, "watch the process", std::to_string(pid));
  return fd;
}

}  // namespace trainward::daemon
