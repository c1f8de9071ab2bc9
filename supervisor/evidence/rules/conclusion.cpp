#include "supervisor/evidence/rules/conclusion.hpp"

#include <algorithm>

#include "supervisor/decide/core/turn/classify.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::rules {
namespace {

namespace weight = core::weight;

bool opaque(const Finding& finding) { return finding.cause == core::Cause::unknown; }

int weight_of(const Finding& finding) {
  if (finding.overcome) return weight::overcome;
  switch (finding.strength) {
    case Strength::cause:
      return weight::log_cause;
    case Strength::symptom:
      return opaque(finding) ? weight::unknown_symptom : weight::symptom;
    case Strength::cascade:
      return opaque(finding) ? weight::weak_ending : weight::log_cascade;
    case Strength::hint:
      return weight::general;
  }
  return weight::general;
}

bool convicts(const Finding& finding) {
  return !finding.overcome && finding.strength != Strength::hint;
}

bool before(const Finding& a, const Finding& b) {
  if (a.weight != b.weight) return a.weight > b.weight;
  if (a.overcome) return a.last_line > b.last_line;
  if (a.strength == Strength::symptom && b.strength == Strength::symptom && a.stream == b.stream &&
      a.line_number != b.line_number) {
    return a.line_number < b.line_number;
  }
  return a.order < b.order;
}

// Nothing for an ending that is no failure.
std::optional<Finding> from_ending(const Ending& ending) {
  if (!ending.signal && ending.exit_code.value_or(0) == 0) return std::nullopt;
  const core::Evidence evidence =
      ending.signal ? core::from_signal(*ending.signal) : core::from_exit_code(*ending.exit_code);
  Finding finding;
  finding.rule = "exit-status";
  finding.cause = evidence.cause;
  finding.strength = Strength::symptom;
  finding.advice = core::facts(evidence.cause).advice;
  finding.line = evidence.text;
  finding.count = 1;
  finding.weight = evidence.weight;
  finding.order = static_cast<std::size_t>(-1);
  return finding;
}

}  // namespace

void conclude(Conclusion& conclusion, const Ending& ending, std::size_t max_findings) {
  auto& findings = conclusion.findings;
  for (Finding& finding : findings) finding.weight = weight_of(finding);
  conclusion.failed = std::any_of(findings.begin(), findings.end(), convicts);
  if (ending.exit_code == 0 && !ending.signal) conclusion.failed = false;
  if (auto finding = from_ending(ending)) {
    conclusion.failed = true;
    findings.push_back(std::move(*finding));
  }
  std::stable_sort(findings.begin(), findings.end(), before);
  if (findings.size() > max_findings) findings.resize(max_findings);
  int next = weight::log_cause;
  for (Finding& finding : findings) {
    if (finding.weight != weight::log_cause) continue;
    finding.weight = next;
    next = std::max(next - 1, weight::least_log_cause);
  }
}

}  // namespace trainward::rules
