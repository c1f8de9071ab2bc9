#include "supervisor/process/shim/disk/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/wire/log_files.hpp"

namespace trainward::shim {
namespace {

// A disk that is nearly full takes a few bytes now and then; trying at every chunk would fill the
// log with notices.
constexpr std::int64_t reopen_after_ms = 100;

}  // namespace

std::string drop_notice(const Dropped& dropped, std::string_view why) {
  return "trainward: " + std::to_string(dropped.bytes) + " bytes (" +
         std::to_string(dropped.lines) + " lines) dropped here: " + std::string(why) + "\n";
}

Result<LogFile> LogFile::open(std::shared_ptr<const Folder> folder, const std::string& name,
                              std::int64_t max_bytes, int keep) {
  auto fd = folder->open_file(name, O_RDWR | O_CREAT | O_APPEND, 0640);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) {
    return fail_errno(errno, "look at the log", (folder->path() / name).string());
  }
  LogFile log(std::move(*fd), std::move(folder), name, max_bytes, keep);
  log.inode_ = info.st_ino;
  log.size_ = log.line_start_ = info.st_size;
  log.rotate_at_ = max_bytes;
  log.base_ = read_log_index(*log.folder_, name, log.inode_).value_or(0);
  if (auto index = log.folder_->open_file(log_index(name).string(), O_WRONLY | O_CREAT, 0640)) {
    log.index_ = std::move(*index);
  }
  log.write_index();
  return log;
}

void LogFile::write(std::string_view bytes, std::int64_t now_ms) {
  if (dropping_) {
    if (now_ms < retry_ms_) return drop(bytes);
    if (skip_line_) {
      const auto end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      drop(bytes.substr(0, end));
      bytes.remove_prefix(end);
    }
    if (skip_line_) return;
    if (!resume()) {
      retry_ms_ = now_ms + reopen_after_ms;
      return drop(bytes);
    }
  }
  while (!bytes.empty()) {
    const std::size_t cut = next_cut(bytes);
    if (cut > 0 && !put(bytes.substr(0, cut))) {
      retry_ms_ = now_ms + reopen_after_ms;
      bytes.remove_prefix(cut);
      return drop(bytes);
    }
    bytes.remove_prefix(cut);
    if (!bytes.empty()) rotate();
  }
}

// How many bytes still belong into this file. Fewer than all: a rotation is due behind them.
std::size_t LogFile::next_cut(std::string_view bytes) const {
  const std::int64_t room = rotate_at_ - size_;
  const auto length = static_cast<std::int64_t>(bytes.size());
  if (length <= room) return bytes.size();
  if (room > 0) {
    const auto last = bytes.substr(0, static_cast<std::size_t>(room)).rfind('\n');
    if (last != std::string_view::npos) return last + 1;
  }
  if (size_ > 0 && line_start_ == size_) return 0;  // the line goes into the next file as a whole
  // A line that began in this file ends in it.
  const auto end = bytes.find('\n');
  const std::int64_t longest = std::max<std::int64_t>(room + max_line_bytes, 1);
  if (end != std::string_view::npos) {
    return static_cast<std::size_t>(std::min(static_cast<std::int64_t>(end) + 1, longest));
  }
  return static_cast<std::size_t>(std::min(length, longest));
}

bool LogFile::put(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(fd_.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      error_ = wrote < 0 ? errno : ENOSPC;
      break;
    }
    done += static_cast<std::size_t>(wrote);
  }
  const auto last = bytes.substr(0, done).rfind('\n');
  if (last != std::string_view::npos) line_start_ = size_ + static_cast<std::int64_t>(last) + 1;
  size_ += static_cast<std::int64_t>(done);
  if (done == bytes.size()) return true;
  dropping_ = true;
  take_back_half_line();
  drop(bytes.substr(done));
  return false;
}

void LogFile::take_back_half_line() {
  if (size_ == line_start_) return;
  if (::ftruncate(fd_.get(), line_start_) != 0) return;
  const auto half = static_cast<std::uint64_t>(size_ - line_start_);
  pending_.bytes += half;
  total_.bytes += half;
  size_ = line_start_;
}

void LogFile::drop(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto lines = static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  for (Dropped* sum : {&pending_, &total_}) {
    sum->bytes += bytes.size();
    sum->lines += lines;
  }
  skip_line_ = bytes.back() != '\n';
}

// True when the log goes on, with a line that says what is missing.
bool LogFile::resume() {
  const std::string notice = (size_ == line_start_ ? "" : "\n") +
                             drop_notice(pending_, std::generic_category().message(error_));
  const Dropped before = pending_;
  const Dropped total = total_;
  dropping_ = false;
  if (put(notice)) {
    pending_ = {};
    return true;
  }
  // The notice is not the worker's output and does not count as dropped.
  pending_ = before;
  total_ = total;
  skip_line_ = false;
  return false;
}

bool LogFile::move_to(std::shared_ptr<const Folder> folder) {
  auto fresh = folder->open_file(name_, O_RDWR | O_CREAT | O_APPEND, 0640);
  struct stat info {};
  if (!fresh || ::fstat(fresh->get(), &info) != 0) return false;
  folder_ = std::move(folder);
  fd_ = std::move(*fresh);
  inode_ = info.st_ino;
  base_ += size_;
  size_ = line_start_ = 0;
  rotate_at_ = max_bytes_;
  ++rotations_;
  index_.reset();
  if (auto index = folder_->open_file(log_index(name_).string(), O_WRONLY | O_CREAT, 0640)) {
    index_ = std::move(*index);
  }
  write_index();
  return true;
}

void LogFile::finish() {
  if (dropping_) (void)resume();
}

void LogFile::write_index() {
  const std::string line = log_index_line(inode_, base_);
  if (index_) (void)!::pwrite(index_.get(), line.data(), line.size(), 0);
}

std::string LogFile::rotated(int number) const { return rotated_log(name_, number).string(); }

void LogFile::rotate() {
  rotate_at_ = size_ + max_bytes_;  // should it fail, the next try is one file further on
  const std::string fresh_name = name_ + ".new";
  auto fresh = folder_->open_file(fresh_name, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0640);
  struct stat info {};
  if (!fresh || ::fstat(fresh->get(), &info) != 0) return;
  write_index();
  const auto is_there = [&](int number) {
    const auto found = folder_->look(rotated(number));
    return found && *found;
  };
  int oldest = 1;
  while (oldest < keep_ && is_there(oldest)) ++oldest;
  // Deleted rather than renamed over: ext4 takes that for a careful replacement, and writes the
  // file that takes the place to the disk first.
  if (oldest == keep_) (void)folder_->remove_file(rotated(keep_));
  for (int number = oldest; number > 1; --number) {
    (void)folder_->rename(rotated(number - 1), rotated(number));
  }
  if (!folder_->rename(name_, rotated(1)) || !folder_->rename(fresh_name, name_)) {
    (void)folder_->remove_file(fresh_name);
    return;
  }
  fd_ = std::move(*fresh);
  base_ += size_;
  inode_ = info.st_ino;
  size_ = line_start_ = 0;
  rotate_at_ = max_bytes_;
  ++rotations_;
}

}  // namespace trainward::shim
