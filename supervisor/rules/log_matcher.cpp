#include "supervisor/rules/log_matcher.hpp"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "common/file.hpp"
#include "supervisor/rules/builtin_rules.hpp"
#include "supervisor/rules/line_text.hpp"
#include "supervisor/rules/rule_file.hpp"

namespace trainward::rules {
namespace {

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::int64_t automaton_bytes = 64 * 1024 * 1024;

// Latin-1: a pattern then matches bytes, and a log with broken UTF-8 is searched all the same.
RE2::Options pattern_options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

RE2::Options set_options() {
  RE2::Options options = pattern_options();
  options.set_max_mem(automaton_bytes);
  return options;
}

}  // namespace

struct LogMatcher::Compiled {
  std::vector<Rule> rules;
  RE2::Set set{set_options(), RE2::UNANCHORED};
  std::vector<std::unique_ptr<RE2>>
      single;  // the same patterns, for when the set runs out of memory

  // The earliest rule that matches the line.
  [[nodiscard]] std::optional<std::size_t> first_match(std::string_view line) const;
  void for_each_line(std::string_view text, const MatchLimits& limits,
                     const std::function<void(std::string_view, std::int64_t)>& visit) const;
};

std::optional<std::size_t> LogMatcher::Compiled::first_match(std::string_view line) const {
  const re2::StringPiece piece(line.data(), line.size());
  std::vector<int> hits;
  RE2::Set::ErrorInfo info{};
  if (set.Match(piece, &hits, &info) && !hits.empty()) {
    return static_cast<std::size_t>(*std::min_element(hits.begin(), hits.end()));
  }
  if (info.kind == RE2::Set::kNoError) return std::nullopt;
  for (std::size_t i = 0; i < single.size(); ++i) {
    if (RE2::PartialMatch(piece, *single[i])) return i;
  }
  return std::nullopt;
}

void LogMatcher::Compiled::for_each_line(
    std::string_view text, const MatchLimits& limits,
    const std::function<void(std::string_view, std::int64_t)>& visit) const {
  std::int64_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line.substr(0, limits.max_line_bytes), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Result<LogMatcher> LogMatcher::load(const std::filesystem::path& user_file) {
  auto rules = read_rules(builtin_rules_yaml(), "built-in crash rules", {});
  if (!rules) return propagate(rules);
  if (!user_file.empty()) {
    auto text = read_file(user_file, max_file_bytes);
    if (!text) return propagate(text);
    rules = read_rules(*text, user_file.string(), std::move(*rules));
    if (!rules) return propagate(rules);
  }
  auto compiled = std::make_unique<Compiled>();
  for (Rule& rule : *rules) {
    if (!rule.enabled) continue;
    std::string problem;
    if (compiled->set.Add(rule.match, &problem) < 0) {
      return fail(ErrorKind::usage, "not a valid regular expression: " + problem, rule.id);
    }
    compiled->single.push_back(std::make_unique<RE2>(rule.match, pattern_options()));
    compiled->rules.push_back(std::move(rule));
  }
  if (!compiled->set.Compile()) {
    return fail(ErrorKind::usage, "all rules together need too much memory", user_file.string(),
                "use fewer or simpler patterns");
  }
  return LogMatcher(std::move(compiled));
}

LogMatcher::LogMatcher(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
LogMatcher::LogMatcher(LogMatcher&&) noexcept = default;
LogMatcher& LogMatcher::operator=(LogMatcher&&) noexcept = default;
LogMatcher::~LogMatcher() = default;

std::vector<Match> LogMatcher::match_lines(std::string_view text, const MatchLimits& limits) const {
  struct Seen {
    std::int64_t count = 0;
    std::int64_t line_number = 0;
    std::string line;
  };
  std::vector<Seen> seen(compiled_->rules.size());
  compiled_->for_each_line(text, limits, [&](std::string_view line, std::int64_t number) {
    const auto rule = compiled_->first_match(line);
    if (!rule || compiled_->rules[*rule].crash_class == "benign") return;
    Seen& entry = seen[*rule];
    if (entry.count++ > 0) return;
    entry.line_number = number;
    entry.line = printable_line(line, limits.max_kept_bytes);
  });

  std::vector<Match> matches;
  for (std::size_t i = 0; i < seen.size() && matches.size() < limits.max_matches; ++i) {
    if (seen[i].count == 0) continue;
    const Rule& rule = compiled_->rules[i];
    matches.push_back({rule.id, rule.crash_class, rule.transient, rule.remedy, rule.advice,
                       std::move(seen[i].line), seen[i].line_number, seen[i].count});
  }
  return matches;
}

std::int64_t LogMatcher::count_benign(std::string_view text, const MatchLimits& limits) const {
  std::int64_t benign = 0;
  compiled_->for_each_line(text, limits, [&](std::string_view line, std::int64_t /*number*/) {
    const auto rule = compiled_->first_match(line);
    if (rule && compiled_->rules[*rule].crash_class == "benign") ++benign;
  });
  return benign;
}

std::size_t LogMatcher::rule_count() const { return compiled_->rules.size(); }

}  // namespace trainward::rules
