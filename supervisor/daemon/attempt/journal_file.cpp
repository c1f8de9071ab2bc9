#include "supervisor/daemon/attempt/journal_file.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/base/text.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/containment/attempt_facts.hpp"
#include "supervisor/daemon/attempt/journal_events.hpp"

namespace trainward::daemon {

JournalFile::JournalFile(std::string program, std::int64_t attempt, std::filesystem::path folder,
                         std::filesystem::path checkpoints)
    : program_(std::move(program)),
      attempt_(attempt),
      folder_(std::move(folder)),
      checkpoints_(std::move(checkpoints)) {}

session::JournalPiece JournalFile::read(std::int64_t offset, std::size_t most_bytes) {
  session::JournalPiece piece;
  piece.next_offset = offset;
  auto batch = read_journal(folder_ / attempt_files::journal, offset, most_bytes);
  if (!batch) {
    if (!std::exchange(told_unreadable_, true)) {
      spdlog::error("{}: {}", program_, batch.error().message());
    }
    return piece;
  }
  if (batch->bad_lines > 0) {
    spdlog::warn("{}: {} unreadable in the journal of attempt {}", program_,
                 count(batch->bad_lines, "line"), attempt_);
  }
  for (const JournalRecord& record : batch->records) take(record, piece);
  piece.next_offset = batch->next_offset;
  piece.more = batch->more;
  return piece;
}

void JournalFile::take(const JournalRecord& record, session::JournalPiece& piece) {
  if (record.type == "started") {
    shim_ = containment::shim_of(record.fields);
    piece.said.push_back({core::WorkerStarted{int_or(record.fields, "pid", 0)}, record.at});
  } else if (record.type == "message") {
    take_message(record, piece);
  } else if (record.type == "unkillable") {
    piece.said.push_back({unkillable_event(record), record.at});
  } else if (record.type == "dropped") {
    spdlog::warn("{}: the disk refused {} and {} of logs of attempt {}", program_,
                 count(int_or(record.fields, "messages", 0), "message"),
                 human_bytes(static_cast<std::uint64_t>(int_or(record.fields, "log_bytes", 0))),
                 attempt_);
  } else if (auto exit = exit_event(record)) {
    piece.ending_offset = record.offset;
    piece.ending = session::Happening{std::move(*exit), record.at};
  }
}

void JournalFile::take_message(const JournalRecord& record, session::JournalPiece& piece) {
  if (!told_range_) {
    if (const auto what = out_of_range(record)) {
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
  for (auto& event : message_events(record, checkpoints_)) {
    piece.said.push_back({std::move(event), record.at, std::exchange(compiled, std::nullopt),
                          std::exchange(said, std::nullopt)});
  }
}

std::optional<ProcessId> JournalFile::find_shim() {
  if (shim_) return shim_;
  auto first = read_journal(folder_ / attempt_files::journal, 0);
  for (const JournalRecord& record : first ? first->records : std::vector<JournalRecord>{}) {
    if (record.type == "started") shim_ = containment::shim_of(record.fields);
  }
  // A worker may have put something else in the journal's place.
  if (!first) shim_ = containment::shim_by_name(folder_);
  return shim_;
}

}  // namespace trainward::daemon
