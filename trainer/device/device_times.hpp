// How long each device works by itself, and how long it is busy with the others.
//
// From the moments at which programs end on each device: a device that has work begins with the
// next program when it has ended the one before. An exchange begins on a device when its own values
// are there, so the one that is slow waits least in it. Times are as good as the plugin's events:
// one whose events have all happened when a call returns shows all devices alike. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "trainer/pjrt/completion.hpp"

namespace trainward::trainer {

// What a program is for.
enum class Work : std::uint8_t {
  compute,         // of each device by itself
  exchange,        // values that all devices sum up, beside what they compute
  after_exchange,  // computing with those values
};

class DeviceTimes {
 public:
  using Moment = pjrt::Completion::Moment;

  explicit DeviceTimes(std::size_t devices) : devices_(devices) {}

  void started(Work work, Moment at, pjrt::Completion completion);

  struct Use {
    std::chrono::nanoseconds compute{};
    std::chrono::nanoseconds exchange{};
  };
  // Of the programs that have ended since the last call, for each device.
  std::vector<Use> take();

 private:
  struct Running {
    Work work = Work::compute;
    Moment started;
    pjrt::Completion completion;
  };
  struct Line {
    Moment computed;  // when its last program of the kind had ended
    Moment exchanged;
    Use use;
  };
  void count_ended();

  std::vector<Line> devices_;
  std::deque<Running> running_;
};

}  // namespace trainward::trainer
