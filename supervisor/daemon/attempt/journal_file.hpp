// The journal of one attempt, read as what it tells a session. What it tells an operator (lines
// that cannot be read, logs that a full disk has cost) goes into the daemon's log.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "common/wire/journal.hpp"
#include "supervisor/decide/session/happening.hpp"

namespace trainward::daemon {

class JournalFile {
 public:
  // `checkpoints`: only folders in here count as checkpoints. `nonce`: of the attempt; records of
  // another one that had this number and this file before are passed over. Empty: not known.
  JournalFile(std::string program, std::int64_t attempt, std::filesystem::path folder,
              std::filesystem::path checkpoints, std::string nonce);

  // About `most_bytes` of whole records from `offset` on; nothing when it cannot be read.
  session::JournalPiece read(std::int64_t offset, std::size_t most_bytes);
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Of the file that was written when it was last read; 0: no file yet.
  [[nodiscard]] std::uint64_t inode() const { return inode_; }

 private:
  session::JournalPiece from_the_end(std::int64_t end);
  void take(const JournalRecord& record, session::JournalPiece& piece);
  void take_start(const JournalRecord& record, session::JournalPiece& piece);
  void take_message(const JournalRecord& record, session::JournalPiece& piece);
  void take_dropped(const JournalRecord& record, session::JournalPiece& piece);
  void take_left_out(const JournalRecord& record, session::JournalPiece& piece);

  std::string program_;
  std::int64_t attempt_;
  std::filesystem::path folder_;
  std::filesystem::path checkpoints_;
  std::string nonce_;
  bool of_another_ = false;  // what was read last
  bool told_unreadable_ = false;
  bool told_range_ = false;  // one warning an attempt
  bool told_start_ = false;
  bool found_place_ = false;        // in the journal, where the first read was to begin
  std::int64_t read_to_ = 0;        // what of the journal was read before
  std::int64_t counted_to_ = 0;     // the same, by the run database
  std::int64_t next_left_out_ = 1;  // so many messages that were left out are worth an event
  std::uint64_t inode_ = 0;
};

}  // namespace trainward::daemon
