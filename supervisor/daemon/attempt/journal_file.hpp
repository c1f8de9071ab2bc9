// The journal of one attempt, read as what it tells a session. What it tells an operator (lines
// that cannot be read, logs that a full disk has cost) goes into the daemon's log.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "common/os/process_id.hpp"
#include "common/wire/journal.hpp"
#include "supervisor/session/happening.hpp"

namespace trainward::daemon {

class JournalFile {
 public:
  // `checkpoints`: only folders in here count as checkpoints.
  JournalFile(std::string program, std::int64_t attempt, std::filesystem::path folder,
              std::filesystem::path checkpoints);

  // About `most_bytes` of whole records from `offset` on; nothing when it cannot be read.
  session::JournalPiece read(std::int64_t offset, std::size_t most_bytes);
  // As far as it was read; see also find_shim().
  [[nodiscard]] const std::optional<ProcessId>& shim() const { return shim_; }
  // The shim's identity is in the first record, which may lie before what was read. Looked for
  // among the processes when there is something else in the journal's place.
  [[nodiscard]] std::optional<ProcessId> find_shim();
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  void take(const JournalRecord& record, session::JournalPiece& piece);
  void take_message(const JournalRecord& record, session::JournalPiece& piece);

  std::string program_;
  std::int64_t attempt_;
  std::filesystem::path folder_;
  std::filesystem::path checkpoints_;
  std::optional<ProcessId> shim_;
  bool told_unreadable_ = false;
  bool told_range_ = false;  // one warning an attempt
};

}  // namespace trainward::daemon
