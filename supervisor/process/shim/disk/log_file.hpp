// One stream's log on the disk: `stdout.log`, and the older files it is rotated into.
//
// In: the stream's bytes in order. Out: files as common/wire/log_files.hpp describes them.
//  - A file is rotated at its limit, between two lines; it grows beyond it only by the end of a
//  line
//    that had begun. Only a line that reaches max_line_bytes beyond the limit is cut.
//  - Bytes the disk refuses (full, failing) are dropped in whole lines and counted; the half line
//    that did get onto the disk is taken back. When the disk takes bytes again, a line says in the
//    log how much is missing at this place, and why.
// Failure: none is reported to the caller; the worker trains on whatever happens here. Used by one
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/os/folder.hpp"

namespace trainward::shim {

inline constexpr std::int64_t max_line_bytes = 1024 * 1024;

struct Dropped {
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
};

// "trainward: 1234 bytes (5 lines) dropped here: No space left on device\n"
std::string drop_notice(const Dropped& dropped, std::string_view why);

class LogFile {
 public:
  // `name` in `folder`.
  static Result<LogFile> open(std::shared_ptr<const Folder> folder, const std::string& name,
                              std::int64_t max_bytes, int keep);

  void write(std::string_view bytes, std::int64_t now_ms);
  // Goes on in another folder, which has nothing of it. True: as if it had been rotated.
  bool move_to(std::shared_ptr<const Folder> folder);
  // The worker has ended: says what is missing, if that was not said yet.
  void finish();

  [[nodiscard]] const Dropped& dropped() const { return total_; }
  [[nodiscard]] int error_number() const { return error_; }  // of the last refusal
  [[nodiscard]] std::int64_t rotations() const { return rotations_; }
  [[nodiscard]] std::int64_t base() const { return base_; }  // stream offset of the current file

 private:
  LogFile(Fd fd, std::shared_ptr<const Folder> folder, std::string name, std::int64_t max_bytes,
          int keep)
      : fd_(std::move(fd)),
        folder_(std::move(folder)),
        name_(std::move(name)),
        max_bytes_(max_bytes),
        keep_(keep) {}
  [[nodiscard]] std::string rotated(int number) const;
  std::size_t next_cut(std::string_view bytes) const;
  bool put(std::string_view bytes);
  void take_back_half_line();
  void drop(std::string_view bytes);
  bool resume();
  void rotate();
  void write_index();

  Fd fd_;
  Fd index_;
  std::shared_ptr<const Folder> folder_;
  std::string name_;
  std::int64_t max_bytes_;
  int keep_;
  std::uint64_t inode_ = 0;
  std::int64_t base_ = 0;
  std::int64_t size_ = 0;
  std::int64_t line_start_ = 0;  // position behind the last newline of the file
  std::int64_t rotate_at_ = 0;   // the limit, or more after a rotation that failed
  std::int64_t rotations_ = 0;

  bool dropping_ = false;
  bool skip_line_ = false;  // what comes is the rest of a line that was dropped
  std::int64_t retry_ms_ = 0;
  int error_ = 0;
  Dropped pending_;  // not yet said in the log
  Dropped total_;
};

}  // namespace trainward::shim
