// Where the simulated time really went, by the world's own books and not by the supervisor's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace trainward::sim {

enum class Spent {
  waiting,  // no worker: unnoticed, backing off, probing, resetting
  loading,  // from the launch to the first phase that computes
  compiling,
  stepping,   // on steps nobody had done before
  replaying,  // on steps done before and lost
  saving,
  broken,   // on a step that was never finished, or in a hang
  stopped,  // by the operator, or finished
};
constexpr std::size_t spent_kinds = 8;
std::string_view to_string(Spent spent);

struct Score {
  std::array<std::int64_t, spent_kinds> ms{};
  Spent now = Spent::stopped;
  std::int64_t since_ms = 0;
  std::int64_t furthest = 0;  // step ever finished
  std::int64_t executed = 0;  // steps, replays counted
  std::int64_t kept = 0;      // newest step in an intact checkpoint, at the end
  std::int64_t tokens = 0;    // of steps done for the first time
  std::int64_t attempts = 0;

  void turn_to(Spent next, std::int64_t at_ms) {
    spend(now, at_ms);
    now = next;
  }
  // What seemed to be one thing was another.
  void turn_out_as(Spent was, std::int64_t at_ms) { spend(was, at_ms); }

  [[nodiscard]] std::int64_t total_ms() const {
    std::int64_t sum = 0;
    for (const std::int64_t one : ms) sum += one;
    return sum;
  }
  [[nodiscard]] double effective() const {
    const std::int64_t total = total_ms();
    return total == 0 ? 0.0
                      : static_cast<double>(ms[static_cast<std::size_t>(Spent::stepping)]) /
                            static_cast<double>(total);
  }
  [[nodiscard]] Spent biggest_thief() const {
    auto copy = ms;
    copy[static_cast<std::size_t>(Spent::stepping)] = -1;
    return static_cast<Spent>(std::max_element(copy.begin(), copy.end()) - copy.begin());
  }

 private:
  void spend(Spent what, std::int64_t at_ms) {
    ms[static_cast<std::size_t>(what)] += at_ms - since_ms;
    since_ms = at_ms;
  }
};

}  // namespace trainward::sim
