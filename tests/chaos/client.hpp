// A client of the API that waits for nobody: one that asks and times the answer, and crowds of ones
// that behave badly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/os/fd.hpp"

namespace trainward::chaos {

// Connected, or empty when it was refused or the queue is full.
Fd connect_api(const std::filesystem::path& socket);

// Sends what is given and forgets about the answer; the connections are handed back open.
std::vector<Fd> crowd(const std::filesystem::path& socket, std::uint64_t count,
                      std::string_view text);

// How long what happens has to wait for the daemon, in milliseconds, since it started.
struct LoopLatency {
  double p99 = 0;
  double most = 0;
};

// Asks GET /v1/version, again and again, without ever blocking.
class Pulse {
 public:
  explicit Pulse(std::filesystem::path socket) : socket_(std::move(socket)) {}

  struct Answer {
    std::int64_t took_ms = 0;         // from the request to the end of the answer
    std::optional<LoopLatency> loop;  // what the daemon measured of its own loop, if it says so
  };
  // To be called often. An answer when one has just come.
  std::optional<Answer> beat(std::int64_t now_ms);
  // How long the request under way has waited; 0: there is none.
  [[nodiscard]] std::int64_t waiting_ms(std::int64_t now_ms) const {
    return fd_ ? now_ms - asked_ms_ : 0;
  }
  void forget() { fd_.reset(); }

 private:
  std::filesystem::path socket_;
  Fd fd_;
  std::int64_t asked_ms_ = 0;
  std::int64_t next_ms_ = 0;
  std::string text_;
};

// Hostile datagrams to a worker's socket. None of them is a step, a phase or a checkpoint.
void send_rubbish(const std::filesystem::path& socket, std::uint64_t count);

}  // namespace trainward::chaos
