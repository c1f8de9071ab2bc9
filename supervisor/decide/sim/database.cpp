#include "supervisor/decide/sim/database.hpp"

namespace trainward::sim {

Status Database::transact(session::Survives /*survives*/, const std::function<Status()>& write) {
  kill_.pass();
  const bool refuses = m_.clock.true_ms < m_.commits_refused_until_ms;
  // Mostly at once; now and then not before the first row, or the commit.
  if (refuses && !m_.random.one_in(64)) return refusal();
  refuses_rows_ = refuses && m_.random.one_in(2);
  // Known beforehand, so that nothing has to be taken back.
  takes_ = !refuses && !kill_.next();
  if (auto written = write(); !written) return written;
  kill_.pass();
  takes_ = false;
  if (refuses) return refusal();
  kill_.pass();
  return {};
}

Status Database::refusal() { return fail(ErrorKind::transient, "disk full"); }

Status Database::record(const session::Happening& what, const core::State& state,
                        std::span<const core::Action> actions) {
  if (refuses_rows_) return refusal();
  if (!takes_) return {};
  ++events_;
  // The boot is committed with the event that tells of it, or a death in between would hide it.
  if (std::holds_alternative<core::DaemonStarted>(what.event)) {
    boot_true_ms_ = m_.clock.boot_true_ms;
  }
  checker_.after(what.event, what.at, state, actions);
  for (const core::Action& action : actions) {
    if (const auto* board = std::get_if<core::RecordBoard>(&action)) {
      for (Board& known : m_.boards) {
        if (known.serial == board->serial) known.record = board->record;
      }
    } else if (std::holds_alternative<core::RecordAttemptBegun>(action)) {
      judged_.clear();
    } else if (const auto* checkpoint = std::get_if<core::RecordCheckpoint>(&action)) {
      if (checkpoint->attempt == state.attempt) judged_.insert(checkpoint->path);
    }
  }
  return {};
}

Status Database::save(const core::State& state, Time /*at*/,
                      std::optional<session::JournalPlace> read) {
  if (!takes_) return {};
  if (!has_program_) boot_true_ms_ = m_.clock.boot_true_ms;
  has_program_ = true;
  state_ = state;
  if (read) place_ = *read;
  return {};
}

}  // namespace trainward::sim
