#include "supervisor/evidence/rules/log_matcher.hpp"

#include <re2/filtered_re2.h>
#include <re2/set.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/os/file.hpp"
#include "supervisor/evidence/rules/builtin_rules.hpp"
#include "supervisor/evidence/rules/line_shape.hpp"
#include "supervisor/evidence/rules/rule_file.hpp"
#include "supervisor/evidence/rules/rule_pattern.hpp"

namespace trainward::rules {
namespace {

constexpr std::size_t max_file_bytes = 1024 * 1024;
// Fixed text shorter than this is in every log.
constexpr int least_text_bytes = 3;
// Most of it is for logs that are all different; past it the search starts over and continues.
constexpr std::int64_t texts_memory_bytes = 16 * 1024 * 1024;

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

RE2::Options any_case() {
  RE2::Options options = pattern_options();
  options.set_case_sensitive(false);
  return options;
}

std::string traceback_pattern() {
  std::string pattern;
  for (const std::string_view text : traceback_texts) {
    if (!pattern.empty()) pattern += '|';
    pattern += RE2::QuoteMeta(re2::StringPiece(text.data(), text.size()));
  }
  return pattern;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct LogMatcher::Compiled {
  std::vector<Rule> rules;
  std::vector<std::string> warnings;
  // The patterns of all rules, one after the other, and traceback_mark(): PatternId counts them.
  re2::FilteredRE2 patterns{least_text_bytes};
  std::unique_ptr<RE2::Set> texts;  // what `patterns` wants to be told about a line
  std::vector<RuleId> rule_of;      // of each pattern

  Status add(const std::string& pattern, const RE2::Options& options, const std::string& where) {
    int id = 0;
    if (patterns.Add(pattern, options, &id) == RE2::NoError) return {};
    return fail(ErrorKind::usage, "not a regular expression: " + pattern, where);
  }
  // After the last add().
  Status find_texts(const std::string& where) {
    std::vector<std::string> wanted;
    patterns.Compile(&wanted);
    RE2::Options options = any_case();
    options.set_max_mem(texts_memory_bytes);
    texts = std::make_unique<RE2::Set>(options, RE2::UNANCHORED);
    for (const std::string& text : wanted) texts->Add(RE2::QuoteMeta(text), nullptr);
    if (texts->Compile()) return {};
    return fail(ErrorKind::usage, "more patterns than can be searched for at once", where);
  }
  void candidates(std::string_view line, std::vector<PatternId>& found) const {
    std::vector<int> seen;
    RE2::Set::ErrorInfo error{};
    if (texts->Match(piece(line), &seen, &error) || error.kind == RE2::Set::kNoError) {
      return patterns.AllPotentials(seen, &found);
    }
    // The search ran out of its memory: every pattern may match.
    found.resize(rule_of.size() + 1);
    std::iota(found.begin(), found.end(), 0);
  }

  const RE2& compiled(PatternId id) const { return patterns.GetRE2(id); }
  bool matches(PatternId id, std::string_view text) const {
    return RE2::PartialMatch(piece(text), compiled(id));
  }
  void mask(PatternId id, std::string& text) const {
    RE2::GlobalReplace(&text, compiled(id), masked);
  }
  const Rule& rule(PatternId id) const { return rules[rule_of[static_cast<std::size_t>(id)]]; }
  bool is_pattern(PatternId id) const { return id < static_cast<PatternId>(rule_of.size()); }
  // Behind `id`: with none, there is nothing to mask words from.
  bool any_fault(const std::vector<PatternId>& candidates, PatternId id) const {
    return std::any_of(candidates.rbegin(), candidates.rend(), [&](PatternId other) {
      return other > id && is_pattern(other) && rule(other).kind == Kind::fault;
    });
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
    for (const std::string& pattern : compiled->rules[rule].match) {
      if (auto ok = compiled->add(pattern, pattern_options(), user_file.string()); !ok) {
        return propagate(ok);
      }
      compiled->rule_of.push_back(static_cast<RuleId>(rule));
    }
  }
  if (auto ok = compiled->add(traceback_pattern(), any_case(), ""); !ok) return propagate(ok);
  if (auto ok = compiled->find_texts(user_file.string()); !ok) return propagate(ok);
  return LogMatcher(std::move(compiled));
}

LogMatcher::LogMatcher(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
LogMatcher::LogMatcher(LogMatcher&&) noexcept = default;
LogMatcher& LogMatcher::operator=(LogMatcher&&) noexcept = default;
LogMatcher::~LogMatcher() = default;

void LogMatcher::candidates(std::string_view line, std::vector<PatternId>& candidates) const {
  compiled_->candidates(line, candidates);
}

std::optional<LogMatcher::LineMatch> LogMatcher::match(
    std::string_view line, const std::vector<PatternId>& candidates) const {
  std::optional<std::string_view> exception;
  std::optional<LineMatch> found;
  std::string without;  // masked words; may be empty
  for (const PatternId id : candidates) {
    if (!compiled_->is_pattern(id)) break;
    const RuleId number = compiled_->rule_of[static_cast<std::size_t>(id)];
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

const std::vector<std::string>& LogMatcher::warnings() const { return compiled_->warnings; }

PatternId LogMatcher::traceback_mark() const {
  return static_cast<PatternId>(compiled_->rule_of.size());
}

}  // namespace trainward::rules
