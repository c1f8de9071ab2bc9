// When a program that was started on several devices has ended on each of them.
//
// The plugin says it from a thread of its own, so this may be asked at any time, and destroyed
// before it is known; events go back on the client's thread. Errors are not kept: the results of
// the program have them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/pjrt/pjrt_session.hpp"

namespace trainward::pjrt {

class Completion {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // Takes the events that an execution has made, one a device. Nothing where the plugin made none.
  static std::optional<Completion> take(const std::shared_ptr<Session>& session,
                                        const std::vector<abi::Event*>& events);

  [[nodiscard]] std::size_t devices() const { return ended_.size(); }
  // Nothing: it still runs there.
  [[nodiscard]] std::optional<Moment> ended(std::size_t device) const;
  [[nodiscard]] bool ended() const;  // on all

 private:
  using Ended = std::atomic<Moment::rep>;  // 0: not yet
  std::vector<Handle<abi::Event>> events_;
  std::vector<std::shared_ptr<Ended>> ended_;  // shared with the plugin's callback
};

}  // namespace trainward::pjrt
