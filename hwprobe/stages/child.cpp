#include "hwprobe/stages/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "common/os/file.hpp"
#include "common/os/pipe.hpp"

namespace trainward::hwprobe {
namespace {

constexpr int output_number = 3;
constexpr int most_descriptors = 4096;

extern "C" void end_on_bus_error(int) { ::_exit(exit_bus_error); }

// The signals as a new program would have them, whatever our caller did with its own.
void reset_signals() {
  for (const int number : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::signal(number, SIG_DFL);
  struct sigaction action {};
  action.sa_handler = end_on_bus_error;
  ::sigaction(SIGBUS, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void keep_only(int output) {
  // Out of the way first: a caller without standard streams has it among their numbers.
  output = ::fcntl(output, F_DUPFD_CLOEXEC, output_number + 1);
  for (int number = 0; number < output_number; ++number) ::close(number);
  for (int number = 0; number < output_number; ++number) (void)::open("/dev/null", O_RDWR);
  ::dup3(output, output_number, O_CLOEXEC);
  if (::close_range(output_number + 1, ~0U, 0) == 0) return;
  // A kernel or a sandbox without that call.
  for (int number = output_number + 1; number < most_descriptors; ++number) ::close(number);
}

void emit_to(int fd, const Reading& reading) {
  // The reader is gone: nothing left to do here.
  if (!write_all(fd, format(reading) + '\n', "pipe")) ::_exit(exit_failed);
}

[[noreturn]] void run_child(const Stage& stage, const std::string& board, int output,
                            pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_failed);  // it died before the line above
  reset_signals();
  keep_only(output);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);

  std::string failure;
  try {
    const auto done =
        stage.body(board, [](const Reading& reading) { emit_to(output_number, reading); });
    if (!done) failure = done.error().message();
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "unknown exception";
  }
  if (failure.empty()) ::_exit(0);
  emit_to(output_number, {std::string(failure_key), failure, ""});
  ::_exit(exit_failed);
}

}  // namespace

Result<Child> start_child(const Stage& stage, const std::string& board) {
  auto pipe = make_polled_pipe();
  if (!pipe) return propagate(pipe);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno(errno, "start a child");
  if (pid == 0) run_child(stage, board, pipe->write.get(), parent);
  return Child{pid, std::move(pipe->read)};
}

}  // namespace trainward::hwprobe
