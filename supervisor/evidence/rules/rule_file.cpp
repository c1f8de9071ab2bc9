#include "supervisor/evidence/rules/rule_file.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "common/base/text.hpp"
#include "common/yaml/map_reader.hpp"
#include "supervisor/evidence/rules/rule_pattern.hpp"

namespace trainward::rules {
namespace {

using yaml::MapReader;
using yaml::Node;

constexpr std::size_t max_rules = 1000;
constexpr std::size_t max_patterns_of_a_rule = 100;  // of a rule
constexpr std::size_t max_pattern_bytes = 2000;
constexpr std::size_t max_problems_told = 8;

bool valid_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::string problem_with(const std::string& pattern) {
  if (pattern.size() > max_pattern_bytes) {
    return fmt::format("longer than {} bytes", max_pattern_bytes);
  }
  const RE2 expression(pattern, pattern_options());
  if (!expression.ok()) return "not a valid regular expression: " + expression.error();
  if (RE2::PartialMatch("", expression)) {
    return "matches the empty line, so it would match every line";
  }
  return {};
}

// One pattern, or a list of them.
std::vector<std::string> read_patterns(MapReader& reader, std::vector<std::string> fallback,
                                       bool trusted) {
  const Node* node = reader.take("match");
  if (node == nullptr) return fallback;
  std::vector<const Node*> entries;
  if (node->kind == Node::Kind::list) {
    for (const Node& item : node->items) entries.push_back(&item);
  } else {
    entries.push_back(node);
  }
  if (entries.empty() || entries.size() > max_patterns_of_a_rule) {
    reader.report("match", *node, fmt::format("expected 1 to {} patterns", max_patterns_of_a_rule));
  }
  std::vector<std::string> patterns;
  for (const Node* entry : entries) {
    if (entry->kind != Node::Kind::scalar || entry->text.empty()) {
      reader.report("match", *entry, "expected a pattern, found " + describe(*entry));
    } else if (const std::string problem = trusted ? "" : problem_with(entry->text);
               !problem.empty()) {
      reader.report("match", *entry, problem);
    } else {
      patterns.push_back(entry->text);
    }
  }
  return patterns;
}

Strength read_strength(MapReader& reader, Strength fallback) {
  constexpr std::array<std::string_view, 4> words{"cause", "symptom", "cascade", "hint"};
  const std::string word = reader.one_of("strength", words, to_string(fallback));
  if (word == "symptom") return Strength::symptom;
  if (word == "cascade") return Strength::cascade;
  return word == "hint" ? Strength::hint : Strength::cause;
}

Scope read_scope(MapReader& reader, Scope fallback) {
  constexpr std::array<std::string_view, 3> words{"line", "exception", "message"};
  const std::string word = reader.one_of("in", words, words[static_cast<std::size_t>(fallback)]);
  if (word == "exception") return Scope::exception;
  return word == "message" ? Scope::message : Scope::line;
}

// Keys that rules of earlier releases have.
std::vector<yaml::Problem> read_former_keys(MapReader& reader) {
  std::vector<yaml::Problem> warnings;
  for (const char* key : {"remedy", "transient"}) {
    if (const Node* node = reader.take(key)) {
      warnings.push_back({node->mark, reader.path_of(key) +
                                          ": has no effect, and may be left out: what is done "
                                          "about a failure follows from its class"});
    }
  }
  return warnings;
}

// The keys of one entry over `rule`, which is an existing rule or an empty one.
void read_fields(MapReader& reader, Rule& rule, bool trusted) {
  if (rule.id.empty()) {
    reader.need("class", "the class of crash");
    reader.need("match", "a regular expression");
  }
  reader.take("id");
  set_line_class(rule, reader.one_of("class", line_classes(), line_class(rule.kind, rule.cause)));
  rule.match = read_patterns(reader, std::move(rule.match), trusted);
  rule.scope = read_scope(reader, rule.scope);
  rule.strength = read_strength(reader, rule.strength);
  rule.advice = reader.text("advice", rule.advice);
  rule.enabled = reader.boolean("enabled", rule.enabled);
  reader.finish();
}

std::string read_id(MapReader& reader) {
  reader.need("id", "a name of a-z 0-9 -");
  std::string id = reader.text("id", "");
  const Node* node = reader.node().find("id");
  if (node != nullptr && node->kind == Node::Kind::scalar && !valid_id(node->text)) {
    reader.report("id", *node, "expected 1 to 64 of a-z 0-9 -, found " + describe(*node));
  }
  return id;
}

struct Merger {
  std::vector<Rule> base;
  bool trusted;
  std::vector<Rule> added;
  std::set<std::string> seen;
  std::vector<yaml::Problem> warnings;

