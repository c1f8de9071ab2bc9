#include "supervisor/shim/worker_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace trainward::shim {
namespace {

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno(errno, "make a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

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
};

// Runs between fork and exec: system calls only. Returns only on failure.
void become_worker(const Child& child) {
  ::setpgid(0, 0);
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

}  // namespace

Result<WorkerProcess> start_worker(const LaunchSpec& spec) {
  auto output = make_pipe();
  auto error = make_pipe();
  auto report = make_pipe();  // closed by a successful exec, carries errno otherwise
  if (!output) return propagate(output);
  if (!error) return propagate(error);
  if (!report) return propagate(report);

  std::vector<std::string> argv = spec.argv;
  std::vector<std::string> environment;
  environment.reserve(spec.environment.size());
  for (const auto& [key, value] : spec.environment)
    environment.push_back(fmt::format("{}={}", key, value));
  std::vector<char*> argv_pointers = pointers(argv);
  std::vector<char*> environment_pointers = pointers(environment);
  const Child child{argv_pointers.data(),
                    environment_pointers.data(),
                    spec.directory.c_str(),
                    output->write.get(),
                    error->write.get(),
                    report->write.get(),
                    ::getpid()};

  const pid_t pid = ::fork();
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
    return fail_errno(
        reason,
        fmt::format("start the command '{}' in {}", spec.argv.front(), spec.directory.string()), "",
        "check that the command exists and may be executed");
  }
  ::fcntl(output->read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(error->read.get(), F_SETFL, O_NONBLOCK);
  return WorkerProcess{pid, std::move(output->read), std::move(error->read)};
}

}  // namespace trainward::shim
