#include "supervisor/ctl/base/status_lines.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/decide/view/deliveries.hpp"
#include "supervisor/decide/view/sentence.hpp"

namespace trainward::ctl {
namespace {

// Of a program that is down: since when, and why.
std::string down_text(const json::object& row, const std::string& reason, const Context& context) {
  const std::int64_t changed_ms = int_or(row, "changed_ms", 0);
  const std::int64_t now_ms = context.terminal.now.wall.ms;
  if (changed_ms <= 0) return reason;
  const std::string since =
      fmt::format("since {}, {}", short_time_text(changed_ms, now_ms, context.settings.utc),
                  age(now_ms - changed_ms));
  return reason.empty() ? since : since + ": " + reason;
}

std::string detail_of(const json::object& row, const std::string& state, const Context& context) {
  const std::int64_t attempts = int_or(row, "attempts", 0);
  const std::string reason = clean(string_or(row, "reason", ""));
  if (state != "RUNNING") {
    if (attempts == 0 && (reason.empty() || reason == "Not started")) return "Not started";
    const bool down = core::facts(core::shown_from(state)).down;
    return down ? down_text(row, reason, context) : reason;
  }
  std::string text = fmt::format("pid {}, uptime {}", int_or(row, "pid", 0),
                                 clock_duration(int_or(row, "uptime_ms", 0)));
  if (const std::string smaller = clean(string_or(row, "smaller_mesh", "")); !smaller.empty()) {
    text += fmt::format(", smaller mesh {}", smaller);
  }
  const std::int64_t step = int_or(row, "last_step", 0);
  std::string reached = step > 0 ? fmt::format("step {}", step) : "";
  if (const std::int64_t target = int_or(row, "target_step", 0); step > 0 && target > 0) {
    reached += fmt::format("/{}", target);
  }
  // What was reached before is another attempt's, and so is its loss.
  if (views::before_its_first_step(row)) {
    text += reached.empty() ? ", no step yet" : fmt::format(", no step yet ({} before)", reached);
  } else if (step > 0) {
    const auto loss = get_number(row, "loss");
    text += fmt::format(", {}, loss {}", reached, loss ? number_text(*loss) : "-");
  }
  if (auto loss = get_number(row, "evaluation_loss")) {
    text += fmt::format(", held out {} at step {}", number_text(*loss),
                        int_or(row, "evaluated_step", 0));
  }
  if (attempts > 1) text += fmt::format(", attempt {}", int_or(row, "attempt", attempts));
  return text;
}

}  // namespace

StatusLine status_line(const json::object& row, const Context& context) {
  const std::string state = string_or(row, "state", "UNKNOWN");
  std::string trouble = string_or(row, "trouble", "");
  const core::ShownFacts& shown = core::facts(core::shown_from(state));
  // A state that is bad by itself needs no second line.
  if (trouble.empty() && shown.tone != core::Tone::bad) {
    const auto sentence = views::sentence_of(row, context.terminal.now.wall.ms);
    if (sentence.need == views::Need::must) trouble = sentence.todo;
  }
  return {"", string_or(row, "name", "-"), state, detail_of(row, state, context), trouble};
}

std::string text_of(const std::vector<StatusLine>& lines, const Style& style) {
  std::size_t host_width = 0;
  const bool hosts = std::any_of(lines.begin(), lines.end(),
                                 [](const StatusLine& line) { return !line.host.empty(); });
  std::size_t name_width = hosts ? 0 : 33;  // supervisorctl's
  std::size_t state_width = 10;
  for (const StatusLine& line : lines) {
    if (hosts) host_width = std::max(host_width, clean(line.host).size() + 2);
    name_width = std::max(name_width, clean(line.name).size() + 3);
    state_width = std::max(state_width, clean(line.state).size() + 2);
  }
  std::string text;
  for (const StatusLine& line : lines) {
    const std::string state = clean(line.state);
    text += fmt::format("{:<{}}", clean(line.host), host_width);
    text += fmt::format("{:<{}}", clean(line.name), name_width);
    text += coloured(fmt::format("{:<{}}", state, state_width), colour_of(state), style);
    text += clean(line.detail) + '\n';
    if (!line.trouble.empty()) {
      text += coloured("  !! " + clean(line.trouble), Colour::red, style) + '\n';
    }
  }
  return text;
}

std::string deliveries_text(const json::object& document, const Context& context) {
  std::string text;
  for (const views::DeliveryLine& line :
       views::delivery_lines(document, context.terminal.now.wall.ms)) {
    const std::string said = clean(line.text);
    text += line.is_trouble ? coloured("!! " + said, Colour::red, context.style()) : said;
    text += '\n';
  }
  return text;
}

int exit_code_of(const json::array& rows, std::int64_t now_ms) {
  const bool bad = std::any_of(rows.begin(), rows.end(), [&](const json::value& value) {
    const json::object& row = value.get_object();
    return core::facts(core::shown_from(string_or(row, "state", ""))).down ||
           views::sentence_of(row, now_ms).need == views::Need::must;
  });
  return bad ? exit_status::not_all_running : exit_status::ok;
}

}  // namespace trainward::ctl
