// A status file that a training script rewrites as it goes, such as AGILLM-3's status.json.
//
// In: the file's whole text, whenever it may have changed. Out: the events it stands for: a known
// phase, a finished step, or a sign of life when only its time moved on. A text that is cut off,
// empty, not JSON, no object, too long or without a plausible step gives no event, and neither does
// one that says nothing new: the writer may be in the middle of it, and the next look sees the
// rest.
#pragma once

#include <optional>
#include <string_view>

#include "supervisor/foreign/report.hpp"
#include "supervisor/foreign/spec.hpp"

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

}  // namespace trainward::foreign
