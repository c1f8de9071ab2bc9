// Crash rules, loaded: which rule a line of a log is for.
//
// In: the built-in rules (builtin/*.yaml, compiled into the library), extended or overridden by
//   id from a user's file of the same form.
// Out: for one line, the strongest rule that matches it; of equal ones the first in the list.
//   LogClassifier makes a verdict of whole logs.
// Failure: load() reports file, line and column of everything wrong in a rules file, as one Error.
// Speed: one pass of RE2 over a line finds which fixed texts of all patterns stand in it; only
//   patterns whose texts are all there are tried. A filter of our own was a tenth faster.
// Threads: a loaded matcher may be used from several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/evidence/rules/rule.hpp"

namespace trainward::rules {

using RuleId = std::uint16_t;  // place in the list
using PatternId = int;         // place among the patterns of all rules

class LogMatcher {
 public:
  // The built-in rules, and those of `user_file` unless it is empty.
  static Result<LogMatcher> load(const std::filesystem::path& user_file = {});

  LogMatcher(LogMatcher&&) noexcept;
  LogMatcher& operator=(LogMatcher&&) noexcept;
  LogMatcher(const LogMatcher&) = delete;
  LogMatcher& operator=(const LogMatcher&) = delete;
  ~LogMatcher();

  // Which patterns may match, in rising order; `candidates` is scratch space of the caller.
  // traceback_mark() as the last of them says that the line may change the state of a Traceback.
  void candidates(std::string_view line, std::vector<PatternId>& candidates) const;

  struct LineMatch {
    RuleId rule = 0;
    bool advised = false;  // the line says as well that the program goes on
  };
  [[nodiscard]] std::optional<LineMatch> match(std::string_view line,
                                               const std::vector<PatternId>& candidates) const;

  [[nodiscard]] const Rule& rule(RuleId id) const;
  // What the user's file says in vain, with its place.
  [[nodiscard]] const std::vector<std::string>& warnings() const;
  [[nodiscard]] PatternId traceback_mark() const;

 private:
  struct Compiled;
  explicit LogMatcher(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace trainward::rules
