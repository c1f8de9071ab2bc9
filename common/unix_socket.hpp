// Unix sockets by path, also where the path is longer than the 107 bytes of sun_path.
#pragma once

#include <filesystem>
#include <string>

#include "common/error.hpp"
#include "common/fd.hpp"

namespace trainward {

// A short alias for a socket path: the path itself when it fits, else /proc/self/fd/N/NAME over an
// open descriptor of its folder. Valid in this process while the object lives.
class SocketPath {
 public:
  static Result<SocketPath> make(const std::filesystem::path& path);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  SocketPath(std::string text, Fd folder) : text_(std::move(text)), folder_(std::move(folder)) {}
  std::string text_;
  Fd folder_;
};

// A bound datagram socket (CLOEXEC, non-blocking), replacing a stale socket file.
Result<Fd> bind_datagram(const std::filesystem::path& path, unsigned mode);
// A connected datagram socket (CLOEXEC, non-blocking).
Result<Fd> connect_datagram(const std::filesystem::path& path);

}  // namespace trainward
