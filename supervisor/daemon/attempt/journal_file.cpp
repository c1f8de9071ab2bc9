#include "supervisor/daemon/attempt/journal_file.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/daemon/attempt/journal_events.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::daemon {

namespace {

session::AttemptProcesses processes_of(const json::object& started) {
  return {int_or(started, "pid", 0),         int_or(started, "start_ticks", 0),
          int_or(started, "shim_pid", 0),    int_or(started, "shim_start_ticks", 0),
          string_or(started, "boot_id", ""), string_or(started, "cgroup", "")};
}

}  // namespace

JournalFile::JournalFile(std::string program, std::int64_t attempt, std::filesystem::path folder,
                         std::filesystem::path checkpoints, std::string nonce)
    : program_(std::move(program)),
      attempt_(attempt),
      folder_(std::move(folder)),
      checkpoints_(std::move(checkpoints)),
      nonce_(std::move(nonce)) {}

session::JournalPiece JournalFile::read(std::int64_t offset, std::size_t most_bytes) {
  session::JournalPiece piece;
  piece.next_offset = offset;
  read_to_ = offset;
  told_start_ = told_start_ || offset > 0;
  auto batch = read_journal(folder_ / attempt_files::journal, offset, most_bytes);
  if (!batch) {
    if (!std::exchange(told_unreadable_, true)) {
      spdlog::error("{}: {}", program_, batch.error().message());
    }
    return piece;
  }
  const bool first = batch->inode != 0 && !std::exchange(found_place_, true);
  if (first && offset > batch->end) {
    counted_to_ = offset;
    return from_the_end(batch->end);
  }
  if (batch->bad_lines > 0) {
    spdlog::warn("{}: {} unreadable in the journal of attempt {}", program_,
                 count(batch->bad_lines, "line"), attempt_);
  }
  for (const JournalRecord& record : batch->records) take(record, piece);
  piece.next_offset = batch->next_offset;
  inode_ = batch->inode;
  piece.more = batch->more;
  return piece;
}

// What is on record of how far it was read cannot be: a database that was damaged, or a journal
// that was cut while no daemon read it. Only its end is known to be new.
session::JournalPiece JournalFile::from_the_end(std::int64_t end) {
  constexpr std::int64_t tail_bytes = 64 * 1024;
  spdlog::warn(
      "{}: the journal of attempt {} ends before the place that it was read to, by the run "
      "database: what it said in between may be missing",
      program_, attempt_);
  session::JournalPiece piece;
  auto tail = read_journal(folder_ / attempt_files::journal,
                           std::max<std::int64_t>(end - tail_bytes, 0), tail_bytes * 2);
  if (tail) {
    for (const JournalRecord& record : tail->records) take(record, piece);
  }
  piece.said.clear();  // it may have been told before; the end of the attempt has not
  piece.next_offset = end;
  return piece;
}

void JournalFile::take(const JournalRecord& record, session::JournalPiece& piece) {
  if (record.type == "started") {
    const std::string nonce = string_or(record.fields, "nonce", "");
    of_another_ = !nonce_.empty() && nonce != nonce_;
  }
  if (of_another_) return;
  if (record.type == "started") {
    take_start(record, piece);
  } else if (record.type == "thinned") {
    take_left_out(record, piece);
  } else if (record.type == "message") {
    take_message(record, piece);
  } else if (record.type == "unkillable") {
    piece.said.push_back({unkillable_event(record), record.at});
  } else if (record.type == "outlived") {
    piece.said.push_back({outlived_event(record), record.at});
  } else if (record.type == "dropped") {
    take_dropped(record, piece);
  } else if (auto exit = exit_event(record)) {
    piece.ending_offset = record.offset;
    piece.ending = session::Happening{std::move(*exit), record.at};
  }
}

void JournalFile::take_start(const JournalRecord& record, session::JournalPiece& piece) {
  const std::string why = string_or(record.fields, "why", "");
  if (!why.empty() && why != "full") {
    spdlog::warn("{}: the journal of attempt {} was {} by somebody; its shim has recreated it",
                 program_, attempt_, why);
  }
  if (std::exchange(told_start_, true)) return;
  session::Happening started{core::WorkerStarted{int_or(record.fields, "pid", 0)}, record.at};
  started.processes = processes_of(record.fields);
  piece.said.push_back(std::move(started));
}

// A disk that does not take a log does not take a checkpoint either.
void JournalFile::take_dropped(const JournalRecord& record, session::JournalPiece& piece) {
  const std::int64_t messages = int_or(record.fields, "messages", 0);
  const auto bytes = static_cast<std::uint64_t>(int_or(record.fields, "log_bytes", 0));
  std::string what = bytes > 0 ? human_bytes(bytes) + " of the log" : "";
  if (messages > 0) what += (what.empty() ? "" : " and ") + count(messages, "message");
  const std::string why = string_or(record.fields, "why", "");
  const std::string text = fmt::format("{} of attempt {} were dropped: {}",
                                       what.empty() ? "records" : what, attempt_, why);
  spdlog::warn("{}: {}", program_, text);
  // A disk that stalls may be busy with the checkpoint.
  const bool refused = !why.empty() && why != dropped_by_a_stall;
  piece.said.push_back(
      {core::HostFact{"logs", refused ? core::weight::general : core::weight::shown_only,
                      refused ? core::Cause::disk : core::Cause::unknown, text},
       record.at});
}

// An event for the first, for ten times as many, …; the whole count is evidence of the attempt.
void JournalFile::take_left_out(const JournalRecord& record, session::JournalPiece& piece) {
  const std::int64_t messages = int_or(record.fields, "messages", 0);
  const bool last = bool_or(record.fields, "last", false);
  if (messages < next_left_out_ && !last) return;
  next_left_out_ = 10 * messages;
  const std::int64_t since = int_or(record.fields, "since_wall_ms", record.at.wall.ms);
  const std::string text = fmt::format(
      "{} left out in {}: it says more than 100 things a second. Of each kind the newest of every "
      "10 ms is kept",
      count(messages, "message"),
      human_duration(std::max<std::int64_t>(record.at.wall.ms - since, 0)));
  if (last) {
    piece.said.push_back(
        {core::HostFact{"messages", core::weight::shown_only, core::Cause::unknown, text},
         record.at});
  } else {
    piece.said.push_back({core::Noticed{"messages", text}, record.at});
  }
}

void JournalFile::take_message(const JournalRecord& record, session::JournalPiece& piece) {
  // Of a journal that was recreated: what was read in the old one counts once.
  const bool again = bool_or(record.fields, "again", false);
  if (again && int_or(record.fields, "at", 0) < std::max(read_to_, counted_to_)) return;
  std::vector<core::Event> events = message_events(record, checkpoints_);
  if (!told_range_) {
    if (const auto what = out_of_range(record, events)) {
      told_range_ = true;
      spdlog::warn("{}: attempt {} says {}: such numbers are left out", program_, attempt_, *what);
    }
  }
  auto compiled = compiled_program(record);
  if (compiled && !compiled->dropped.empty()) {
    spdlog::warn("{}: the cached program {} was dropped: {}", program_, compiled->name,
                 compiled->dropped);
  }
  auto said = sample(record);
  for (core::Event& event : events) {
    piece.said.push_back({std::move(event), record.at, std::exchange(compiled, std::nullopt),
                          std::exchange(said, std::nullopt)});
  }
}

}  // namespace trainward::daemon
