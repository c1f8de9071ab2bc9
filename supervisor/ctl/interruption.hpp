// SIGINT and SIGTERM as something to ask for, so that an operation can end in order.
//
// While it lives both signals are held back from this thread and those it starts, and taken note
// of; afterwards they do what they did before. One at a time, made before other threads are.
#pragma once

#include <csignal>

#include "common/fd.hpp"

namespace trainward::ctl {

class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  // The first of the two signals that came, or 0. Does not wait.
  int signal();

 private:
  sigset_t before_{};
  Fd fd_;
  int seen_ = 0;
};

}  // namespace trainward::ctl