  void read(const Node& entry, std::size_t index, std::vector<yaml::Problem>& problems) {
    MapReader reader(entry, fmt::format("rules[{}]", index), problems);
    const std::string id = read_id(reader);
    if (!id.empty() && !seen.insert(id).second) {
      reader.report("id", *entry.find("id"), fmt::format("a second rule '{}' in this file", id));
    }
    for (yaml::Problem& warning : read_former_keys(reader)) warnings.push_back(std::move(warning));
    const auto old =
        std::find_if(base.begin(), base.end(), [&](const Rule& rule) { return rule.id == id; });
    if (old != base.end()) return read_fields(reader, *old, trusted);
    Rule rule;
    read_fields(reader, rule, trusted);
    rule.id = id;
    added.push_back(std::move(rule));
  }

  std::vector<Rule> take() {
    added.insert(added.end(), std::make_move_iterator(base.begin()),
                 std::make_move_iterator(base.end()));
    // A line counts for the first rule it matches: benign lines and masked words are taken
    // away before all, and only what is no fault can be progress.
    std::stable_sort(added.begin(), added.end(),
                     [](const Rule& a, const Rule& b) { return a.kind < b.kind; });
    return std::move(added);
  }
};

Error to_error(std::string_view file, std::vector<yaml::Problem> problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) {
    return std::pair(a.mark.line, a.mark.column) < std::pair(b.mark.line, b.mark.column);
  });
  std::string others;
  for (std::size_t i = 1; i < problems.size() && i < max_problems_told; ++i) {
    const auto& [mark, message] = problems[i];
    others += fmt::format("{}{}:{}: {}", i == 1 ? "also " : "; ", mark.line, mark.column, message);
  }
  if (problems.size() > max_problems_told) {
    others += fmt::format("; and {} more", problems.size() - max_problems_told);
  }
  const yaml::Mark& mark = problems.front().mark;
  return {ErrorKind::usage, problems.front().message,
          fmt::format("{}:{}:{}", file, mark.line, mark.column), std::move(others)};
}

}  // namespace

Result<RuleList> read_rules(std::string_view text, std::string_view file, std::vector<Rule> base,
                            bool trusted) {
  yaml::Document document = yaml::parse(text);
  MapReader reader(document.root, "", document.problems);
  reader.need("rules", "a list of rules");
  const Node* list = reader.take("rules");
  Merger merger{std::move(base), trusted, {}, {}, {}};
  if (list != nullptr && (list->kind != Node::Kind::list || list->items.size() > max_rules)) {
    reader.report("rules", *list, fmt::format("expected a list of at most {} rules", max_rules));
  } else if (list != nullptr) {
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      merger.read(list->items[i], i, document.problems);
    }
  }
  reader.finish();
  if (!document.problems.empty()) {
    return tl::unexpected(to_error(file, std::move(document.problems)));
  }
  RuleList list_of_all{merger.take(), {}};
  for (const auto& [mark, message] : merger.warnings) {
    list_of_all.warnings.push_back(
        fmt::format("{}:{}:{}: {}", file, mark.line, mark.column, message));
  }
  return list_of_all;
}

}  // namespace trainward::rules
