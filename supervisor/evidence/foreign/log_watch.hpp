// Lines of a program's output that tell how far it is.
//
// In: chunks of a log as they are written, cut anywhere; '\n' and '\r' end a line (progress bars).
// Out: the events of each line that matches a rule; the first rule that matches a line has it.
// Named groups: step, phase, checkpoint (a path), and the names of step_figures. A group that
// does not hold what it should is left out. RE2 matches in linear time; a line is looked at up to
// 64 KiB.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/line_splitter.hpp"
#include "supervisor/evidence/foreign/formats/recognizer.hpp"
#include "supervisor/evidence/foreign/terms/foreign_report.hpp"
#include "supervisor/evidence/foreign/terms/spec.hpp"

namespace trainward::foreign {

// Kind usage: does not compile, names an unknown group (with the nearest valid one), or says
// nothing because it has neither a group nor a phase.
Status check(const LogRule& rule);

class LogWatch {
 public:
  // `rules` passed check(); one that does not is left out. Paths of checkpoints that are relative
  // lie in `directory`. No path is looked at: whether it is one of the program's (lies_inside) the
  // caller finds out, for that may take as long as a file system does.
  // `recognizer`, if there is one, gets the lines that no rule matches; stdout and stderr share it.
  LogWatch(const std::vector<LogRule>& rules, std::filesystem::path directory,
           std::shared_ptr<Recognizer> recognizer = nullptr);
  LogWatch(LogWatch&&) noexcept;
  LogWatch& operator=(LogWatch&&) noexcept;
  LogWatch(const LogWatch&) = delete;
  LogWatch& operator=(const LogWatch&) = delete;
  ~LogWatch();

  Events feed(std::string_view chunk);
  // The writer is gone: a last line without its end counts.
  Events end();

 private:
  struct Rule;
  void take_line(std::string_view line, Events& events) const;
  std::vector<std::unique_ptr<Rule>> rules_;
  std::filesystem::path directory_;
  std::shared_ptr<Recognizer> recognizer_;
  LineSplitter lines_;
};

}  // namespace trainward::foreign
