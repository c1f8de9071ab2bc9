// A way to another machine's daemon: one ssh, `trainwardctl connect` at its other end, and in
// between as many connections to the daemon's socket as are asked for. One login, whatever is
// asked.
//
// When it breaks off, what goes through it ends, and the next open() begins a new one, which asks
// nobody for a password; at most one every few seconds. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/os/fd.hpp"
#include "supervisor/ctl/client/client.hpp"
#include "supervisor/ctl/client/relay.hpp"
#include "supervisor/ctl/client/remote_address.hpp"
#include "supervisor/ctl/client/ssh_process.hpp"

namespace trainward::ctl::remote {

// A connected stream socket, as if it were the daemon's.
struct Line {
  Fd fd;
  Refusal refusal;
};

class Connection {
 public:
  // Begins at once. `may_ask`: ssh may ask at the terminal.
  Connection(Address address, bool may_ask);
  ~Connection();  // ends the ssh
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] const Address& address() const { return address_; }

  // Until trainwardctl there has answered, or why it does not; `silent` when that takes longer.
  tl::expected<void, ClientError> wait(std::chrono::milliseconds patience);
  Reply<Line> open(std::chrono::milliseconds patience);

  // Why an exchange over `line` broke off, where that is known.
  [[nodiscard]] std::optional<ClientError> why_broken(const Line& line);

 private:
  enum class State { connecting, ready, failed };
  using Clock = std::chrono::steady_clock;

  void work();
  void connect_and_serve(bool may_ask);
  std::optional<ClientError> greet(SshProcess& ssh, Relay& relay);
  bool serve(SshProcess& ssh, Relay& relay);  // until it ends; whether it did by itself
  bool wait_for_input(SshProcess& ssh);
  [[nodiscard]] bool stopped();
  void become(State state, std::optional<ClientError> failure = std::nullopt);

  const Address address_;
  const bool may_ask_;
  Fd wake_;  // an eventfd
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  State state_ = State::connecting;
  std::optional<ClientError> failure_;
  std::string socket_;  // there, as it was told
  Clock::time_point failed_at_;
  std::vector<Line> asked_for_;  // our thread's ends of them
  std::thread thread_;
};

}  // namespace trainward::ctl::remote
