// What becomes of a program is turned into what people are told: a few messages an episode instead
// of one a crash. Pure: times, ids and figures are given.
//
// An episode begins with the first unplanned end of an attempt and lasts until more is kept than
// before; it is one for each program and family of causes. Its first message is held for a moment,
// so that a crash that resumes meanwhile is one message that says so. One escalation (attempts end
// one after the other, or somebody has to act), one all-clear. Episodes of a family that follow
// each other within a day are told of once more, as such, and then left to the digest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/decide/core/policy.hpp"
#include "supervisor/decide/core/state.hpp"
#include "supervisor/decide/notify/episode.hpp"
#include "supervisor/decide/notify/local_time.hpp"
#include "supervisor/decide/notify/message.hpp"
#include "supervisor/decide/notify/notify_policy.hpp"

namespace trainward::notify {

// So many attempts in a row without progress are called a loop.
inline constexpr int loop_attempts = 5;
// So many episodes of a family, less than a day apart, are told of once as such.
inline constexpr std::int64_t often_episodes = 4;
inline constexpr std::int64_t calm_ms = 86'400'000;

// What is only asked for when there is something to tell.
struct Figures {
  std::optional<double> effective_share = {};  // of the last 24 h
  std::int64_t attempts_today = 0;             // that ended within 24 h
};

struct Around {
  Policy policy;
  Zone zone;
  std::function<std::int64_t(std::int64_t now_ms)> new_id;                          // grows
  std::function<Figures(const std::string& program, std::int64_t now_ms)> figures;  // may be empty
};

// To be written in the transaction of what led to it.
struct Orders {
  std::vector<std::int64_t> taken_back;  // before the messages
  std::vector<Message> messages;
};

class Teller {
 public:
  Teller(const Around& around, std::string program, const core::Policy& policy)
      : around_(around), program_(std::move(program)), policy_(policy) {}

  // One event, in the order in which the core decided; `state` is the one after it.
  void take(Book& book, const core::Event& event, Time at, const core::State& state,
            std::span<const core::Action> actions, Orders& orders) const;
  // What is due by now: repeats, and what did not happen.
  void tick(Book& book, std::int64_t now_ms, const core::State& state, Orders& orders) const;
  // When tick() has something to do, by the wall clock; none: never, as things are.
  [[nodiscard]] std::optional<std::int64_t> next(const Book& book, const core::State& state) const;

 private:
  class Turn;
  [[nodiscard]] bool shows_nothing(const Book& book, const core::State& state) const;
  [[nodiscard]] std::optional<std::int64_t> no_progress_due(const Book& book,
                                                            const core::State& state) const;

  const Around& around_;
  std::string program_;
  core::Policy policy_;
};

}  // namespace trainward::notify
