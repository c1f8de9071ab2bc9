// What must hold after every event, whatever the machine does. The checker keeps books of its own
// from what it is shown, and compares; the first promise that is broken ends the run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/decide/core/turn/step.hpp"
#include "supervisor/decide/sim/parts/sim_random.hpp"
#include "supervisor/decide/sim/parts/site.hpp"

namespace trainward::sim {

enum class Promise {
  one_worker,     // never two workers
  budget,         // never past a budget
  newest,         // never an older checkpoint than the newest verified without a stated reason
  ledger,         // every second booked to exactly one phase
  round_trip,     // the state survives the database
  timer,          // whatever waits is ended by a timer or by an answer
  stays_stopped,  // an operator's stop stays stopped
  no_false_kill,  // a healthy worker is never killed
  quarantine,     // a quarantined board is not used, and no end puts several there
  rollback,       // what was rolled back is never resumed from
  counted_once,   // each record of a journal counts once
  attempts,       // each attempt begins once and ends once, with its verdict
  alive,          // once the machine is healed the run goes on
};
constexpr int promises = static_cast<int>(Promise::alive) + 1;
std::string_view to_string(Promise promise);

struct Violation {
  Promise promise = Promise::one_worker;
  std::string what;
  std::int64_t at_ms = 0;
};

class Checker {
 public:
  // `on`: otherwise nothing is checked, and only the digest is kept.
  Checker(const Site& site, const core::Policy& policy, bool on)
      : site_(site), policy_(policy), on_(on) {}

  void after(const core::Event& event, Time at, const core::State& state,
             std::span<const core::Action> actions);
  void about_to_launch(const core::Launch& order, const core::State& state);
  void about_to_signal(core::Signal signal, const core::State& state);
  // Between events: whatever is waited for will come.
  void at_rest(const core::State& state, bool answer_coming);
  void at_end(const core::State& state);

  // Told each event and what was decided about it, with the digest up to there.
  using Listener = std::function<void(const core::Event&, Time, const core::State&,
                                      std::span<const core::Action>)>;
  void listen(Listener listener) { listener_ = std::move(listener); }

  [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }
  [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }

 private:
  void broken(Promise promise, std::string what);
  void take_event(const core::Event& event, Time at, const core::State& state);
  void take_action(const core::Action& action, Time at, const core::State& state);
  void take(const core::RecordSpan& span);
  void take(const core::RecordStep& step, const core::State& state);
  void take(const core::RecordAttemptEnded& ended, const core::State& state);
  void take(const core::RecordAttemptBegun& begun);
  void take(const core::RecordBoard& board, Time at);
  void check_launch(const core::Launch& launch, const core::State& state);
  void check_ledger(Time at, const core::State& state);
  void check_grown(const core::State& state, std::int64_t bound_ms);
  void check_state(const core::State& state);

  const Site& site_;
  const core::Policy& policy_;
  std::optional<Violation> violation_;
  Listener listener_;
  Digest digest_;
  std::uint64_t events_ = 0;

  // ---- attempts ----
  std::int64_t begun_ = 0;  // newest attempt that began
  Step last_counted_step_{-1};
  bool on_;
  bool running_ = false;        // the newest attempt has not ended
  bool verified_here_ = false;  // a checkpoint, during this attempt
  int barren_in_all_ = 0;
  int barren_in_a_row_ = 0;
  Step newest_verified_;
  std::int64_t last_progress_ms_ = 0;
  // ---- the operator ----
  bool wanted_ = false;
  bool restarts_by_hand_ = false;  // once the attempt has ended
  // ---- rollback ----
  bool goes_back_ = false;  // the verdict said so
  Step trouble_from_;       // first step that must not be resumed from; 0: none
  std::map<std::string, WallTime> probed_quarantine_;  // serial → until, as the probe showed it
  WallTime probed_at_;
  bool barred_by_this_end_ = false;  // a board went into quarantine
  // ---- the ledger ----
  std::int64_t booked_ms_ = 0;
  std::int64_t expected_ms_ = 0;
  bool span_open_ = false;
  Time last_at_;
};

}  // namespace trainward::sim
