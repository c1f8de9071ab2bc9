// One ssh, started without a shell: a socket in the place of its stdin and stdout, and a pipe of
// what it says on stderr. What it asks people (passwords, keys of machines) it asks at the terminal
// itself, which is why it stays in this process's group.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "common/os/fd.hpp"
#include "supervisor/ctl/client/failure.hpp"
#include "supervisor/ctl/client/remote_address.hpp"

namespace trainward::ctl::remote {

class SshProcess {
 public:
  // `ssh` is looked for in PATH. One that cannot be started has ended: start() never fails.
  static SshProcess start(const Address& address, bool may_ask);
  SshProcess(SshProcess&& other) noexcept;
  SshProcess& operator=(SshProcess&&) = delete;
  SshProcess(const SshProcess&) = delete;
  SshProcess& operator=(const SshProcess&) = delete;
  ~SshProcess() { stop(); }  // and waits for its end

  // Both ways; -1 where none was started. Does not block.
  [[nodiscard]] int fd() const { return io_.get(); }

  // Its stderr, which somebody has to read as long as it runs: -1 when that has ended.
  [[nodiscard]] int errors_fd() const { return errors_.get(); }
  void read_errors();

  // Closes it, gives it a moment to end by itself, then ends it; how it ended, `greeted` left out.
  Ending end();
  void stop();  // at once

 private:
  SshProcess() = default;
  bool ends_within(std::chrono::milliseconds time);

  pid_t pid_ = -1;
  Fd io_;
  Fd errors_;
  Ending ending_;
};

}  // namespace trainward::ctl::remote
