// Turns "something changed" (POLLPRI) of a kernel file into "readable" (POLLIN).
//
// Files of the kernel that announce changes are readable at any time, so a loop that waits for
// readable descriptors would spin on them. This is a descriptor of its own that is readable only
// after an announcement.
#pragma once

#include <optional>

#include "common/os/fd.hpp"

namespace trainward::host {

class PriorityPoll {
 public:
  // Borrows `fd`, which must live longer. Nothing when its kind cannot be waited for (a regular
  // file on a disk).
  static std::optional<PriorityPoll> of(int fd);

  [[nodiscard]] int fd() const { return poll_.get(); }
  // After it became readable: waits for the next announcement.
  void settle() const;

 private:
  explicit PriorityPoll(Fd poll) : poll_(std::move(poll)) {}
  Fd poll_;
};

}  // namespace trainward::host
