#include "hwprobe/input.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/os/file.hpp"

namespace trainward::hwprobe {

Result<std::string> read_input(const std::string& name, std::size_t max_bytes) {
  if (name != "-") return read_stream(name, max_bytes);
  std::string text;
  std::array<char, 16 * 1024> block{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "cannot be read", "standard input");
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) {
      return fail(ErrorKind::corrupt, fmt::format("is longer than {} bytes", max_bytes),
                  "standard input");
    }
  }
}

}  // namespace trainward::hwprobe
