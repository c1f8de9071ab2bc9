#include "supervisor/shim/worker_process.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/os/pipe.hpp"

namespace trainward::shim {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

struct Child {
  char** argv;
  char** environment;
  const char* directory;
  int standard_output;
  int standard_error;
  int report;
  pid_t parent;
  const std::vector<Fd>* join;  // cgroup.procs files
  const char* oom_score_adj;    // empty: stays
};

void write_text(int fd, const char* text) { (void)!::write(fd, text, std::strlen(text)); }

// Runs between fork and exec: system calls only. Returns only on failure.
void become_worker(const Child& child) {
  ::setpgid(0, 0);
  for (const Fd& file : *child.join) write_text(file.get(), "0");
  if (*child.oom_score_adj != '\0') {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) write_text(file, child.oom_score_adj);
  }
  // The kernel ends the worker if the shim dies; the check closes the gap before prctl().
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != child.parent) return;
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 ||
      ::dup2(child.standard_output, STDOUT_FILENO) < 0 ||
      ::dup2(child.standard_error, STDERR_FILENO) < 0) {
    return;
  }
  if (::chdir(child.directory) != 0) return;
  ::execvpe(child.argv[0], child.argv, child.environment);
}

struct Forked {
  pid_t pid = -1;
  Fd pidfd;
};

// clone3 with the cgroup and a pidfd; an older kernel, or a filter that forbids it, gets less.
// `joins` is filled for what the new process has to do itself. Returns twice, like fork().
Forked fork_into(const containment::Cgroup& cgroup, std::vector<Fd>& joins) {
  auto group = cgroup.open_unified();
  for (const bool into_group : {true, false}) {
    if (into_group && (!group || !*group)) continue;
    joins = cgroup.open_join_files(!into_group);
    int pidfd = -1;
    clone_args arguments{};
    arguments.flags = CLONE_PIDFD | (into_group ? CLONE_INTO_CGROUP : 0);
    arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
    arguments.exit_signal = SIGCHLD;
    if (into_group) arguments.cgroup = static_cast<std::uint64_t>(group->get());
    const long pid = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
    if (pid >= 0) return {static_cast<pid_t>(pid), Fd(pid > 0 ? pidfd : -1)};
  }
  Forked forked{::fork(), Fd()};
  if (forked.pid > 0) {
    forked.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, forked.pid, 0)));
  }
  return forked;
}

// What the kernel says of the command itself will be said again until somebody corrects it.
bool is_about_the_command(int reason) {
  return reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == EPERM ||
         reason == ENOEXEC || reason == ELOOP || reason == ENAMETOOLONG || reason == E2BIG ||
         reason == EISDIR;
}

tl::unexpected<Error> not_started(const LaunchSpec& spec, int reason) {
  auto failure = fail_errno(
      reason,
      fmt::format("start the command '{}' in {}", spec.argv.front(), spec.directory.string()), "",
      "check that the command exists and may be executed");
  if (is_about_the_command(reason)) failure.value().kind = ErrorKind::usage;
  return failure;
}

}  // namespace

Result<WorkerProcess> start_worker(const LaunchSpec& spec, const containment::Cgroup& cgroup) {
  auto output = make_pipe();
  auto error = make_pipe();
  auto report = make_pipe();  // closed by a successful exec, carries errno otherwise
  if (!output) return propagate(output);
  if (!error) return propagate(error);
  if (!report) return propagate(report);

  std::vector<std::string> argv = spec.argv;
  std::vector<std::string> environment;
  environment.reserve(spec.environment.size());
  for (const auto& [key, value] : spec.environment) environment.push_back(key + "=" + value);
  std::vector<char*> argv_pointers = pointers(argv);
  std::vector<char*> environment_pointers = pointers(environment);
  std::vector<Fd> joins;
  const std::string adjustment = spec.oom_score_adj ? std::to_string(*spec.oom_score_adj) : "";
  const Child child{argv_pointers.data(),
                    environment_pointers.data(),
                    spec.directory.c_str(),
                    output->write.get(),
                    error->write.get(),
                    report->write.get(),
                    ::getpid(),
                    &joins,
                    adjustment.c_str()};

  Forked forked = fork_into(cgroup, joins);
  const pid_t pid = forked.pid;
  if (pid < 0) return fail_errno(errno, "fork");
  if (pid == 0) {
    become_worker(child);
    const int reason = errno;
    (void)!::write(child.report, &reason, sizeof(reason));
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // in both, so that it is done whoever runs first
  report->write.reset();
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(report->read.get(), &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(reason)) {
    ::waitpid(pid, nullptr, 0);
    return not_started(spec, reason);
  }
  ::fcntl(output->read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(error->read.get(), F_SETFL, O_NONBLOCK);
  return WorkerProcess{pid, std::move(forked.pidfd), std::move(output->read),
                       std::move(error->read)};
}

}  // namespace trainward::shim
