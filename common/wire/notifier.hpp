// The worker's end of the protocol. Sending never blocks and never fails the worker: a supervisor
// that is slow or gone costs messages, not training.
#pragma once

#include "common/os/fd.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward {

// A notifier without a socket (no supervisor) accepts and drops everything.
class Notifier {
 public:
  // Connects to $TRAINWARD_SOCKET when set; a socket that cannot be reached counts as absent.
  static Notifier from_environment();
  // A queue that is full (Linux keeps ten datagrams) is waited for, but not a shim that stands
  // still: one second, and not again before something got through. Then the message is lost.
  void send(const Message& message) const;
  [[nodiscard]] bool connected() const { return static_cast<bool>(fd_); }

 private:
  Fd fd_;
  mutable bool given_up_ = false;  // waiting for the queue did not help
};

}  // namespace trainward
