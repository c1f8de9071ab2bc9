// The signals of a program that has a terminal, as something to read. While it lives they are held
// back from this thread and those it starts; afterwards they do what they did before. Made before
// other threads are.
#pragma once

#include <csignal>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::ctl::live {

class Signals {
 public:
  static Result<Signals> open();
  Signals(Signals&& other) noexcept;
  Signals& operator=(Signals&&) = delete;
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  [[nodiscard]] int fd() const { return fd_.get(); }  // readable when there is one
  // The next that came, or 0. Does not wait.
  [[nodiscard]] int next() const;

  // Stops this process as Ctrl-Z does; returns when it was told to go on.
  static void stop_process();

 private:
  Signals(Fd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}

  Fd fd_;
  sigset_t before_;
};

// Whether it asks the program to end.
constexpr bool ends(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace trainward::ctl::live
