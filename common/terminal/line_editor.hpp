// Lines typed at a terminal, with editing, history and completion.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainward {

class LineEditor {
 public:
  // The words that may stand where the last one of `typed` stands. Empty: none is known.
  using Complete = std::function<std::vector<std::string>(const std::string& typed)>;

  // Both descriptors are of one terminal; borrowed.
  LineEditor(int in, int out, Complete complete);

  // The next line, without its end; nothing at the end of input. The terminal is as it was when
  // this returns. Ctrl-C begins a new line.
  std::optional<std::string> read(const std::string& prompt);
  // For the arrow keys. Empty lines, and the same twice, are left out.
  void remember(const std::string& line);

 private:
  class RawMode;
  void write(const std::string& text) const;
  void show(const std::vector<std::string>& words) const;
  [[nodiscard]] std::string completion(const std::string& typed) const;

  int in_;
  int out_;
  Complete complete_;
  std::vector<std::string> history_;
};

// What all words have that begin with `typed`, behind it: "atu" for "st" and {"status", "stature"}.
// A blank follows when there is only one.
std::string common_rest(const std::string& typed, const std::vector<std::string>& words);

}  // namespace trainward
