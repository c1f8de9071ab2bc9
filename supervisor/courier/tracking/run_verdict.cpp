#include "supervisor/courier/tracking/run_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "common/base/time.hpp"

namespace trainward::tracking {
namespace {

std::string exit_text(const store::AttemptRow& attempt) {
  if (attempt.exit_signal) return fmt::format(", signal {}", *attempt.exit_signal);
  if (attempt.exit_code) return fmt::format(", exit status {}", *attempt.exit_code);
  return "";
}

}  // namespace

std::string plain_markdown(std::string_view text) {
  std::string out;
  for (const char c : clean(text)) {
    if (std::string_view("\\`*_{}[]<>()#+!|~&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string verdict_markdown(const store::AttemptRow& attempt) {
  std::string text = fmt::format(
      "**Attempt {} ended {}: {}**{}", attempt.number,
      attempt.last_step > 0 ? fmt::format("after step {}", attempt.last_step)
                            : std::string("before its first step"),
      plain_markdown(attempt.cause.empty() ? "unknown" : attempt.cause), exit_text(attempt));
  if (!attempt.verdict.empty()) text += "\n\n" + plain_markdown(attempt.verdict);
  text += "\n\n";
  if (attempt.kept_step > 0) {
    text += fmt::format("- newest whole checkpoint: step {}\n", attempt.kept_step);
  }
  const std::int64_t lost = attempt.last_step - std::max(attempt.kept_step, attempt.resume_step);
  if (attempt.told_to_resume && attempt.last_step > 0 && lost > 0 && attempt.cause != "done") {
    text += fmt::format("- to be done again: {}\n", count(lost, "step"));
  }
  if (!attempt.remedy.empty()) {
    text += fmt::format("- what was done about it: {}\n", plain_markdown(attempt.remedy));
  }
  if (attempt.ended_ms > 0) text += fmt::format("- at {}\n", iso8601(attempt.ended_ms));
  return text;
}

}  // namespace trainward::tracking
