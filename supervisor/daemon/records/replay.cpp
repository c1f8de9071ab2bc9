#include "supervisor/daemon/records/replay.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/config/program_policy.hpp"

namespace trainward::daemon {
namespace {

constexpr std::size_t batch_bytes = 1024 * 1024;

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    const auto size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
  }
  std::uint64_t sum = 0;
  for (std::filesystem::directory_iterator entry(path, error), last; !error && entry != last;
       entry.increment(error)) {
    std::error_code unknown;
    const auto size = entry->file_size(unknown);
    if (!unknown) sum += size;
  }
  return sum;
}

}  // namespace

Replay::Replay(store::Store& store, const Paths& paths, const config::Program& program,
               CrashRules::Reader read_logs)
    : store_(store),
      paths_(paths),
      program_(program),
      read_logs_(std::move(read_logs)),
      recorder_(store, paths, program),
      turns_(*this, *this),
      session_({turns_, *this, *this, *this, *this}, config::policy_of(program),
               [this](core::State& state, const core::Event& event, const core::Policy& policy,
                      Time at, core::Actions& actions) {
                 // Numbers of attempts that were decided on and never made are gaps now.
                 const bool on_the_way = core::is_on_the_way(state.stage);
                 if (past_ != nullptr && on_the_way) state.attempt = past_->number;
                 // Of the attempt that the database was last told of: nobody took it over then.
                 if (std::holds_alternative<core::Adopted>(event)) return;
                 core::step(state, event, policy, at, actions);
               }) {}

Result<std::int64_t> Replay::run(const std::vector<PastAttempt>& past) {
  now_ = past.front().launched;
  boot_ = past.front().boot_id;
  if (auto ok = recorder_.save({}, now_, {}); !ok) return propagate(ok);
  return tell_of(past);
}

Result<std::int64_t> Replay::go_on(Stored stored, const std::vector<PastAttempt>& newer) {
  now_ = stored.state.seen == Time{} ? newer.front().launched : stored.state.seen;
  boot_ = stored.boot_id;
  if (auto ok = recorder_.recover(stored.state.attempt, boot_); !ok) return propagate(ok);
  PastAttempt running;
  const bool runs = core::has_worker(stored.state.stage);
  if (runs) {
    running.number = stored.state.attempt;
    running.folder = paths_.attempt(program_.name, running.number);
    running.boot_id = boot_;
    running.nonce = recorder_.attempt().nonce;
    past_ = &running;
    read_from(running, stored.counted);
  }
  session_.recover(std::move(stored.state), stored.counted, false);
  pump();
  if (runs) end_unless_cut_off(newer.front().boot_id);
  return tell_of(newer);
}

Result<std::int64_t> Replay::tell_of(const std::vector<PastAttempt>& past) {
  for (std::size_t i = 0; i < past.size() && written_; ++i) {
    past_ = &past[i];
    hear_of_boot(past_->boot_id);
    bring_to_launch();
    if (!past_->lives) end_unless_cut_off(i + 1 < past.size() ? past[i + 1].boot_id : boot_id());
  }
  past_ = nullptr;
  if (!past.back().lives) {
    hear_of_boot(boot_id());
    if (auto ok = settle_wish(); !ok) return propagate(ok);
  }
  if (!written_) return propagate(written_);
  for (const std::string& path : gone_) {
    auto ok = store_.mark_checkpoint(program_.name, path, "pruned");
    if (!ok) return propagate(ok);
  }
  auto ok = recorder_.save(session_.state(), now_, {});
  if (!ok) return propagate(ok);
  return steps_;
}

// What went down with the machine, and left no word, ends when that is heard of.
void Replay::end_unless_cut_off(const std::string& next_boot) {
  const bool with_the_machine = !ending_ && !next_boot.empty() && next_boot != boot_;
  if (!with_the_machine) end();
}

// ---- time ----

void Replay::go_to(Time time) {
  if (time.mono >= now_.mono) now_ = time;
}

void Replay::at(MonoTime when, std::function<void()> work) {
  alarm_at_ = when;
  alarm_ = std::move(work);
}

void Replay::pump() {
  while (!posts_.empty() && written_) {
    const auto work = std::move(posts_.front());
    posts_.pop_front();
    work();
  }
}

void Replay::tell(core::Event event) {
  session_.handle(std::move(event));
  pump();
}

// The monotonic clock was reset.
void Replay::hear_of_boot(const std::string& boot) {
  if (boot.empty() || boot == boot_) return;
  const bool first = std::exchange(boot_, boot).empty();
  now_ = past_ != nullptr ? past_->launched : trainward::now();
  if (!first) tell(core::DaemonStarted{true});
}

// ---- from one attempt to the next ----

core::ProbeFinished Replay::boards() const {
  core::ProbeFinished found;
  // All that is known of a program whose launch file is gone is that it had one.
  std::vector<std::string> serials = past_->boards;
  if (serials.empty()) serials.emplace_back();
  for (const std::string& serial : serials) {
    core::BoardFound board{serial, "OK", true, ""};
    const std::string record = store_.board_record(serial).value_or("");
    if (auto value = parse_json(record, "board"); value) {
      board.record = core::board_record_from_json(*value);
    }
    found.boards.push_back(std::move(board));
  }
  found.set = core::BoardSet{std::move(serials), ""};
  found.set->mesh.shape = past_->mesh;
  if (past_->full_mesh.empty()) return found;
  const std::string why = "the full one did not fit when the attempt began";
  found.smaller = core::SmallerSet{std::exchange(found.set->serials, {}),
                                   {past_->mesh, past_->full_mesh, why, past_->chips},
                                   "a step takes longer"};
  found.set->refusal = why;
  return found;
}

