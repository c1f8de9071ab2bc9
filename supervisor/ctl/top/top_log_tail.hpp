// The newest lines of a log, out of the bytes in which it comes. Pure.
//
// Of a line that was written over with carriage returns (a progress bar) its last state is kept;
// colours and other escape sequences are taken out; tabs become spaces.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::ctl::top {

class LogTail {
 public:
  void add(std::string_view bytes);
  // Another log begins.
  void clear();

  // Oldest first, the line that has no end yet as the last one.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::deque<std::string> lines_;
  std::string begun_;  // the raw bytes of a line without its end
};

// A line as it would look when it was printed.
std::string printed_line(std::string_view raw);

}  // namespace trainward::ctl::top
