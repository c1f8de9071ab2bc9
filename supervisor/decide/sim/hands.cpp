#include "supervisor/decide/sim/hands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trainward::sim {

void Hands::serve(session::Session* session) {
  session_ = session;
  asked_.clear();
  following_ = 0;
  watches_shim_ = false;
}

// The daemon may be killed after it has asked, and before it has the answer.
void Hands::ask(std::int64_t takes_ms, std::function<void()> answer) {
  kill_.pass();
  asked_.push_back({++ids_, std::move(answer)});
  m_.after(takes_ms, Due::answer, ids_);
}

void Hands::on_answer(std::int64_t id) {
  const auto found = std::ranges::find(asked_, id, &Asked::id);
  if (found == asked_.end()) return;
  const auto answer = std::move(found->answer);
  asked_.erase(found);
  kill_.pass();
  answer();
}

// ---- boards ----

void Hands::probe() {
  ask(m_.probe_hangs ? minute_ms : m_.random.between(2 * second_ms, 10 * second_ms), [this] {
    if (!std::exchange(m_.probe_hangs, false)) return session_->handle(look());
    core::ProbeFinished failed;
    failed.error = "no answer in 60 s";
    session_->handle(std::move(failed));
  });
}

core::ProbeFinished Hands::look() const {
  core::ProbeFinished found;
  for (const Board& board : m_.boards) {
    const bool usable = board.looks_usable();
    found.boards.push_back({board.serial, usable ? "OK" : "REMOTE_LOST", usable,
                            usable ? "" : "links 8 and 9 are down", board.record});
  }
  if (m_.setup.mesh != 0) offer_mesh(found);
  return found;
}

// All boards in a row, or as many as there are.
void Hands::offer_mesh(core::ProbeFinished& found) const {
  std::vector<std::string> fit;
  for (const core::BoardFound& board : found.boards) {
    if (board.usable && !core::quarantined(board.record, m_.now().wall)) {
      fit.push_back(board.serial);
    }
  }
  const std::string full = fmt::format("1x{}", found.boards.size());
  found.set.emplace();
  if (fit.size() == found.boards.size()) {
    found.set->serials = std::move(fit);
    found.set->mesh.shape = full;
    return;
  }
  found.set->refusal = "not every board can be used";
  if (fit.empty()) return;
  const std::string shape = fmt::format("1x{}", fit.size());
  found.smaller =
      core::SmallerSet{std::move(fit), {shape, full, found.set->refusal, 1}, "a step takes longer"};
}

void Hands::repair(const core::Repair& order) {
  core::Repaired answer{order.repair};
  std::int64_t takes = second_ms;
  if (order.repair == core::Remedy::purge_caches) {
    m_.caches.purge();
  } else {
    takes = 50 * second_ms;
    if (std::exchange(m_.reset_fails, false)) answer.error = "the reset command ended with 1";
    for (Board& board : m_.boards) {
      const bool meant = board.serial == order.serial ||
                         std::ranges::find(order.more, board.serial) != order.more.end();
      if (meant && board.reset_helps && answer.error.empty()) {
        board.link_up = true;
      }
    }
  }
  ask(takes, [this, answer] { session_->handle(answer); });
}

// ---- checkpoints ----

void Hands::select(const core::SelectCheckpoint& order) {
  // With ending what earlier attempts left.
  const std::int64_t takes =
      m_.random.between(second_ms, 10 * second_ms) + m_.random.between(1, 50);
  if (m_.lease_held > 0) {
    --m_.lease_held;
    return ask(takes, [this] { session_->handle(core::NotReady{"the lease is held"}); });
  }
  std::vector<core::Event> answer;
  core::CheckpointSelected selected;
  if (std::exchange(m_.select_fails, false)) {
    selected.error = "input/output error";
  } else {
    if (m_.habits.verifies) {
      if (order.below) m_.disk.set_aside_from(order.below.number);
      for (const Checkpoint& bad : m_.disk.set_aside_damaged()) {
        answer.emplace_back(
            core::CheckpointRejected{bad.path, bad.step, bad.path + ".corrupt", "damaged"});
      }
    }
    if (const Checkpoint* chosen = m_.disk.newest()) {
      if (m_.habits.verifies) m_.disk.find(chosen->path)->verified = true;
      selected = {chosen->path, chosen->step, ""};
    }
  }
  answer.emplace_back(std::move(selected));
  ask(takes, [this, answer = std::move(answer)] {
    for (const core::Event& event : answer) session_->handle(event);
  });
}

void Hands::verify(const core::VerifyCheckpoint& order) {
  ask(m_.random.between(second_ms, 10 * second_ms), [this, order] {
    judge({order.attempt, order.path, order.step, 0, ""});
  });
}

void Hands::judge(core::CheckpointVerified verdict) {
  Checkpoint* checkpoint = m_.disk.find(verdict.path);
  if (checkpoint == nullptr || checkpoint->damaged) {
    verdict.error = "a block differs from its checksum";
  } else {
    checkpoint->verified = true;
    verdict.bytes = 1;
  }
  session_->handle(std::move(verdict));
}

