#include "supervisor/decide/view/attempt_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/remedy.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::views {
namespace {

constexpr std::size_t longest_word = 60;

}  // namespace

bool still_runs(const json::object& attempt) {
  return string_or(attempt, "cause", "").empty() && string_or(attempt, "ended_at", "").empty() &&
         int_or(attempt, "ended_ms", 0) == 0;
}

std::string cause_name(const json::object& attempt) {
  if (still_runs(attempt)) return "running";
  const std::string cause = said(string_or(attempt, "cause", ""), longest_word);
  return cause.empty() ? "unknown" : cause;
}

std::string cause_words(std::string_view cause) {
  if (cause.empty() || cause == "running") return "it still runs";
  core::Cause known = core::Cause::unknown;
  if (!core::from_string(cause, known)) {
    return fmt::format("a cause of another version, {}", said(cause, longest_word));
  }
  return std::string(core::facts(known).words);
}

std::string remedy_words(std::string_view remedy) {
  if (remedy.empty()) return "nothing";
  core::Remedy known = core::Remedy::retry;
  return core::from_string(remedy, known) ? std::string(core::facts(known).words)
                                          : said(remedy, longest_word);
}

std::string lost_words(const json::object& attempt) {
  const auto lost = get_int(attempt, "steps_lost");
  if (!lost) return still_runs(attempt) ? "nothing lost yet" : "what was lost is not known yet";
  if (*lost <= 0) return still_runs(attempt) ? "nothing lost yet" : "nothing lost";
  return fmt::format("{} {} lost", grouped(*lost), *lost == 1 ? "step" : "steps");
}

std::string source_words(const json::object& attempt) {
  const std::string source = string_or(attempt, "source", "");
  const std::int64_t step = int_or(attempt, "resume_step", 0);
  if (source == "memory") {
    return fmt::format("from memory, where the attempt before had left step {}", grouped(step));
  }
  return source == "disk" ? fmt::format("from the checkpoint of step {}", grouped(step)) : "";
}

std::string steps_words(const json::object& attempt) {
  const std::int64_t last = int_or(attempt, "last_step", 0);
  const bool told = int_or(attempt, "told_to_resume", 1) != 0;
  if (last == 0 && told) {
    return fmt::format("none, it was to go on from step {}", int_or(attempt, "resume_step", 0));
  }
  if (last == 0) return "none seen; the program picks its own starting point";
  const std::string range = fmt::format("{} to {}: ", int_or(attempt, "first_step", 0), last);
  const std::string repeated = count_or_dash(attempt, "steps_replayed") + " repeated";
  if (!get_int(attempt, "steps_lost")) {
    return range + repeated + "; kept and lost are known once the next attempt starts";
  }
  return fmt::format("{}{} kept, {} lost, {}", range, count_or_dash(attempt, "steps_kept"),
                     count_or_dash(attempt, "steps_lost"), repeated);
}

std::string short_serial(const std::string& serial) {
  constexpr std::size_t shown = 6;
  if (serial.empty()) return "-";
  return serial.size() <= shown + 1 ? serial : "…" + serial.substr(serial.size() - shown);
}

std::string board_words(const json::object& attempt) {
  std::string words;
  for (const char c : string_or(attempt, "boards", string_or(attempt, "board", ""))) {
    words += c;
    if (c == ',') words += ' ';
  }
  return words;
}

std::string short_boards(const json::object& attempt) {
  const std::string first = short_serial(string_or(attempt, "board", ""));
  const std::string all = string_or(attempt, "boards", "");
  const auto more = std::ranges::count(all, ',');
  return more > 0 ? fmt::format("{} and {} more", first, more) : first;
}

std::string advice_words(std::string_view cause) {
  const std::string_view advice = core::facts(core::cause_from(cause)).advice;
  return advice.empty() ? "" : fmt::format("To prevent this: {}", advice);
}

core::Tone tone_of(std::string_view word) {
  if (const core::Shown shown = core::shown_from(word); to_string(shown) == word) {
    return core::facts(shown).tone;
  }
  if (core::Cause cause{}; core::from_string(word, cause) && !core::is_fault(cause)) {
    return cause == core::Cause::done ? core::Tone::good : core::Tone::quiet;
  }
  if (word == "OK" || word == "verified" || word == "running") return core::Tone::good;
  if (word == "BUSY" || word == "DEGRADED" || word == "RESETTING") return core::Tone::changing;
  return word == "pruned" ? core::Tone::quiet : core::Tone::bad;
}

}  // namespace trainward::views
