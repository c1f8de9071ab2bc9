// How long the calls of a communicator take, with the waiting for other ranks.
#pragma once

#include <chrono>
#include <span>

#include "trainer/ranks/communicator.hpp"

namespace trainward::trainer {

class TimedCommunicator final : public Communicator {
 public:
  // `peers` must outlive it.
  explicit TimedCommunicator(Communicator& peers) : peers_(peers) {}

  [[nodiscard]] int rank() const override { return peers_.rank(); }
  [[nodiscard]] int size() const override { return peers_.size(); }
  void sum(std::span<float> values) override {
    timed([&] { peers_.sum(values); });
  }
  void sum(std::span<double> values) override {
    timed([&] { peers_.sum(values); });
  }
  void broadcast(std::span<std::byte> bytes) override {
    timed([&] { peers_.broadcast(bytes); });
  }

  // In all calls so far.
  [[nodiscard]] std::chrono::steady_clock::duration spent() const { return spent_; }

 private:
  template <typename Call>
  void timed(const Call& call) {
    const auto began = std::chrono::steady_clock::now();
    call();
    spent_ += std::chrono::steady_clock::now() - began;
  }

  Communicator& peers_;
  std::chrono::steady_clock::duration spent_{};
};

}  // namespace trainward::trainer