void Hands::find_unjudged(std::int64_t attempt) {
  ask(m_.random.between(10, 500), [this, attempt] {
    std::vector<core::VerifyCheckpoint> found;
    for (const Checkpoint& checkpoint : m_.disk.all()) {
      const bool of_it = checkpoint.step > database_.state().current.resume_step.number;
      if (of_it && !database_.judged(checkpoint.path)) {
        found.push_back({attempt, checkpoint.path, checkpoint.step});
      }
    }
    session_->unjudged(found);
  });
}

void Hands::prune() {
  kill_.pass();
  m_.disk.prune(5);
}

// ---- the worker ----

void Hands::check_activity() {
  if (!site_.worker_alive()) return;
  ask(5, [this, seen = site_.worker->activity()] { session_->handle(seen); });
}

void Hands::recorded(const core::Actions& /*actions*/, Time /*at*/) { kill_.pass(); }

void Hands::turned(bool committed) {
  if (!committed) return;
  kill_.pass();
  const core::Stage stage = session_->state().stage;
  if (!site_.worker_alive() && !site_.spawning) {
    const bool stopped = stage == core::Stage::stopped || stage == core::Stage::exited;
    if (stopped != (m_.score.now == Spent::stopped)) {
      m_.score.turn_to(stopped ? Spent::stopped : Spent::waiting, m_.clock.true_ms);
    }
  }
  if (stage != core::Stage::training || !site_.worker_alive() ||
      m_.clock.true_ms < next_sample_true_ms_) {
    return;
  }
  next_sample_true_ms_ = m_.clock.true_ms + 2 * m_.setup.step_ms;
  ask(5, [this, sample = site_.worker->memory()] { session_->handle(sample); });
}

Status Hands::launch(const core::Launch& order) {
  kill_.pass();
  checker_.about_to_launch(order, session_->newest());
  if (std::exchange(m_.launch_fails, false)) {
    return fail(ErrorKind::transient, "no process could be started");
  }
  int board = -1;
  for (std::size_t i = 0; i < m_.boards.size(); ++i) {
    if (m_.boards[i].serial == order.board) board = static_cast<int>(i);
  }
  if (!m_.habits.picks_board && !m_.boards.empty()) {
    board = static_cast<int>(m_.random.between(0, static_cast<std::int64_t>(m_.boards.size()) - 1));
  }
  std::vector<int> more;
  for (const std::string& serial : order.more_boards) {
    const auto at = std::ranges::find(m_.boards, serial, &Board::serial);
    more.push_back(static_cast<int>(at - m_.boards.begin()));
  }
  m_.journal = Journal{order.attempt, {}, true, false, {}};
  site_.undelivered.clear();
  site_.spawning = Order{order.attempt,
                         board,
                         std::move(more),
                         order.resume_from,
                         session_->newest().current.resume_step.number,
                         order.plan,
                         std::exchange(site_.breach_next, false)};
  m_.score.turn_to(Spent::loading, m_.clock.true_ms);
  m_.after(m_.random.between(20, 500), Due::worker, -order.attempt);
  following_ = order.attempt;
  watches_shim_ = true;
  kill_.pass();
  return {};
}

// ---- the shim ----

session::JournalPiece Hands::read(std::int64_t offset) {
  constexpr std::int64_t most = 64;
  session::JournalPiece piece;
  piece.next_offset = offset;
  if (m_.journal.attempt != following_) return piece;
  const auto& records = m_.journal.records;
  const auto end = static_cast<std::int64_t>(records.size());
  for (; piece.next_offset < std::min(end, offset + most); ++piece.next_offset) {
    const Record& record = records[static_cast<std::size_t>(piece.next_offset)];
    session::Happening what{record.event, record.at};
    if (std::holds_alternative<core::WorkerExited>(record.event)) {
      piece.ending = std::move(what);
      piece.ending_offset = piece.next_offset;
    } else {
      piece.said.push_back(std::move(what));
    }
  }
  piece.more = piece.next_offset < end;
  return piece;
}

session::Found Hands::find() {
  kill_.pass();
  const Journal& journal = m_.journal;
  if (journal.attempt != following_) return session::Found::never;
  if (!journal.shim_alive) {
    return journal.worker_known ? session::Found::gone : session::Found::never;
  }
  watches_shim_ = journal.worker_known;
  return journal.worker_known ? session::Found::lives : session::Found::starting;
}

session::Found Hands::signal(core::Signal signal) {
  kill_.pass();
  checker_.about_to_signal(signal, session_->newest());
  if (m_.journal.attempt != following_ || !m_.journal.shim_alive) return session::Found::never;
  if (!watches_shim_) return session::Found::starting;
  if (site_.spawning) {
    site_.undelivered.push_back(signal);
  } else if (site_.worker_alive()) {
    site_.worker->signal(signal);
  }
  kill_.pass();
  return session::Found::lives;
}

void Hands::look_back(bool /*logs*/) {
  watches_shim_ = false;
  ask(m_.random.between(1, 20), [this] { session_->looked_back({m_.journal.log, {}}); });
}

void Hands::on_journal(std::int64_t attempt) {
  if (attempt == following_ && attempt == m_.journal.attempt) session_->journal_grew();
}

void Hands::on_shim_gone(std::int64_t attempt) {
  if (attempt == following_ && std::exchange(watches_shim_, false)) session_->shim_ended();
}

}  // namespace trainward::sim
