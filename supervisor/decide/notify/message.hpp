// A message as a value: decided on here, stored in the outbox, given its form by each channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/decide/notify/kind.hpp"

namespace trainward::notify {

inline constexpr std::size_t longest_title = 60;    // characters
inline constexpr std::size_t longest_lines = 1024;  // bytes, of all log lines together

struct Message {
  std::int64_t id = 0;
  std::int64_t at_ms = 0;
  std::int64_t not_before_ms = 0;
  std::string program;       // empty: the daemon itself
  std::int64_t episode = 0;  // 0: of none
  Tier tier = Tier::info;
  Kind kind = Kind::crashed;
  std::string title;
  std::string text;                     // lines of plain text
  json::object fields = {};             // the same in parts, docs/messenger.md
  std::vector<std::string> lines = {};  // of the program's log, cleaned
  bool resolves = false;                // the trouble of this episode is over
  // Messages that this one includes for those who take it; the others get each of them.
  std::vector<std::int64_t> tells = {};
  std::int64_t started_ms = 0;  // when the trouble began
};

// {"text", "fields", "lines", "resolves", "started_ms"}, and "tells" where there are any.
json::object body_of(const Message& message);

// "trainer: device_oom, given up (FATAL)": at most longest_title characters; a long name gives way.
std::string title_of(std::string_view program, std::string_view verdict);

// Lines of a log as they may be shown to anybody: printable, without the sequences that colour a
// terminal, the newest `most` that fit into longest_lines.
std::vector<std::string> shown_lines(const std::vector<std::string>& lines, int most);

}  // namespace trainward::notify
