// What the simulated daemon's actions do to the simulated machine, and when it learns of it.
#include <utility>

#include "supervisor/sim/shell.hpp"

namespace trainward::sim {

// Part of the commit.
void Shell::remember(const core::Actions& actions) {
  for (const core::Action& action : actions) {
    const auto* board = std::get_if<core::RecordBoard>(&action);
    if (board == nullptr) continue;
    for (Board& known : m_.boards) {
      if (known.serial == board->serial) known.record = board->record;
    }
  }
}

void Shell::ask(std::int64_t takes_ms, std::vector<core::Event> answer) {
  asked_[++ids_].events = std::move(answer);
  m_.after(takes_ms, Due::answer, ids_);
}

void Shell::execute(const core::Action& action) {
  if (const auto* order = std::get_if<core::VerifyCheckpoint>(&action)) {
    ++verifying_;
    ask(m_.random.between(second_ms, 10 * second_ms),
        {core::CheckpointVerified{order->attempt, order->path, order->step, 0, ""}});
    asked_[ids_].verdict = true;
  } else if (std::holds_alternative<core::PruneCheckpoints>(action)) {
    m_.disk.prune(5);
  } else if (std::holds_alternative<core::Probe>(action)) {
    ask(m_.probe_hangs ? minute_ms : m_.random.between(2 * second_ms, 10 * second_ms), {});
    asked_[ids_].probe = true;
  } else if (const auto* select_order = std::get_if<core::SelectCheckpoint>(&action)) {
    select(*select_order);
  } else if (const auto* launch_order = std::get_if<core::Launch>(&action)) {
    launch(*launch_order);
  } else if (const auto* signal = std::get_if<core::SendSignal>(&action)) {
    checker_.about_to_signal(signal->signal, decider_.state());
    send(signal->signal);
  } else if (std::holds_alternative<core::CheckActivity>(action)) {
    if (site_.worker_alive()) ask(5, {site_.worker->activity()});
  } else if (const auto* repair_order = std::get_if<core::Repair>(&action)) {
    repair(*repair_order);
  }
}

void Shell::on_answer(std::int64_t id) {
  const auto found = asked_.find(id);
  if (!alive_ || found == asked_.end()) return;
  Answer answer = std::move(found->second);
  asked_.erase(found);
  if (answer.probe) {
    if (std::exchange(m_.probe_hangs, false)) {
      core::ProbeFinished failed;
      failed.error = "no answer in 60 s";
      answer.events.emplace_back(std::move(failed));
    } else {
      answer.events.emplace_back(look());
    }
  }
  if (answer.verdict) {
    --verifying_;
    auto& verdict = std::get<core::CheckpointVerified>(answer.events.front());
    Checkpoint* checkpoint = m_.disk.find(verdict.path);
    if (checkpoint == nullptr || checkpoint->damaged) {
      verdict.error = "a block differs from its checksum";
    } else {
      checkpoint->verified = true;
      verdict.bytes = 1;
    }
  }
  for (core::Event& event : answer.events) push(std::move(event));
  drain();
  deliver_exit();
}

core::ProbeFinished Shell::look() const {
  core::ProbeFinished found;
  for (const Board& board : m_.boards) {
    const bool usable = board.looks_usable();
    found.boards.push_back({board.serial, usable ? "OK" : "REMOTE_LOST", usable,
                            usable ? "" : "links 8 and 9 are down", board.record});
  }
  return found;
}

void Shell::repair(const core::Repair& order) {
  core::Repaired answer{order.repair};
  if (order.repair == core::Remedy::purge_caches) {
    m_.caches.purge();
    return ask(second_ms, {std::move(answer)});
  }
  if (std::exchange(m_.reset_fails, false)) answer.error = "the reset command ended with 1";
  for (Board& board : m_.boards) {
    if (board.serial == order.serial && board.reset_helps && answer.error.empty()) {
      board.link_up = true;
    }
  }
  ask(50 * second_ms, {std::move(answer)});
}

void Shell::select(const core::SelectCheckpoint& order) {
  const std::int64_t takes = m_.random.between(second_ms, 10 * second_ms);
  if (std::exchange(m_.select_fails, false)) {
    return ask(takes, {core::CheckpointSelected{"", 0, "input/output error"}});
  }
  if (!m_.habits.verifies) {
    const Checkpoint* newest = m_.disk.newest();
    if (newest == nullptr) return ask(takes, {core::CheckpointSelected{}});
    return ask(takes, {core::CheckpointSelected{newest->path, newest->step, ""}});
  }
  if (order.below > 0) m_.disk.set_aside_from(order.below);
  std::vector<core::Event> answer;
  for (const Checkpoint& bad : m_.disk.set_aside_damaged()) {
    answer.emplace_back(
        core::CheckpointRejected{bad.path, bad.step, bad.path + ".corrupt", "damaged"});
  }
  const Checkpoint* chosen = m_.disk.newest();
  core::CheckpointSelected selected;
  if (chosen != nullptr) {
    m_.disk.find(chosen->path)->verified = true;
    selected = {chosen->path, chosen->step, ""};
  }
  answer.emplace_back(std::move(selected));
  ask(takes, std::move(answer));
}

void Shell::launch(const core::Launch& order) {
  checker_.about_to_launch(order, decider_.state());
  if (std::exchange(m_.launch_fails, false)) {
    return push(core::LaunchFailed{"no process could be started", true});
  }
  int board = -1;
  for (std::size_t i = 0; i < m_.boards.size(); ++i) {
    if (m_.boards[i].serial == order.board) board = static_cast<int>(i);
  }
  if (!m_.habits.picks_board && !m_.boards.empty()) {
    board = static_cast<int>(m_.random.between(0, static_cast<std::int64_t>(m_.boards.size()) - 1));
  }
  m_.journal = Journal{order.attempt, {}, true, false};
  read_ = committed_ = 0;
  exit_.reset();
  shim_gone_ = false;
  following_ = true;
  site_.undelivered.clear();
  site_.spawning =
      Order{order.attempt,    board, order.resume_from, decider_.state().resume_step, order.plan,
            site_.breach_next};
  site_.breach_next = false;
  m_.score.turn_to(Spent::loading, m_.clock.true_ms);
  m_.after(m_.random.between(20, 500), Due::worker, -order.attempt);
}

void Shell::on_spawn(std::int64_t attempt) {
  if (!site_.spawning || site_.spawning->attempt != attempt) return;
  const Order order = *std::exchange(site_.spawning, std::nullopt);
  site_.worker = std::make_unique<Worker>(m_, order, site_.waiting);
  for (const core::Signal signal : std::exchange(site_.undelivered, {})) {
    site_.worker->signal(signal);
  }
}

void Shell::send(core::Signal signal) {
  if (site_.spawning) return site_.undelivered.push_back(signal);
  if (m_.journal.shim_alive) {
    if (site_.worker_alive()) site_.worker->signal(signal);
    return;
  }
  // A launch that was decided but never seen: nobody holds the lease, so nobody lives.
  if (exit_ || !core::has_worker(decider_.state().stage)) return;
  exit_ = Record{core::AttemptLost{"no process of this attempt exists"}, now()};
  exit_offset_ = read_;
  shim_gone_ = true;
}

}  // namespace trainward::sim
