#include "supervisor/decide/session/session.hpp"

#include <algorithm>
#include <utility>

#include "common/base/cases.hpp"

namespace trainward::session {
namespace {

bool rests(core::Stage stage) {
  return stage == core::Stage::stopped || stage == core::Stage::exited ||
         stage == core::Stage::fatal || stage == core::Stage::unkillable;
}

// What is safe to do before it is recorded, and may be done twice.
bool needs_no_record(const core::Action& action) {
  return std::holds_alternative<core::SendSignal>(action) ||
         std::holds_alternative<core::CheckActivity>(action);
}

}  // namespace

Session::Session(Ports ports, const core::Policy& policy, Step step)
    : ports_(ports), policy_(policy), step_(std::move(step)) {}

Session::~Session() { ports_.turns.forget(this); }

bool Session::at_rest() const { return !busy() && rests(state_.stage); }

bool Session::at_rest_unrecorded() const {
  const core::State& state = newest();
  if (rests(state.stage)) return true;
  return core::has_worker(state.stage) && attempt_ && attempt_->number() == state.attempt &&
         attempt_->over();
}

bool Session::ending() const {
  return attempt_ && attempt_->number() == state_.attempt && attempt_->ending() &&
         core::has_worker(state_.stage);
}

// ---- a turn ----

// Of what an earlier daemon left, everything is told before anything of this daemon's own time.
Time Session::now() const { return restarted_ ? last_told_ : ports_.clock.now(); }

void Session::handle(core::Event event) {
  if (std::holds_alternative<core::CheckpointVerified>(event)) --judging_;
  say({std::move(event), now()});
}

void Session::say(Happening what) {
  last_told_ = what.at;
  pending_.push_back(std::move(what));
  ports_.turns.request(this);
}

bool Session::wishes() const {
  return std::any_of(pending_.begin(), pending_.end(), [](const Happening& waiting) {
    return std::holds_alternative<core::StartRequested>(waiting.event) ||
           std::holds_alternative<core::StopRequested>(waiting.event) ||
           std::holds_alternative<core::RestartRequested>(waiting.event);
  });
}

Status Session::prepare() {
  decided_.actions.clear();
  decided_.events = pending_.size();
  for (const Happening& what : pending_) {
    const std::size_t before = decided_.actions.size();
    step_(decided_.state, what.event, policy_, what.at, decided_.actions);
    decided_.at = what.at;
    auto recorded =
        ports_.records.record(what, decided_.state, std::span(decided_.actions).subspan(before));
    if (!recorded) return recorded;
  }
  std::optional<JournalPlace> read;
  // Not of the attempt before, while the next one is about to be launched.
  if (attempt_ && attempt_->number() == state_.attempt && core::has_worker(state_.stage)) {
    read = attempt_->place();
  }
  return ports_.records.save(decided_.state, decided_.at, read);
}

void Session::finish(bool committed) {
  ports_.records.settle(committed);
  if (!committed) {
    if (std::exchange(decided_.events, 0) > 0) decided_.state = state_;
    act_unrecorded();
    return ports_.hands.turned(false);
  }
  const auto events = static_cast<std::ptrdiff_t>(std::exchange(decided_.events, 0));
  pending_.erase(pending_.begin(), pending_.begin() + events);
  state_ = decided_.state;
  std::size_t done = std::exchange(unrecorded_, {}).carried_out;
  ports_.hands.recorded(decided_.actions, decided_.at);
  for (const core::Action& action : decided_.actions) {
    if (done > 0 && needs_no_record(action)) {
      --done;
    } else {
      carry_out(action);
    }
  }
  arm();
  go_on();
  ports_.hands.turned(true);
}

// A full disk stops nobody's stop: signals are sent, once each, and deadlines go on. What was
// decided is the same as when it is recorded, because the events are; the journal has it on record
// that the shim was asked.
void Session::act_unrecorded() {
  core::Actions due;
  if (!unrecorded_.state) unrecorded_.state = state_;
  for (; unrecorded_.events < pending_.size(); ++unrecorded_.events) {
    const Happening& waiting = pending_[unrecorded_.events];
    step_(*unrecorded_.state, waiting.event, policy_, waiting.at, due);
  }
  std::erase_if(due, [](const core::Action& action) { return !needs_no_record(action); });
  unrecorded_.carried_out += due.size();
  for (const core::Action& action : due) carry_out(action);
  arm();
}

// Without a default: an action that nobody carries out does not compile.
void Session::carry_out(const core::Action& action) {
  std::visit(Cases{
                 [](const core::RecordEvent&) {},
                 [](const core::RecordStep&) {},
                 [](const core::RecordDevices&) {},
                 [](const core::RecordEvaluation&) {},
                 [](const core::RecordSpan&) {},
                 [](const core::RecordAttemptBegun&) {},
                 [](const core::RecordWorkerStarted&) {},
                 [](const core::RecordResumed&) {},
                 [](const core::RecordAttemptEnded&) {},
                 [](const core::RecordCheckpoint&) {},
                 [](const core::RecordBoard&) {},
                 [this](const core::Probe&) { ports_.hands.probe(); },
                 [this](const core::Repair& order) { ports_.hands.repair(order); },
                 [this](const core::SelectCheckpoint& order) { ports_.hands.select(order); },
                 [this](const core::Launch& order) { launch(order); },
                 [this](const core::SendSignal& order) {
                   if (attempt_) attempt_->signal(order.signal);
                 },
                 [this](const core::CheckActivity&) { ports_.hands.check_activity(); },
                 [this](const core::VerifyCheckpoint& order) { verify(order); },
                 [this](const core::PruneCheckpoints&) { ports_.hands.prune(); },
             },
             action);
}

void Session::arm() {
  // While old records are still being read, the deadlines they set have long passed.
  const bool behind = restarted_ || (attempt_ && attempt_->behind());
  const auto next = behind ? std::nullopt : core::next_timer(newest());
  if (!next) return ports_.clock.cancel();
  ports_.clock.at(*next, [this] { wake(); });
}

void Session::wake() {
  // No verdict before all its output has been read, whichever source reports it.
  for (bool more = attempt_.has_value(); more; more = attempt_->behind()) attempt_->read();
  handle(core::TimerFired{});
}

// ---- the attempt ----

void Session::verify(const core::VerifyCheckpoint& order) {
  ++judging_;
  if (asked_) asked_->insert(order.path);
  ports_.hands.verify(order);
}

// Its end may be wished for in the same turn.
void Session::launch(const core::Launch& order) {
  if (newest().stage != core::Stage::launching) {
    return handle(core::AttemptLost{"it was to end before it was launched"});
  }
  if (const Status launched = ports_.shim.launch(order); !launched) {
    const Error& error = launched.error();
    return handle(core::LaunchFailed{error.message(), error.kind != ErrorKind::usage});
  }
  follow(order.attempt, 0);
  attempt_->read_on();
}

void Session::follow(std::int64_t attempt, std::int64_t counted) {
  ending_due_ = false;
  attempt_.emplace(
      ports_.shim, ports_.clock, attempt, counted,
      Attempt::Listener{[this](Happening&& what) { say(std::move(what)); }, [this] { arm(); },
                        [this] { on_attempt_ended(); }, [this] { return now(); }});
}

void Session::journal_grew() {
  if (attempt_) attempt_->read_on();
}

void Session::shim_ended() {
  if (attempt_) attempt_->shim_ended();
}

void Session::nobody_left() {
  if (attempt_) attempt_->nobody_left();
}

void Session::on_attempt_ended() {
  ports_.shim.look_back(std::holds_alternative<core::WorkerExited>(attempt_->ending()->event));
}

void Session::looked_back(LogEvidence evidence) {
  if (!attempt_ || !attempt_->ending()) return;
  attempt_->add_evidence(std::move(evidence));
  ending_due_ = true;
  go_on();
}

// What the attempt kept must be known before its end is judged; what still waits for its turn may
// be a checkpoint that is to be verified.
void Session::go_on() {
  if (busy() || judging_ > 0) return;
  if (ending_due_) {
    ending_due_ = false;
    say(*attempt_->ending());
    // The time between its end and this daemon's start belongs to nobody's work.
    return tell_of_the_start();
  }
  // It went down with the machine, and left no word.
  if (restarted_ && restarted_->machine_restarted && !attempt_->ending()) tell_of_the_start();
}

// ---- a new daemon ----

void Session::begin(bool starts) {
  // An event that changes nothing puts the program into the database.
  handle(starts ? core::Event(core::StartRequested{}) : core::Event(core::Alive{}));
}

void Session::recover(core::State state, std::int64_t counted, bool machine_restarted) {
  state_ = std::move(state);
  decided_.state = state_;
  if (core::has_worker(state_.stage)) {
    resume(counted, machine_restarted);
  } else {
    handle(core::DaemonStarted{machine_restarted});
  }
  arm();
}

void Session::resume(std::int64_t counted, bool machine_restarted) {
  last_told_ = state_.seen == Time{} ? ports_.clock.now() : state_.seen;
  // What the old attempt's end asks for, this daemon has been asked; so nothing was lost.
  restarted_ = core::DaemonStarted{machine_restarted, false};
  ports_.shim.follow(state_.attempt);
  follow(state_.attempt, counted);
  asked_.emplace();
  // In pieces: a journal of two weeks need not fit into memory.
  for (attempt_->read(); attempt_->behind(); attempt_->read()) ports_.turns.now();
  ++judging_;  // the end of the attempt waits for this as well
  ports_.hands.find_unjudged(state_.attempt);
  if (machine_restarted) return attempt_->ending() ? on_attempt_ended() : go_on();
  if (!attempt_->adopt()) return;
  tell_of_the_start();
  handle(core::Adopted{});
}

void Session::tell_of_the_start() {
  if (const auto restarted = std::exchange(restarted_, std::nullopt)) handle(*restarted);
}

// Reported to the daemon before, which did not live to judge them; but for what the journal has
// told this one of.
void Session::unjudged(const std::vector<core::VerifyCheckpoint>& found) {
  --judging_;
  const auto asked = std::exchange(asked_, std::nullopt);
  for (const core::VerifyCheckpoint& order : found) {
    const bool told = std::any_of(pending_.begin(), pending_.end(), [&](const Happening& waiting) {
      const auto* said = std::get_if<core::CheckpointReported>(&waiting.event);
      return said != nullptr && said->path == order.path;
    });
    if (!told && !(asked && asked->contains(order.path))) verify(order);
  }
  go_on();
}

}  // namespace trainward::session
