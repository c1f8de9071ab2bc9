#include <algorithm>

#include "common/text.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

std::string detail_of(const json::object& row, const std::string& state) {
  const std::int64_t attempts = int_or(row, "attempts", 0);
  std::string reason = clean(string_or(row, "reason", ""));
  if (state != "RUNNING") {
    if (!reason.empty()) return reason;
    return attempts == 0 ? "Not started" : string_or(row, "changed_at", "");
  }
  std::string text = fmt::format("pid {}, uptime {}", int_or(row, "pid", 0),
                                 clock_duration(int_or(row, "uptime_ms", 0)));
  if (const std::int64_t step = int_or(row, "last_step", 0); step > 0) {
    text += fmt::format(", step {}", step);
    if (const std::int64_t target = int_or(row, "target_step", 0); target > 0) {
      text += fmt::format("/{}", target);
    }
  }
  if (auto loss = get_number(row, "loss")) text += fmt::format(", loss {}", number_text(*loss));
  if (auto loss = get_number(row, "evaluation_loss")) {
    text += fmt::format(", held out {} at step {}", number_text(*loss),
                        int_or(row, "evaluated_step", 0));
  }
  if (attempts > 1) text += fmt::format(", attempt {}", int_or(row, "attempt", attempts));
  return text;
}

}  // namespace

std::string format_status(const json::array& rows, const Style& style) {
  std::size_t name_width = 33;
  std::size_t state_width = 10;
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    name_width = std::max(name_width, clean(string_or(row, "name", "-")).size() + 3);
    state_width = std::max(state_width, clean(string_or(row, "state", "UNKNOWN")).size() + 2);
  }
  std::string text;
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string state = clean(string_or(row, "state", "UNKNOWN"));
    text += fmt::format("{:<{}}", clean(string_or(row, "name", "-")), name_width);
    text += coloured(fmt::format("{:<{}}", state, state_width), colour_of(state), style);
    text += detail_of(row, state);
    text += '\n';
    if (const std::string trouble = clean(string_or(row, "trouble", "")); !trouble.empty()) {
      text += coloured("  !! " + trouble, Colour::red, style) + '\n';
    }
  }
  return text;
}

}  // namespace trainward::ctl
