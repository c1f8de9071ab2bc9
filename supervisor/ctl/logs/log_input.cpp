#include "supervisor/ctl/logs/log_input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/file.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

Status read_all(int fd, const std::string& name,
                const std::function<void(std::string_view)>& visit) {
  std::string piece(piece_bytes, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read", name);
    if (got == 0) return {};
    visit(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
  }
}

}  // namespace

Status read_input(const std::string& file, const std::function<void(std::string_view)>& visit) {
  if (file == "-") return read_all(STDIN_FILENO, "standard input", visit);
  auto fd = open_file(file, O_RDONLY);
  if (!fd) return propagate(fd);
  return read_all(fd->get(), file, visit);
}

}  // namespace trainward::ctl
