#include "supervisor/rules/log_matcher.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "common/file.hpp"
#include "supervisor/rules/builtin_rules.hpp"
#include "supervisor/rules/line_shape.hpp"
#include "supervisor/rules/pattern.hpp"
#include "supervisor/rules/rule_file.hpp"

namespace trainward::rules {
namespace {

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::size_t max_patterns = 60'000;

// What stands in the place of masked words: no letter, digit or blank, or what is left would read
// on.
const std::string masked = "~";

// After a fault, only a stronger one that names a class and what softens it are of interest;
// without one, advice is of none.
bool worth_trying(const Rule& rule, const Rule* found) {
  if (found == nullptr) return rule.kind != Kind::advice;
  return rule.kind == Kind::advice ||
         (rule.kind == Kind::fault && rule.strength < found->strength &&
          rule.cause != core::Cause::unknown);
}

struct LazyPattern {
  std::once_flag once;
  std::unique_ptr<RE2> compiled;
};

}  // namespace

struct LogMatcher::Compiled {
  std::vector<Rule> rules;
  std::vector<std::string> warnings;
  // The patterns of all rules, one after the other: PatternId counts them.
  std::vector<std::pair<RuleId, std::uint16_t>> origin;  // rule, place in its list
  LiteralFilter filter;
  std::unique_ptr<LazyPattern[]> patterns;  // NOLINT(*-avoid-c-arrays): once_flag cannot move

  bool matches(PatternId id, std::string_view text) const {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled(id));
  }
  void mask(PatternId id, std::string& text) const {
    RE2::GlobalReplace(&text, compiled(id), masked);
  }
  // Behind `id`: with none, there is nothing to mask words from.
  bool any_fault(const std::vector<PatternId>& candidates, PatternId id) const {
    return std::any_of(candidates.rbegin(), candidates.rend(), [&](PatternId other) {
      return other > id && other < origin.size() && rules[origin[other].first].kind == Kind::fault;
    });
  }
  const RE2& compiled(PatternId id) const {
    LazyPattern& pattern = patterns[id];
    std::call_once(pattern.once, [&] {
      const auto [rule, place] = origin[id];
      pattern.compiled = std::make_unique<RE2>(rules[rule].match[place], pattern_options());
    });
    return *pattern.compiled;
  }
};

Result<LogMatcher> LogMatcher::load(const std::filesystem::path& user_file) {
  auto rules = read_rules(builtin_rules_yaml(), "built-in crash rules", {}, true);
  if (!rules) return propagate(rules);
  if (!user_file.empty()) {
    auto text = read_file(user_file, max_file_bytes);
    if (!text) return propagate(text);
    rules = read_rules(*text, user_file.string(), std::move(rules->rules));
    if (!rules) return propagate(rules);
  }
  auto compiled = std::make_unique<Compiled>();
  std::erase_if(rules->rules, [](const Rule& rule) { return !rule.enabled; });
  compiled->rules = std::move(rules->rules);
  compiled->warnings = std::move(rules->warnings);
  for (std::size_t rule = 0; rule < compiled->rules.size(); ++rule) {
    const auto& match = compiled->rules[rule].match;
    for (std::size_t place = 0; place < match.size(); ++place) {
      compiled->filter.add(static_cast<PatternId>(compiled->origin.size()),
                           required_texts(match[place]));
      compiled->origin.emplace_back(static_cast<RuleId>(rule), static_cast<std::uint16_t>(place));
    }
  }
  if (compiled->origin.size() > max_patterns) {
    return fail(ErrorKind::usage, fmt::format("more than {} patterns in all", max_patterns),
                user_file.string());
  }
  const std::vector<std::string> texts(std::begin(traceback_texts), std::end(traceback_texts));
  compiled->filter.add(static_cast<PatternId>(compiled->origin.size()), texts);
  compiled->filter.finish();
  compiled->patterns =
      std::make_unique<LazyPattern[]>(compiled->origin.size());  // NOLINT: as above
  return LogMatcher(std::move(compiled));
}

LogMatcher::LogMatcher(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
LogMatcher::LogMatcher(LogMatcher&&) noexcept = default;
LogMatcher& LogMatcher::operator=(LogMatcher&&) noexcept = default;
LogMatcher::~LogMatcher() = default;

void LogMatcher::candidates(std::string_view line, std::vector<PatternId>& candidates) const {
  compiled_->filter.candidates(line, candidates);
}

std::optional<LogMatcher::LineMatch> LogMatcher::match(
    std::string_view line, const std::vector<PatternId>& candidates) const {
  std::optional<std::string_view> exception;
  std::optional<LineMatch> found;
  std::string without;  // masked words; empty: there are none
  for (const PatternId id : candidates) {
    if (id >= compiled_->origin.size()) break;
    const RuleId number = compiled_->origin[id].first;
    const Rule& rule = compiled_->rules[number];
    if (!worth_trying(rule, found ? &compiled_->rules[found->rule] : nullptr)) continue;
    if (rule.kind == Kind::mask) {
      if (!compiled_->any_fault(candidates, id)) continue;
      if (without.empty()) without = line;
      compiled_->mask(id, without);
      exception.reset();
      continue;
    }
    const std::string_view seen = without.empty() ? line : std::string_view(without);
    if (rule.scope != Scope::line && !exception) exception = exception_part(seen);
    if (rule.scope == Scope::message && !exception->empty()) continue;
    // A step counts whatever is masked.
    const bool goes_on = rule.kind == Kind::progress || rule.kind == Kind::finished;
    const std::string_view whole = goes_on ? line : seen;
    const std::string_view text = rule.scope == Scope::exception ? *exception : whole;
    if (text.empty() || !compiled_->matches(id, text)) continue;
    if (rule.kind == Kind::advice) {
      found->advised = true;
      break;
    }
    found = LineMatch{number, false};
    if (rule.kind != Kind::fault) break;
  }
  return found;
}

const Rule& LogMatcher::rule(RuleId id) const { return compiled_->rules[id]; }

std::size_t LogMatcher::rule_count() const { return compiled_->rules.size(); }

const std::vector<std::string>& LogMatcher::warnings() const { return compiled_->warnings; }

PatternId LogMatcher::traceback_mark() const {
  return static_cast<PatternId>(compiled_->origin.size());
}

std::string LogMatcher::describe(PatternId id) const {
  const auto [rule, place] = compiled_->origin[id];
  return compiled_->rules[rule].id + ": " + compiled_->rules[rule].match[place];
}

std::vector<std::string> LogMatcher::unfiltered_patterns() const {
  std::vector<PatternId> always;
  compiled_->filter.candidates("", always);
  std::vector<std::string> patterns;
  patterns.reserve(always.size());
  for (const PatternId id : always) patterns.push_back(describe(id));
  return patterns;
}

}  // namespace trainward::rules
