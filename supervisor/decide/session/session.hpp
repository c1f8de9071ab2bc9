// The order of one program's life, apart from everything that is done in it.
//
// What happened waits until the program's turn (turns.hpp): the core decides on all of it, state,
// records and the place in the journal are one commit, and only then the side effects are carried
// out; their answers are what happens next. A commit that is refused keeps what waits; meanwhile a
// stop, a kill and deadlines act, because they are harmless when done twice and the shim's journal
// has them. An attempt's end is told when its shim is gone, its journal read to the end, its logs
// looked at and every checkpoint of it judged. A new daemon first hears what the journal of the
// attempt still holds, in the journal's own time, and what has to be known before its end is
// judged; then that it is a new daemon; and has the worker, if it lives, from there on.
//
// No loop, no file, no thread: those are the ports' (ports.hpp).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "supervisor/decide/session/attempt.hpp"
#include "supervisor/decide/session/turns.hpp"

namespace trainward::session {

// core::step, but where somebody else decides: a policy to compare with, a step that errs.
using Step = std::function<void(core::State&, const core::Event&, const core::Policy&, Time,
                                core::Actions&)>;

// Borrowed; they outlive the session.
struct Ports {
  Turns& turns;
  Clock& clock;
  Records& records;
  Hands& hands;
  Shim& shim;
};

class Session final : public Participant {
 public:
  Session(Ports ports, const core::Policy& policy, Step step = core::step);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // One of the two, first of all. A program without a past:
  void begin(bool starts);
  // One that an earlier daemon has left like this. `counted`: the place in its journal.
  void recover(core::State state, std::int64_t counted, bool machine_restarted);

  // Decided in the next turn.
  void handle(core::Event event);

  // ---- answers and news of the ports ----
  void journal_grew();
  void shim_ended();
  void nobody_left();  // of an attempt whose shim was looked for: no process of it exists
  void looked_back(LogEvidence evidence);
  void unjudged(const std::vector<core::VerifyCheckpoint>& found);

  // As committed; what waits for its turn is not in it yet.
  [[nodiscard]] const core::State& state() const { return state_; }
  // With what waits to be recorded, while the database refuses.
  [[nodiscard]] const core::State& newest() const {
    return unrecorded_.state ? *unrecorded_.state : state_;
  }
  [[nodiscard]] bool busy() const { return !pending_.empty(); }
  // What an earlier daemon left is not all told yet.
  [[nodiscard]] bool recovering() const { return restarted_.has_value(); }
  // An ending is known and has not been told.
  [[nodiscard]] bool ending() const;
  // Nothing runs and nothing is on its way, or what runs cannot be ended by anybody.
  [[nodiscard]] bool at_rest() const;
  // The same as far as processes go, while the database refuses to hear of it.
  [[nodiscard]] bool at_rest_unrecorded() const;

  // ---- Participant ----
  [[nodiscard]] bool wishes() const override;
  Status prepare() override;
  void finish(bool committed) override;

 private:
  void say(Happening what);
  [[nodiscard]] Time now() const;
  void act_unrecorded();
  void carry_out(const core::Action& action);
  void launch(const core::Launch& order);
  void verify(const core::VerifyCheckpoint& order);
  void arm();
  void wake();
  void follow(std::int64_t attempt, std::int64_t counted);
  void on_attempt_ended();
  void go_on();
  void resume(std::int64_t counted, bool machine_restarted);
  void tell_of_the_start();

  Ports ports_;
  core::Policy policy_;
  Step step_;
  core::State state_;
  std::vector<Happening> pending_;

  struct Decided {      // by a turn, until its commit
    core::State state;  // between turns: state_
    core::Actions actions;
    std::size_t events = 0;  // of pending_, from its begin; 0: between turns
    Time at;
  };
  Decided decided_;
  struct Unrecorded {  // what became of pending_ while the database refuses
    std::optional<core::State> state;
    std::size_t events = 0;       // of pending_, from its begin
    std::size_t carried_out = 0;  // actions, in their order
  };
  Unrecorded unrecorded_;

  std::optional<Attempt> attempt_;
  bool ending_due_ = false;  // everything was looked at; held until its checkpoints are judged
  int judging_ = 0;          // checkpoints that a verdict is awaited of
  std::optional<std::set<std::string>> asked_;  // of them, while an earlier daemon's are looked for
  std::optional<core::DaemonStarted> restarted_;  // told once the old attempt has been heard
  Time last_told_;                                // until then: the newest of what it said
};

}  // namespace trainward::session
