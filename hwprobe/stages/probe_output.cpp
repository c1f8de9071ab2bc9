#include "hwprobe/stages/probe_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include "common/os/pipe.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::string_view run_key = "run";
constexpr std::string_view output_key = "output";
constexpr std::string_view complaint_key = "complaint";
constexpr std::string_view exit_key = "exit";
constexpr std::size_t piece_bytes = 8 * 1024;
constexpr std::size_t complaint_bytes = 1024;

// After fork: nothing but system calls.
[[noreturn]] void become(char* const* argv, int output, int complaint, int failure, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(complaint, STDERR_FILENO);
  ::execvp(argv[0], argv);
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(1);
}

// Nothing: it runs. The other end closes by itself when it does.
std::optional<int> exec_error(int failure) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof error) ? std::optional(error) : std::nullopt;
}

// Where a piece of at most `piece_bytes` ends, so that no character is cut.
std::size_t end_of_piece(std::string_view text) {
  if (text.size() <= piece_bytes) return text.size();
  std::size_t end = piece_bytes;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (end > piece_bytes - 4 && continues(end)) --end;
  return end;
}

class Collector {
 public:
  Collector(std::size_t max_bytes, const Emit& emit) : max_bytes_(max_bytes), emit_(emit) {}

  Status take_output(std::string_view bytes) {
    seen_ += bytes.size();
    if (seen_ > max_bytes_) {
      return fail(ErrorKind::corrupt, fmt::format("says more than {} bytes", max_bytes_));
    }
    rest_ += bytes;
    while (rest_.size() > piece_bytes) say(end_of_piece(rest_));
    return {};
  }
  void take_complaint(std::string_view bytes) {
    complaint_ += bytes;
    if (complaint_.size() > complaint_bytes) {
      complaint_.erase(0, complaint_.size() - complaint_bytes);
    }
  }
  void end(int status) {
    if (!rest_.empty()) say(rest_.size());
    if (!complaint_.empty()) emit_({std::string(complaint_key), complaint_, ""});
    emit_({std::string(exit_key),
           WIFEXITED(status) ? std::to_string(WEXITSTATUS(status))
                             : fmt::format("signal {}", WTERMSIG(status)),
           ""});
  }

 private:
  void say(std::size_t bytes) {
    emit_({std::string(output_key), rest_.substr(0, bytes), ""});
    rest_.erase(0, bytes);
  }

  std::size_t max_bytes_;
  const Emit& emit_;
  std::size_t seen_ = 0;
  std::string rest_;
  std::string complaint_;
};

// Until it has closed both, which a helper that it leaves behind would put off: so no longer than
// until `pid` has ended.
Status listen(Fd output, Fd complaint, Collector& collector) {
  std::array<char, 16 * 1024> buffer{};
  while (output || complaint) {
    std::array<pollfd, 2> polled{{{output.get(), POLLIN, 0}, {complaint.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, "wait for a program");
    }
    for (Fd* fd : {&output, &complaint}) {
      const pollfd& found = polled[fd == &output ? 0 : 1];
      if (found.revents == 0) continue;
      const auto got = ::read(fd->get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        fd->reset();
        continue;
      }
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
      if (fd == &complaint) {
        collector.take_complaint(bytes);
      } else if (auto taken = collector.take_output(bytes); !taken) {
        return taken;
      }
    }
  }
  return {};
}

}  // namespace

Status emit_output(const std::vector<std::string>& words, std::size_t max_bytes, const Emit& emit) {
  auto output = make_pipe();
  if (!output) return propagate(output);
  auto complaint = make_pipe();
  if (!complaint) return propagate(complaint);
  auto failure = make_pipe();
  if (!failure) return propagate(failure);
  std::vector<std::string> copy = words;
  std::vector<char*> argv;
  argv.reserve(copy.size() + 1);
  for (std::string& word : copy) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno(errno, "start a program", words.front());
  if (pid == 0) {
    become(argv.data(), output->write.get(), complaint->write.get(), failure->write.get(), self);
  }
  output->write.reset();
  complaint->write.reset();
  failure->write.reset();
  int status = 0;
  if (const auto error = exec_error(failure->read.get())) {
    ::waitpid(pid, &status, 0);
    const char* name = ::strerrorname_np(*error);
    emit({std::string(run_key), "", name == nullptr ? "EIO" : name});
    return {};
  }
  emit({std::string(run_key), "started", ""});
  Collector collector(max_bytes, emit);
  auto heard = listen(std::move(output->read), std::move(complaint->read), collector);
  if (!heard) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    heard.error().where = words.front();
    return heard;
  }
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  collector.end(status);
  return {};
}

ProgramOutput program_output(std::span<const Reading> readings) {
  ProgramOutput out;
  for (const Reading& reading : readings) {
    if (reading.key == run_key) out.error = reading.error;
    if (reading.key == output_key) out.output += reading.value;
    if (reading.key == complaint_key) out.complaint = reading.value;
    if (reading.key == exit_key) out.exit = reading.value;
  }
  return out;
}

}  // namespace trainward::hwprobe
