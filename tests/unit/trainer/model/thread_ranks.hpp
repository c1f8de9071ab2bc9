// Ranks that are threads of one process.
#pragma once

#include <barrier>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "trainer/ranks/communicator.hpp"

namespace trainward::trainer::test {

// What the ranks of one group share.
class Meeting {
 public:
  explicit Meeting(int size) : size_(size), barrier_(size), data_(static_cast<std::size_t>(size)) {}
  [[nodiscard]] int size() const { return size_; }

  template <typename T>
  void sum(int rank, std::span<T> values) {
    data_[static_cast<std::size_t>(rank)] = values.data();
    barrier_.arrive_and_wait();
    std::vector<T> total(values.size());  // everyone adds up in the same order
    for (const void* each : data_) {
      const T* theirs = static_cast<const T*>(each);
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += theirs[i];
    }
    barrier_.arrive_and_wait();
    std::copy(total.begin(), total.end(), values.begin());
    barrier_.arrive_and_wait();
  }
  void broadcast(int rank, std::span<std::byte> bytes) {
    if (rank == 0) data_[0] = bytes.data();
    barrier_.arrive_and_wait();
    if (rank != 0 && !bytes.empty()) std::memcpy(bytes.data(), data_[0], bytes.size());
    barrier_.arrive_and_wait();
  }

 private:
  int size_;
  std::barrier<> barrier_;
  std::vector<const void*> data_;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return meeting_.size(); }
  void sum(std::span<float> values) override { meeting_.sum(rank_, values); }
  void sum(std::span<double> values) override { meeting_.sum(rank_, values); }
  void broadcast(std::span<std::byte> bytes) override { meeting_.broadcast(rank_, bytes); }

 private:
  Meeting& meeting_;
  int rank_;
};

// Runs `body` once for every rank and returns when all have ended.
inline void as_ranks(int size, const std::function<void(Communicator&)>& body) {
  Meeting meeting(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&meeting, &body, rank] {
      ThreadRank self(meeting, rank);
      body(self);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace trainward::trainer::test
