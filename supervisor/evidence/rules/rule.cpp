#include "supervisor/evidence/rules/rule.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace trainward::rules {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 5> other_kinds{{
    {"benign", Kind::benign},
    {"finished", Kind::finished},
    {"progress", Kind::progress},
    {"advice", Kind::advice},
    {"mask", Kind::mask},
}};

}  // namespace

std::string_view to_string(Strength strength) {
  switch (strength) {
    case Strength::cause:
      return "cause";
    case Strength::symptom:
      return "symptom";
    case Strength::cascade:
      return "cascade";
    case Strength::hint:
      return "hint";
  }
  return "hint";
}

std::span<const std::string_view> line_classes() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> all{"benign"};
    for (const core::CauseFacts& row : core::causes) {
      if (row.in_rules) all.push_back(row.name);
    }
    for (const auto& [word, kind] : other_kinds) {
      if (kind != Kind::benign) all.push_back(word);
    }
    return all;
  }();
  return words;
}

std::string_view line_class(Kind kind, core::Cause cause) {
  const auto* const other =
      std::ranges::find(other_kinds, kind, [](auto& row) { return row.second; });
  return other == other_kinds.end() ? to_string(cause) : other->first;
}

void set_line_class(Rule& rule, std::string_view word) {
  const auto* const other =
      std::ranges::find(other_kinds, word, [](auto& row) { return row.first; });
  rule.kind = other == other_kinds.end() ? Kind::fault : other->second;
  rule.cause = rule.kind == Kind::fault ? core::cause_from(word) : core::Cause::none;
}

}  // namespace trainward::rules
