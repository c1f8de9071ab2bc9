#include "supervisor/process/shim/worker_process.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "common/os/pipe.hpp"
#include "supervisor/process/shim/become_worker.hpp"

namespace trainward::shim {
namespace {

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

}  // namespace

Result<WorkerProcess> start_worker(const LaunchSpec& spec, const containment::Cgroup& cgroup,
                                   const std::vector<int>& inherited) {
  auto output = make_pipe();
  auto error = make_pipe();
  auto report = make_pipe();  // closed by a successful exec, carries the refusal otherwise
  if (!output) return propagate(output);
  if (!error) return propagate(error);
  if (!report) return propagate(report);

  const WorkerImage image(spec);
  const pid_t self = ::getpid();
  std::vector<Fd> joins;
  Forked forked = fork_into(cgroup, joins);
  const pid_t pid = forked.pid;
  if (pid < 0) return fail_errno(errno, "fork");
  if (pid == 0) {
    for (const int fd : inherited) ::fcntl(fd, F_SETFD, 0);
    const Refusal refusal = image.become(self, {output->write.get(), error->write.get()}, joins);
    (void)!::write(report->write.get(), &refusal, sizeof(refusal));
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // in both, as either may run first
  report->write.reset();
  Refusal refusal;
  ssize_t got = 0;
  do {
    got = ::read(report->read.get(), &refusal, sizeof(refusal));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(refusal)) {
    ::waitpid(pid, nullptr, 0);
    return tl::unexpected<Error>(image.error_of(refusal));
  }
  ::fcntl(output->read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(error->read.get(), F_SETFL, O_NONBLOCK);
  return WorkerProcess{pid, std::move(forked.pidfd), std::move(output->read),
                       std::move(error->read)};
}

}  // namespace trainward::shim
