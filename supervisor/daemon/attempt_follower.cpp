#include "supervisor/daemon/attempt_follower.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/launch.hpp"
#include "common/text.hpp"
#include "supervisor/containment/attempt_facts.hpp"
#include "supervisor/containment/leftovers.hpp"
#include "supervisor/daemon/journal_events.hpp"
#include "supervisor/daemon/lease.hpp"

namespace trainward::daemon {
namespace {

// Of the journal in one turn of the loop: what it tells is decided and recorded in one transaction,
// and nobody else has a turn meanwhile.
constexpr std::size_t piece_bytes = 64 * 1024;

}  // namespace

AttemptFollower::AttemptFollower(Services& services, Attempt attempt, Listener listener)
    : services_(services),
      attempt_(std::move(attempt)),
      listener_(std::move(listener)),
      offset_(attempt_.offset) {
  auto watch = services_.watcher.handle().add(attempt_.folder / attempt_files::journal,
                                              [this, alive = alive_] {
                                                if (*alive) read_on();
                                              });
  if (watch) {
    watch_ = std::move(*watch);
  } else {
    // Still safe: it is read before each verdict and when the shim ends. Live progress is missing.
    spdlog::warn("{}: {}", attempt_.program, watch.error().message());
  }
}

AttemptFollower::~AttemptFollower() { *alive_ = false; }

void AttemptFollower::read() {
  behind_ = false;
  auto batch = read_journal(attempt_.folder / attempt_files::journal, offset_, piece_bytes);
  if (!batch) {
    if (!std::exchange(told_unreadable_, true)) {
      spdlog::error("{}: {}", attempt_.program, batch.error().message());
    }
    return;
  }
  if (batch->bad_lines > 0) {
    spdlog::warn("{}: {} unreadable in the journal of attempt {}", attempt_.program,
                 count(batch->bad_lines, "line"), attempt_.number);
  }
  for (const JournalRecord& record : batch->records) take(record);
  offset_ = batch->next_offset;
  behind_ = batch->more;
}

// A turn between two pieces, so that a flood of heartbeats is committed piece by piece.
void AttemptFollower::read_on() {
  const bool was_behind = behind_;
  read();
  if (!behind_) {
    if (was_behind) listener_.caught_up();
    return;
  }
  services_.loop.post([this, alive = alive_] {
    if (*alive) read_on();
  });
}

void AttemptFollower::take(const JournalRecord& record) {
  if (record.type == "started") return take_started(record);
  if (record.type == "message") {
    if (!told_range_) {
      if (const auto what = out_of_range(record)) {
        told_range_ = true;
        spdlog::warn("{}: attempt {} says {}: such numbers are left out", attempt_.program,
                     attempt_.number, *what);
      }
    }
    auto compiled = compiled_program(record);
    if (compiled && !compiled->dropped.empty()) {
      spdlog::warn("{}: the cached program {} was dropped: {}", attempt_.program, compiled->name,
                   compiled->dropped);
    }
    for (auto& event : message_events(record, attempt_.checkpoints)) {
      listener_.said({std::move(event), record.at, std::exchange(compiled, std::nullopt)});
    }
  } else if (record.type == "unkillable") {
    listener_.said({unkillable_event(record), record.at});
  } else if (record.type == "dropped") {
    spdlog::warn("{}: the disk refused {} and {} of logs of attempt {}", attempt_.program,
                 count(int_or(record.fields, "messages", 0), "message"),
                 human_bytes(static_cast<std::uint64_t>(int_or(record.fields, "log_bytes", 0))),
                 attempt_.number);
  } else if (auto exit = exit_event(record)) {
    exit_offset_ = record.offset;
    exit_ = AttemptEvent{std::move(*exit), record.at};
  }
}

void AttemptFollower::take_started(const JournalRecord& record) {
  shim_id_ = containment::shim_of(record.fields);
  listener_.said({core::WorkerStarted{int_or(record.fields, "pid", 0)}, record.at});
  // An earlier daemon started this shim and died; it reports only now.
  if (adopting_ && !shim_)
    services_.loop.post([this, alive = alive_] {
      if (*alive && !shim_) adopt();
    });
}

void AttemptFollower::add_evidence(LogEvidence evidence) {
  if (auto* exited = exit_ ? std::get_if<core::WorkerExited>(&exit_->event) : nullptr) {
    exited->matches = std::move(evidence.matches);
    exited->last_words = std::move(evidence.last_words);
  }
}

Status AttemptFollower::watch_child(pid_t pid) {
  auto shim = ShimProcess::child(services_.loop, pid, [this] { on_shim_gone(); });
  if (!shim) return propagate(shim);
  shim_ = std::move(*shim);
  read_on();
  return {};
}

bool AttemptFollower::adopt() {
  adopting_ = true;
  if (!shim_id_) {
    // The shim's identity is in the journal's first record, which may lie before the offset.
    auto first = read_journal(attempt_.folder / attempt_files::journal, 0);
    for (const JournalRecord& record : first ? first->records : std::vector<JournalRecord>{}) {
      if (record.type == "started") shim_id_ = containment::shim_of(record.fields);
    }
    // A worker may have put something else in the journal's place.
    if (!first) shim_id_ = containment::shim_by_name(attempt_.folder);
  }
  if (shim_id_) {
    auto shim = ShimProcess::adopt(services_.loop, *shim_id_, [this] { on_shim_gone(); });
    if (shim) {
      shim_ = std::move(*shim);
      return true;
    }
    end_later();
    return false;
  }
  if (exit_) {
    end_later();
    return false;
  }
  if (take_lease(services_.paths.program_lease(attempt_.program))) {
    exit_ = AttemptEvent{core::AttemptLost{"the daemon ended between the decision and the launch"},
                         now()};
    exit_offset_ = offset_;
    end_later();
    return false;
  }
  return true;  // somebody holds the lease: the shim is starting, and its first record will come
}

void AttemptFollower::end_later() {
  services_.loop.post([this, alive = alive_] {
    if (*alive) on_shim_gone();
  });
}

Status AttemptFollower::send(core::Signal signal, int kills_sent) {
  if (shim_ && signal == core::Signal::kill && kills_sent > 1) {
    containment::kill_worker(attempt_.folder);
    if (kills_sent > 2) return shim_->end();
  }
  if (shim_) return shim_->send(signal);
  // A launch that was decided but never seen: if nobody holds the program's lease, nobody lives.
  if (!exit_ && take_lease(services_.paths.program_lease(attempt_.program))) {
    exit_ = AttemptEvent{core::AttemptLost{"no process of this attempt exists"}, now()};
    exit_offset_ = offset_;
    end_later();
  }
  return {};
}

// The shim lets the leases go when it ends, so only then may the next attempt begin.
void AttemptFollower::on_shim_gone() {
  shim_.reset();
  read();
  if (behind_) return end_later();
  if (!exit_) {
    const std::string said(trim(read_tail(attempt_.folder / attempt_files::shim_log, 2000)));
    exit_ = AttemptEvent{core::AttemptLost{"the shim ended without an exit record" +
                                           (said.empty() ? "" : ": " + said)},
                         now()};
    exit_offset_ = offset_;
  }
  watch_ = {};
  over_ = true;
  auto ended = std::move(listener_.ended);
  if (ended) ended();
}

}  // namespace trainward::daemon
