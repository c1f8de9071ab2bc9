// Lines typed at a terminal, with editing, history and completion: libedit with our words.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainward::ctl {

class LineEditor {
 public:
  // The words that may stand where the last one of `typed` stands. Empty: none is known.
  using Complete = std::function<std::vector<std::string>(const std::string& typed)>;

  // Both descriptors are of one terminal; borrowed.
  LineEditor(int in, int out, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  LineEditor(LineEditor&&) = delete;
  LineEditor& operator=(LineEditor&&) = delete;

  // The next line, without its end; nothing at the end of input. The terminal is as it was when
  // this returns. Ctrl-C begins a new line.
  std::optional<std::string> read(const std::string& prompt);
  // For the arrow keys and Ctrl-R. Empty lines, and the same twice, are left out.
  void remember(const std::string& line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What all words have that begin with `typed`, behind it: "atu" for "st" and {"status", "stature"}.
// A blank follows when there is only one.
std::string common_rest(const std::string& typed, const std::vector<std::string>& words);

}  // namespace trainward::ctl
