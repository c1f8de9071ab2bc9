// What the daemon would see in a log: an account of it, in bounded memory.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/base/line_splitter.hpp"
#include "supervisor/evidence/foreign/formats/recognizer.hpp"
#include "supervisor/evidence/foreign/log_watch.hpp"

namespace trainward::ctl {

// The steps that the rule of a format makes of its lines, to compare.
class RuleSteps {
 public:
  explicit RuleSteps(const foreign::Format& format);
  void take(std::string_view line);
  [[nodiscard]] const foreign::Format& format() const { return *format_; }
  [[nodiscard]] bool are(std::int64_t count, std::int64_t newest) const {
    return count_ == count && newest_ == newest;
  }

 private:
  const foreign::Format* format_;
  foreign::LogWatch watch_;
  foreign::Progress progress_;
  std::int64_t count_ = 0;
  std::int64_t newest_ = 0;
};

class LogLook {
 public:
  // `only`: as if this were its format; null: whatever is recognised.
  explicit LogLook(const foreign::Format* only);

  void feed(std::string_view bytes);
  void end();
  // docs/cli.md says what is in it.
  [[nodiscard]] json::object document(const std::string& file) const;

 private:
  struct Row {
    std::int64_t line = 0;
    foreign::Read read;
    std::string text;
  };
  static json::object row_json(const Row& row);
  void take(std::string_view line, std::int64_t number);
  void keep(Row row);
  void count(const foreign::Events& events);
  // Of the recognised format, when it finds the same steps; else null.
  [[nodiscard]] json::value rule() const;

  const foreign::Format* only_;
  foreign::Recognizer recognizer_;
  LineSplitter lines_;
  std::vector<RuleSteps> rules_;
  std::vector<Row> first_;
  std::deque<Row> last_;
  json::array notices_;
  std::int64_t bytes_ = 0;
  std::int64_t line_ = 0;
  std::int64_t lines_read_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t first_step_ = 0;
  std::int64_t last_step_ = 0;
  std::int64_t evaluations_ = 0;
};

}  // namespace trainward::ctl
