// A status file that a training script rewrites as it goes, such as AGILLM-3's status.json.
//
// In: the file's whole text, whenever it may have changed. Out: the events it stands for: a known
// phase, a finished step, or a sign of life when only its time moved on. A text that is cut off,
// empty, not JSON, no object, too long or without a plausible step gives no event, and neither does
// one that says nothing new: the writer may be in the middle of it, and the next look sees the
// rest.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "supervisor/evidence/foreign/terms/foreign_report.hpp"
#include "supervisor/evidence/foreign/terms/spec.hpp"

namespace trainward::foreign {

inline constexpr std::size_t max_status_bytes = 256 * 1024;

class StatusFile {
 public:
  explicit StatusFile(StatusKeys keys) : keys_(std::move(keys)) {}
  Events read(std::string_view text);

 private:
  StatusKeys keys_;
  std::size_t last_text_ = 0;  // its hash
  double updated_ = 0;
  std::int64_t step_ = 0;
};

// Whether a file is what an earlier attempt left.
//
// It is when it was last written before the launch. But that is the file system's word: when the
// wall clock goes back, or a network disk's clock is behind, what is written now looks old as well.
// So it is only as long as it stays as it was when first looked at.
class EarlierFile {
 public:
  explicit EarlierFile(std::int64_t launched_ns) : launched_ns_(launched_ns) {}

  // `now`: of the file as it is; to be asked at every look.
  bool is(const struct stat& now) {
    const Stamp stamp{now.st_ino, now.st_size,
                      now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec};
    if (!first_) first_ = stamp;
    return stamp.modified_ns < launched_ns_ && stamp == *first_;
  }

 private:
  struct Stamp {
    ino_t inode = 0;
    off_t bytes = 0;
    std::int64_t modified_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  std::int64_t launched_ns_;
  std::optional<Stamp> first_;
};

}  // namespace trainward::foreign
