#include "supervisor/decide/view/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "common/base/text.hpp"
#include "common/protocol/step_figures.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/view/device_view.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::views {
namespace {

using core::Shown;
using core::Tone;

constexpr std::size_t longest_name = 80;
constexpr const char* start_daemon =
    "start trainwardd with the command you used before; it is not running";

Glyph glyph_of(Shown shown, Tone tone) {
  if (shown == Shown::exited && tone == Tone::quiet) return {"✓", '+'};
  return views::glyph_of(tone);
}

// Nothing for a time that is not known.
std::optional<std::int64_t> since(const json::object& row, std::string_view key,
                                  std::int64_t now_ms) {
  const std::int64_t at_ms = int_or(row, key, 0);
  return at_ms > 0 ? std::optional(std::max<std::int64_t>(now_ms - at_ms, 0)) : std::nullopt;
}

// "RUNNING for 3 h"
std::string beginning(const json::object& row, const core::ShownFacts& shown, std::int64_t now_ms) {
  const bool runs = shown.shown == Shown::running;
  auto lasts = since(row, runs ? "started_ms" : "changed_ms", now_ms);
  if (runs && !lasts && int_or(row, "uptime_ms", 0) > 0) lasts = int_or(row, "uptime_ms", 0);
  return lasts ? fmt::format("{} for {}", shown.name, span(*lasts)) : std::string(shown.name);
}

// "step 41,200 of 50,000"; empty before the first.
std::string place(const json::object& row) {
  const std::int64_t step = int_or(row, "last_step", 0);
  if (step <= 0) return {};
  const std::int64_t target = int_or(row, "target_step", 0);
  return target > 0 ? fmt::format("step {} of {}", grouped(step), grouped(target))
                    : fmt::format("step {}", grouped(step));
}

// "step 41,200 of 50,000, loss 2.310, effective 87 %, attempt 12"
std::string progress(const json::object& row) {
  std::string text = place(row);
  if (text.empty()) text = "no step yet";
  if (before_its_first_step(row)) {
    // What was reached before is another attempt's, and so is its loss.
    text = int_or(row, "last_step", 0) > 0 ? fmt::format("no step yet, {} before", place(row))
                                           : "no step yet";
  } else if (const auto loss = get_number(row, "loss"); loss && std::isfinite(*loss)) {
    text += fmt::format(", loss {}", number_text(*loss));
  }
  if (const auto share = get_number(row, "effective_share"); share && std::isfinite(*share)) {
    text += fmt::format(", effective {:.0f} %", std::clamp(*share, 0.0, 1.0) * 100);
  }
  if (int_or(row, "attempts", 0) > 1) {
    text += fmt::format(", attempt {}", grouped(int_or(row, "attempt", 0)));
  }
  return text;
}

// The reason without the state's own name before it: "STOPPING: stopping: waiting for …".
std::string reason_of(const json::object& row, const core::ShownFacts& shown) {
  std::string reason = said(string_or(row, "reason", ""));
  const std::string own = lower_case(shown.name) + ": ";
  if (lower_case(reason.substr(0, own.size())) == own) reason.erase(0, own.size());
  if (lower_case(reason) == lower_case(shown.name)) reason.clear();
  return reason;
}

std::string with(std::string text, std::string_view joint, const std::string& more) {
  return more.empty() ? text : std::move(text) + std::string(joint) + more;
}

std::string_view advice_of(const json::object& row) {
  return core::facts(core::cause_from(string_or(row, "cause", ""))).advice;
}

std::string upper_first(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = upper_case(text.substr(0, 1))[0];
  return text;
}

struct Rest {
  Need need = Need::nothing;
  std::string what;  // the end of the sentence, without a full stop
  std::string todo = {};
  bool starts = false;  // todo says how to start it
};

core::Snag snag_of(const json::object& row, std::int64_t now_ms) {
  return int_or(row, "snag_from_ms", 0) <= now_ms ? core::snag_from(string_or(row, "snag", ""))
                                                  : core::Snag::none;
}

// What holds it, and what is done about that: with the advice on how it ends, where that is what
// holds it.
Rest held_rest(const json::object& row, core::Snag snag, const std::string& name) {
  const core::SnagFacts& facts = core::facts(snag);
  std::string todo = upper_first(std::string(facts.todo));
  const std::string_view advice = advice_of(row);
  if (snag == core::Snag::same_end && !advice.empty()) todo = upper_first(std::string(advice));
  if (todo.find("trainwardctl ") == std::string::npos) todo += ". Look: " + command_of("why", name);
  return {Need::must, fmt::format("your action is needed: {}", facts.words), std::move(todo)};
}

// `start`: how the program is started, in words.
Rest rest_of(const json::object& row, Shown shown, const std::string& name,
             const std::string& start, std::int64_t now_ms) {
  const core::Snag snag = snag_of(row, now_ms);
  const Need need = core::need_of(shown, snag);
  switch (shown) {
    case Shown::running:
    case Shown::starting:
    case Shown::stopping:
    case Shown::backoff:
      if (need == Need::must) return held_rest(row, snag, name);
      return {need, shown == Shown::backoff ? "nothing to do, trainwardd goes on by itself"
                                            : "nothing to do"};
    case Shown::exited:
      return {need, "nothing to do"};
    case Shown::stopped:
      return {need, "start it when you like", "To go on: " + start, true};
    case Shown::unkillable:
      return {need, "your action is needed if it stays so",
              "Wait for the process to end: the next attempt starts then. If it stays, restart the "
              "machine, since nothing else ends it"};
    case Shown::fatal: {
      const std::string_view advice = advice_of(row);
      return {need, "your action is needed",
              fmt::format("{}, then: {}",
                          advice.empty() ? "Remove the cause" : upper_first(std::string(advice)),
                          start),
              true};
    }
    case Shown::unknown:
      break;
  }
  return {need, "you may have to look",
          "Ask for its state with the trainwardctl of the daemon's own version: " +
              command_of("status", name)};
}

}  // namespace

