// Keys out of the bytes that a terminal sends. Pure.
//
// Sequences may come in pieces, and over a slow line byte by byte; Escape alone is known by what
// does not follow it. What is pasted is left out whole: a log line in the clipboard must not stop a
// run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::ctl::top {

enum class KeyName : std::uint8_t {
  text,  // Key::text is the character
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  tab,
  back_tab,
  enter,
  backspace,
  escape,
  control,  // Key::text is the letter: "C" for Ctrl-C
};

struct Key {
  KeyName name = KeyName::text;
  std::string text;
  friend bool operator==(const Key&, const Key&) = default;
};

class KeyParser {
 public:
  std::vector<Key> take(std::string_view bytes);

  // Milliseconds after which waiting() has to be given up when no byte comes; nothing: not waiting.
  [[nodiscard]] std::optional<int> patience_ms() const;
  // No byte came for so long: what has begun is over.
  std::vector<Key> give_up();

 private:
  void take(char byte, std::vector<Key>& keys);
  void control(char byte, std::vector<Key>& keys);
  void finish_sequence(std::vector<Key>& keys);

  std::string begun_;  // an escape sequence, or a character of several bytes
  bool pasting_ = false;
  std::string paste_end_;  // the newest bytes of a paste
};

}  // namespace trainward::ctl::top
