#include "supervisor/rules/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trainward::rules {
namespace {

constexpr int cause_weight = 60;
constexpr int last_cause_weight = 51;
constexpr int hint_weight = 30;

bool opaque(const Finding& finding) { return finding.crash_class == "unknown"; }

int weight_of(const Finding& finding) {
  if (finding.overcome) return 22;
  switch (finding.strength) {
    case Strength::cause:
      return cause_weight;
    case Strength::symptom:
      return opaque(finding) ? 32 : 45;
    case Strength::cascade:
      return opaque(finding) ? 25 : 35;
    case Strength::hint:
      return hint_weight;
  }
  return hint_weight;
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

Finding ending_finding(std::string crash_class, int weight, Transient transient, std::string remedy,
                       std::string line, std::string advice) {
  Finding finding;
  finding.rule = "exit-status";
  finding.crash_class = std::move(crash_class);
  finding.strength = Strength::symptom;
  finding.transient = transient;
  finding.remedy = std::move(remedy);
  finding.advice = std::move(advice);
  finding.line = std::move(line);
  finding.count = 1;
  finding.weight = weight;
  finding.order = static_cast<std::size_t>(-1);
  return finding;
}

Finding from_signal(int number) {
  const std::string line = fmt::format("ended by signal {}", number);
  switch (number) {
    case 9:
      return ending_finding("host_oom", 40, Transient::maybe, "retry", line,
                            "Something killed the process at once: most often the kernel, for "
                            "memory. Look at the kernel log.");
    case 7:
      return ending_finding("host_oom", 40, Transient::maybe, "retry", line,
                            "A bus error: most often shared memory or a mapped file ran out of "
                            "room.");
    case 11:
    case 4:
    case 8:
      return ending_finding("unknown", 40, Transient::maybe, "retry", line,
                            "The program itself crashed. Retry once, then look for the fault in "
                            "it or its libraries.");
    default:
      return ending_finding("unknown", 25, Transient::maybe, "retry", line,
                            "The process was told to end, or gave up. Look at what stands before.");
  }
}

// Nothing for an ending that is no failure.
std::optional<Finding> from_ending(const Ending& ending) {
  if (ending.signal) return from_signal(*ending.signal);
  const int code = ending.exit_code.value_or(0);
  if (code == 0) return std::nullopt;
  // The exit codes of Trainward's contract with a worker, then those of a shell.
  const std::string line = fmt::format("exit code {}", code);
  if (code == 75) {
    return ending_finding("unknown", 90, Transient::yes, "retry", line,
                          "The worker saved and asked to be started again.");
  }
  if (code == 78) {
    return ending_finding("config", 90, Transient::no, "operator", line,
                          "The worker refused its configuration.");
  }
  if (code == 93) {
    return ending_finding("unknown", 90, Transient::no, "operator", line,
                          "The worker asked not to be started again.");
  }
  if (code > 128 && code <= 128 + 31) return from_signal(code - 128);
  return ending_finding("unknown", 20, Transient::maybe, "retry", line,
                        "The program failed and the log does not say why.");
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
  int weight = cause_weight;
  for (Finding& finding : findings) {
    if (finding.weight != cause_weight) continue;
    finding.weight = weight;
    weight = std::max(weight - 1, last_cause_weight);
  }
  conclusion.crash_class = conclusion.failed ? findings.front().crash_class : "benign";
}

}  // namespace trainward::rules
