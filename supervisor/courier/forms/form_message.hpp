// A message of the outbox as channels give it their forms: foreign text in it is made printable and
// bounded here, once for all of them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::courier {

inline constexpr std::size_t longest_title = 240;      // bytes
inline constexpr std::size_t longest_text = 8 * 1024;  // bytes, of all its lines
inline constexpr std::size_t most_lines = 10;
inline constexpr std::size_t longest_line = 400;  // bytes
inline constexpr std::size_t most_more = 20;      // titles that are listed

// Who speaks: two runs on one machine are told apart.
struct Speaker {
  std::string host;
  std::string run;  // letters and digits, of the run's place
};

struct Message {
  std::string id;  // the same over every repetition, of no other message anywhere
  std::string host;
  std::string run;
  std::int64_t at_ms = 0;
  std::int64_t started_ms = 0;  // 0: at at_ms
  std::int64_t episode = 0;     // 0: of none
  std::string program;          // "": the daemon itself
  std::string tier;
  std::string kind;
  std::string title;  // one line
  std::string text;   // lines
  json::object fields = {};
  std::vector<std::string> lines = {};  // of a log
  bool resolves = false;
  std::vector<std::string> more = {};  // titles of what is told along with it
  std::int64_t more_count = 0;         // how many that are
  bool plain = false;                  // in_plain(): a form adds nothing that it can do without
};

// What the outbox has of a message, beside the JSON of its column `message`.
struct MessageFacts {
  std::int64_t id = 0;
  std::int64_t at_ms = 0;
  std::int64_t episode = 0;
  std::string program;
  std::string tier;
  std::string kind;
  std::string title;
};

// What of the JSON is missing or of another type is empty. `log_lines`: whether they are told.
Message message_of(const MessageFacts& row, std::string_view body, const Speaker& speaker,
                   bool log_lines);

// What is left of it for a receiver that does not understand the whole: title and first lines, in
// ASCII, and how many more there are.
Message in_plain(Message message);

// Printable: each line as clean() leaves it, line ends kept.
std::string printable(std::string_view text);

// At most `most` bytes, whole characters, with "…" at the end where something was left out.
std::string cut(std::string_view text, std::size_t most);

// Title and text for people, without the title; lines of the log and titles of more at its end.
std::string body_text(const Message& message);

// {"id", "type", "timestamp", "data"}: at most `most` bytes when serialized.
json::object document_of(const Message& message, std::size_t most);

// "1 more: …"; "" if there are no more.
std::string more_words(const Message& message);

}  // namespace trainward::courier
