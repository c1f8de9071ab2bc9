// Whether a file is what an earlier attempt left.
//
// It is when it was last written before the launch. But that is the file system's word: when the
// wall clock goes back, or a network disk's clock is behind, what is written now looks old as well.
// So it is only as long as it stays as it was when first looked at.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>

namespace trainward::foreign {

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