void Replay::bring_to_launch() {
  using core::Stage;
  // Each is asked once; a repair for each remedy, a start, a look, a choice.
  constexpr int most_questions = 16;
  const core::State& state = session_.state();
  for (int i = 0; i < most_questions && written_; ++i) {
    const bool waited = alarm_ && alarm_at_ <= past_->launched.mono;
    if (state.stage == Stage::backoff && waited) {
      go_to({now_.wall + std::max<std::int64_t>(alarm_at_ - now_.mono, 0),
             std::max(alarm_at_, now_.mono)});
      tell(core::TimerFired{});
      continue;
    }
    go_to(past_->launched);
    switch (state.stage) {
      case Stage::probing:
        tell(boards());
        break;
      case Stage::selecting:
        tell(core::CheckpointSelected{past_->resume_from, past_->resume_step, ""});
        break;
      case Stage::repairing:
        tell(core::Repaired{repair_});
        break;
      case Stage::stopped:
      case Stage::exited:
      case Stage::fatal:
        tell(core::StartRequested{});
        break;
      case Stage::backoff:  // nobody waited for its end
        tell(core::StartRequested{false});
        break;
      default:
        return;  // it is launched
    }
  }
}

Status Replay::launch(const core::Launch& /*order*/) {
  recorder_.told(past_->nonce, past_->plan);
  if (auto ok = store_.put_attempt(recorder_.attempt()); !ok) return ok;
  read_from(*past_, 0);
  return {};
}

void Replay::read_from(const PastAttempt& past, std::int64_t offset) {
  journal_.emplace(program_.name, past.number, past.folder, paths_.checkpoints(program_.name),
                   past.nonce);
  file_offset_ = offset;
  more_in_file_ = !past.lives;
  unread_.clear();
  ending_.reset();
}

// A record at a time, so that each answer has the time of what asked for it.
session::JournalPiece Replay::read(std::int64_t /*offset*/) {
  while (unread_.empty() && more_in_file_) {
    session::JournalPiece piece = journal_->read(file_offset_, batch_bytes);
    file_offset_ = piece.next_offset;
    more_in_file_ = piece.more;
    if (piece.ending) ending_ = std::move(piece.ending);
    std::move(piece.said.begin(), piece.said.end(), std::back_inserter(unread_));
  }
  session::JournalPiece piece;
  if (!unread_.empty()) {
    go_to(unread_.front().at);
    piece.said.push_back(std::move(unread_.front()));
    unread_.pop_front();
  }
  piece.more = !unread_.empty() || more_in_file_;
  if (!piece.more) piece.ending = ending_;
  return piece;
}

void Replay::verify(const core::VerifyCheckpoint& order) {
  const std::uint64_t bytes = size_of(order.path);
  if (bytes == 0) gone_.push_back(order.path);
  session_.handle(core::CheckpointVerified{order.attempt, order.path, order.step, bytes, ""});
}

void Replay::look_back(bool logs) {
  session_.looked_back(logs ? read_logs_(past_->folder) : session::LogEvidence{});
}

void Replay::end() {
  if (ending_) {
    // A kill that nobody has recorded: it was silent beyond its deadline, and ended like that.
    const auto* exited = std::get_if<core::WorkerExited>(&ending_->event);
    const bool killed = exited != nullptr && exited->signal == SIGKILL && exited->oom_kills == 0;
    constexpr int most_looks = 64;
    for (int i = 0; killed && i < most_looks && alarm_ && alarm_at_ < ending_->at.mono &&
                    session_.state().stage != core::Stage::killing;
         ++i) {
      const std::int64_t silent = alarm_at_ - now_.mono;
      if (silent > 0) go_to({now_.wall + silent, alarm_at_});
      tell(core::TimerFired{});
    }
    go_to(ending_->at);
  }
  session_.shim_ended();
  pump();
}

// What the operator had wished nobody wrote down: a program that is started with the daemon goes on
// unless it had finished, and any other rests.
Status Replay::settle_wish() {
  using core::Stage;
  const core::State& state = session_.state();
  if (!program_.autostart) {
    tell(core::StopRequested{"the making of a new run database"});
  } else if (state.stage == Stage::stopped || state.stage == Stage::fatal) {
    tell(core::StartRequested{});
  }
  return written_;
}

// ---- the database ----

Status Replay::transact(session::Survives /*survives*/, const std::function<Status()>& write) {
  written_ = write();
  return written_;
}

Status Replay::record(const session::Happening& what, const core::State& state,
                      std::span<const core::Action> actions) {
  steps_ += std::count_if(actions.begin(), actions.end(), [](const auto& action) {
    return std::holds_alternative<core::RecordStep>(action);
  });
  return recorder_.record(what, state, actions);
}

// Once, at the end of it all.
Status Replay::save(const core::State& /*state*/, Time /*at*/,
                    std::optional<session::JournalPlace> /*read*/) {
  return {};
}

}  // namespace trainward::daemon
