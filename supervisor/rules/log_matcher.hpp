// Crash rules over log text: which lines say why an attempt died.
//
// In: the built-in rules (crash_rules.yaml, compiled into the library), extended or overridden by
//   id from a user's file of the same form; then any log text, also with broken UTF-8.
// Out: one Match per rule that matched, in the order of the rules: the first is the verdict, since
//   roots are ordered before their cascades. Each line counts for the first rule that matches it;
//   a benign rule swallows its line.
// Failure: load() reports file, line and column of everything wrong in a rules file, as one Error;
//   match_lines() cannot fail. Memory is bounded by the limits and the number of rules.
// Threads: a loaded matcher is immutable; match_lines() may run on several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace trainward::rules {

// May the same work succeed when simply tried again?
enum class Transient { yes, maybe, no };

std::string_view to_string(Transient transient);

struct Match {
  std::string rule;         // id of the rule: "tt-dram-full"
  std::string crash_class;  // "device_oom"; see crash_classes() in rule.hpp
  Transient transient = Transient::maybe;
  std::string remedy;            // "shrink_plan"; see remedies() in rule.hpp
  std::string advice;            // what a person should do, in plain words
  std::string line;              // the first line that matched, trimmed, at most max_kept_bytes
  std::int64_t line_number = 0;  // of that line in the text, from 1
  std::int64_t count = 0;        // how many lines matched this rule
};

struct MatchLimits {
  std::size_t max_matches = 32;         // the matches of the earliest rules are kept
  std::size_t max_line_bytes = 65'536;  // the rest of a longer line is not looked at
  std::size_t max_kept_bytes = 500;     // of a line in a Match
};

class LogMatcher {
 public:
  // The built-in rules, and those of `user_file` unless it is empty.
  static Result<LogMatcher> load(const std::filesystem::path& user_file = {});

  LogMatcher(LogMatcher&&) noexcept;
  LogMatcher& operator=(LogMatcher&&) noexcept;
  LogMatcher(const LogMatcher&) = delete;
  LogMatcher& operator=(const LogMatcher&) = delete;
  ~LogMatcher();

  [[nodiscard]] std::vector<Match> match_lines(std::string_view text,
                                               const MatchLimits& limits = {}) const;
  // Lines swallowed by benign rules are counted here, for whoever wants to show the rate.
  [[nodiscard]] std::int64_t count_benign(std::string_view text,
                                          const MatchLimits& limits = {}) const;
  [[nodiscard]] std::size_t rule_count() const;

 private:
  struct Compiled;
  explicit LogMatcher(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace trainward::rules