Glyph glyph_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return {"▶", '>'};
    case Tone::changing:
      return {"◌", '~'};
    case Tone::quiet:
      return {"■", '.'};
    case Tone::bad:
      break;
  }
  return {"✖", '!'};
}

bool before_its_first_step(const json::object& row) { return int_or(row, "first_step", 1) == 0; }

std::string command_of(std::string_view verb, std::string_view program) {
  std::string name = clean(program);
  const bool plain =
      !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain);
  if (!plain) {
    for (std::size_t at = 0; (at = name.find('\'', at)) != std::string::npos; at += 4) {
      name.replace(at, 1, "'\\''");
    }
    name = "'" + name + "'";
  }
  return fmt::format("trainwardctl {} {}", verb, name);
}

Sentence sentence_of(const json::object& row, std::int64_t now_ms, bool daemon_runs) {
  const std::string told_state = said(string_or(row, "state", ""), longest_name);
  const core::ShownFacts& shown = core::facts(core::shown_from(told_state));
  const std::string name = said(string_or(row, "name", ""), longest_name);
  const std::string start = daemon_runs ? command_of("start", name) : start_daemon;
  Rest rest = rest_of(row, shown.shown, name, start, now_ms);
  Sentence sentence;
  sentence.tone = shown.tone;
  sentence.state = shown.name;

  std::string text = beginning(row, shown, now_ms);
  if (shown.shown == Shown::running) {
    const std::string smaller = said(string_or(row, "smaller_mesh", ""), longest_name);
    if (!smaller.empty()) text += fmt::format(" on a smaller mesh ({})", smaller);
    text += ", " + progress(row);
  } else {
    if (shown.over) text = with(std::move(text), " at ", place(row));
    std::string reason = reason_of(row, shown);
    if (int_or(row, "attempts", 0) == 0 && reason.empty()) reason = "not started yet";
    if (shown.shown == Shown::unknown && told_state != shown.name && !told_state.empty()) {
      reason = with(fmt::format("the state {} is of another version", told_state), ", ", reason);
    }
    text = with(std::move(text), ": ", reason);
    const std::int64_t left_ms = int_or(row, "waits_until_ms", 0) - now_ms;
    if (shown.shown == Shown::backoff && left_ms > 0) {
      text += fmt::format(", next attempt in {}", span(left_ms));
    }
  }
  if (rest.need == Need::must) sentence.tone = Tone::bad;
  if (const std::string trouble = said(string_or(row, "trouble", "")); !trouble.empty()) {
    sentence.tone = Tone::bad;
    rest.need = Need::must;
    rest.what = "your action is needed, since trainwardd cannot look after it as it should";
    std::string todo = "Set right what is in the way: " + trouble;
    if (!rest.todo.empty()) todo += ". " + rest.todo;
    rest.todo = std::move(todo);
  }
  const bool finished = shown.shown == Shown::exited && rest.todo.empty();
  if (!daemon_runs && !rest.starts && !finished) {
    rest.todo += (rest.todo.empty() ? "" : ". ") + upper_first(start_daemon);
  }
  sentence.text = fmt::format("{}; {}.", text, rest.what);
  sentence.todo = std::move(rest.todo);
  sentence.need = rest.need;
  const Glyph glyph = glyph_of(shown.shown, sentence.tone);
  sentence.glyph = glyph.character;
  sentence.ascii_glyph = glyph.ascii;
  return sentence;
}

