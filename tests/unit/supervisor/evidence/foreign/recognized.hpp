// What a recogniser makes of a text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/line_splitter.hpp"
#include "supervisor/evidence/foreign/formats/recognizer.hpp"
#include "words.hpp"

namespace trainward::foreign {

// One stream, with its pieces as they come.
class Heard {
 public:
  explicit Heard(std::string_view preset = "auto", std::int64_t resumed_from = 0)
      : recognizer_(find_format(preset), resumed_from) {}
  Heard& feed(std::string_view text) {
    lines_.feed(text, [this](std::string_view line, std::int64_t) { take(line); });
    return *this;
  }
  Heard& end() {
    lines_.finish([this](std::string_view line, std::int64_t) { take(line); });
    recognizer_.end(events_);
    return *this;
  }
  void take(std::string_view line) { recognizer_.take(line, events_); }
  Recognizer& recognizer() { return recognizer_; }
  // What came since the last call.
  std::vector<std::string> words() { return foreign::words(std::exchange(events_, {})); }

 private:
  Recognizer recognizer_;
  LineSplitter lines_{64 * 1024};
  Events events_;
};

// All of a log; "\n" and "\r" end a line.
inline std::vector<std::string> recognized(std::string_view text, std::string_view preset = "auto",
                                           std::int64_t resumed_from = 0) {
  return Heard(preset, resumed_from).feed(text).end().words();
}

// "Epoch 1:  12%|#  | 60/500 [00:12<01:30,  4.90it/s, loss=2.31]"; `words` with its colon.
inline std::string bar(const std::string& words, int done, int total,
                       const std::string& postfix = "") {
  return fmt::format("{}{:3}%|█▏        | {}/{} [00:12<01:30,  4.90it/s{}{}]\r", words,
                     100 * done / total, done, total, postfix.empty() ? "" : ", ", postfix);
}

}  // namespace trainward::foreign
