// What a foreign program was seen to do, as the core's events; and which of it is new.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/decide/core/event.hpp"

namespace trainward::foreign {

using Events = std::vector<core::Event>;

// load compile train save upload
bool is_phase(std::string_view text);

// Lets each step through once. Several sources report the same step, and a restarted daemon reads
// again what the one before has counted.
class Progress {
 public:
  // `seen`: newest step of this attempt that is counted already; 0: none. What a source tells from
  // before that step was counted with it.
  explicit Progress(std::int64_t seen) : seen_(seen), behind_(seen > 0) {}

  // The events of one source that are news, in their order.
  Events news(Events events);
  // Everything written before this daemon began has been read.
  void caught_up() { behind_ = false; }

  // Not everything written before this daemon began has been read.
  [[nodiscard]] bool is_behind() const { return behind_; }
  [[nodiscard]] std::int64_t seen() const { return seen_; }

 private:
  bool is_news(const core::Event& event);
  std::int64_t seen_;
  bool behind_;
  std::string phase_;
};

}  // namespace trainward::foreign
