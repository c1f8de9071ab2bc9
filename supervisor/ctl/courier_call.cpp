#include "supervisor/ctl/courier_call.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/pipe.hpp"
#include "common/os/processes/helper_program.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t longest_line = 64 * 1024;

void read_lines(int from, const std::function<void(std::string_view)>& on_line) {
  std::string text;
  std::array<char, 16'384> piece{};
  while (true) {
    const ssize_t got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    text.append(piece.data(), static_cast<std::size_t>(got));
    std::size_t end = 0;
    while ((end = text.find('\n')) != std::string::npos) {
      on_line(std::string_view(text).substr(0, end));
      text.erase(0, end + 1);
    }
    if (text.size() > longest_line) text.clear();
  }
}

}  // namespace

Result<int> call_courier(const std::string& word, const std::string& input,
                         const std::function<void(std::string_view)>& on_line) {
  std::error_code ignored;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::string program = (beside / "trainward-courier").string();
  const Fd text(::memfd_create("orders", MFD_CLOEXEC));
  if (!text) return fail_errno(errno, "hold what trainward-courier is told");
  if (auto written = write_all(text.get(), input, "orders"); !written) return propagate(written);
  if (::lseek(text.get(), 0, SEEK_SET) != 0) return fail_errno(errno, "hold the orders");
  auto pipe = make_pipe();
  if (!pipe) return propagate(pipe);
  const auto pid = start({.arguments = {program, word},
                          .input = text.get(),
                          .output = pipe->write.get(),
                          .errors = STDERR_FILENO});
  if (!pid) return fail_errno(pid.error(), "start trainward-courier", program);
  pipe->write.reset();
  read_lines(pipe->read.get(), on_line);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return fail(ErrorKind::transient,
                fmt::format("trainward-courier was ended by signal {}", WTERMSIG(status)), program);
  }
  return WEXITSTATUS(status);
}

}  // namespace trainward::ctl