std::string newest_step_text(const json::object& row) {
  std::string text;
  const auto told = get_object(row, "figures");
  if (!told) return text;
  for (const StepFigure& figure : step_figures) {
    const auto value = get_number(**told, figure.name);
    if (!value || figure.name == "loss") continue;
    text += (text.empty() ? "" : ", ") + figure_text(figure, *value);
  }
  const std::string devices = devices_text(list_in(row, "devices"));
  return devices.empty() ? text : text + (text.empty() ? "" : "; ") + devices;
}

std::string next_step(const Sentence& sentence, std::string_view program) {
  if (!sentence.todo.empty()) return sentence.todo;
  if (sentence.state == core::to_string(Shown::exited)) {
    return "nothing to do. The whole run: " + command_of("report", program);
  }
  return fmt::format("nothing to do: trainwardd goes on by itself ({})", sentence.state);
}

std::vector<Told> told_of(const json::array& rows, std::int64_t now_ms) {
  std::vector<Told> programs;
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    std::string name = said(string_or(row, "name", ""), longest_name);
    if (name.empty()) name = "-";
    programs.push_back({std::move(name), &row, sentence_of(row, now_ms)});
  }
  std::stable_sort(programs.begin(), programs.end(), [](const Told& a, const Told& b) {
    return std::tie(a.sentence.need, a.name) < std::tie(b.sentence.need, b.name);
  });
  return programs;
}

std::string headline_of(const std::vector<Told>& programs) {
  if (programs.empty()) return "No program is configured.";
  const auto need = std::count_if(programs.begin(), programs.end(), [](const Told& told) {
    return told.sentence.need == Need::must;
  });
  const auto rests = std::count_if(programs.begin(), programs.end(), [](const Told& told) {
    return told.sentence.need == Need::may;
  });
  std::string text = count(std::ssize(programs), "program");
  if (need == 0 && rests == 0) return text + "; nothing to do.";
  if (need > 0) text += fmt::format("; {} {} attention", need, need == 1 ? "needs" : "need");
  if (rests > 0) {
    text += fmt::format("; {} {} stopped until you start {}", rests, rests == 1 ? "is" : "are",
                        rests == 1 ? "it" : "them");
  }
  return text + ".";
}

}  // namespace trainward::views
