#include "supervisor/decide/notify/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/decide/core/need.hpp"
#include "supervisor/decide/core/remedy.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::notify {
namespace {

using views::grouped;
using views::said;

constexpr std::size_t longest_evidence = 300;

std::string steps(std::int64_t number) {
  return fmt::format("{} {}", grouped(number), number == 1 ? "step" : "steps");
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

class Words {
 public:
  explicit Words(const Telling& telling)
      : t_(telling), e_(telling.episode), cause_(core::facts(telling.episode.end.cause)) {}

  [[nodiscard]] std::string verdict() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] json::object fields() const;

 private:
  [[nodiscard]] bool over() const { return core::facts(core::shown(t_.state.stage)).over; }
  // Where the attempt that runs went on.
  [[nodiscard]] std::int64_t resumed_from() const {
    const core::Attempt& attempt = t_.state.current;
    return attempt.resume_step ? attempt.resume_step.number
                               : std::max<std::int64_t>(attempt.first_step.number - 1, 0);
  }
  [[nodiscard]] std::string begun() const {
    return resumed_from() > 0 ? "resumed from step " + grouped(resumed_from()) : "started over";
  }
  [[nodiscard]] std::string what_ended() const;
  [[nodiscard]] std::string evidence() const;
  [[nodiscard]] std::string done() const;
  [[nodiscard]] std::string lost() const;
  [[nodiscard]] std::string todo() const;
  [[nodiscard]] std::string act() const;
  [[nodiscard]] std::string look() const;
  [[nodiscard]] std::string opening() const;
  [[nodiscard]] bool of_an_end() const;
  [[nodiscard]] std::string page() const {
    return t_.policy.page.empty()
               ? ""
               : fmt::format("{}/programs/{}", t_.policy.page, views::percent_encoded(t_.program));
  }

  const Telling& t_;
  const Episode& e_;
  const core::CauseFacts& cause_;
};

// Whether the newest end is what this is about.
bool Words::of_an_end() const {
  switch (t_.kind) {
    case Kind::gave_up:
    case Kind::disk_full:
    case Kind::stuck:
    case Kind::crashed:
    case Kind::crash_loop:
    case Kind::loss:
      return true;
    case Kind::no_progress:
    case Kind::recovered:
    case Kind::closed:
      return of_ends(e_);
    default:
      return false;
  }
}

std::string Words::verdict() const {
  const std::string again = t_.again ? "still " : "";
  // A title of the word alone would say that the program is not known.
  const std::string_view cause =
      cause_.cause == core::Cause::unknown ? "unknown error" : cause_.name;
  switch (t_.kind) {
    case Kind::gave_up:
      return fmt::format("{}, {}given up (FATAL)", cause, again);
    case Kind::disk_full:
      return fmt::format("{}, {}nothing can be kept", cause, again);
    case Kind::stuck:
      if (core::held_by(t_.state).snag == core::Snag::missing_file) {
        return again + "a file is missing, it cannot start";
      }
      return fmt::format("{}, {}the same end {} times", cause, again,
                         core::equal_ends(t_.state.history));
    case Kind::crashed:
    case Kind::loss:
      if (e_.goes_on) return fmt::format("{}, {}", cause, begun());
      return fmt::format("{}, {}", cause, over() ? "not started again" : "starting again");
    case Kind::crash_loop:
      if (t_.often) return fmt::format("{}, {} times within a day", cause, t_.episodes);
      return fmt::format("{}, {} attempts without progress", cause,
                         t_.state.history.attempts_without_progress);
    case Kind::unkillable:
      return again + "unkillable, nothing can start";
    case Kind::no_board:
      return again + "no board can be used";
    case Kind::no_checkpoint:
      return again + "no checkpoint can be used";
    case Kind::no_progress:
      return fmt::format("{}no progress for {}", again,
                         views::span(std::max<std::int64_t>(t_.at_ms - t_.progress_ms, 0)));
    case Kind::board:
      return fmt::format("board {} is in quarantine",
                         views::short_serial(said(e_.family.substr(family::one_board.size()))));
    case Kind::recovered:
      if (e_.family.starts_with(family::one_board)) {
        return fmt::format("board {} may be used again",
                           views::short_serial(said(e_.family.substr(family::one_board.size()))));
      }
      if (of_ends(e_) && t_.state.history.kept_step) {
        return fmt::format("{}, recovered at step {}", cause_.name,
                           grouped(t_.state.history.kept_step.number));
      }
      return of_ends(e_)
                 ? fmt::format("{}, recovered", cause_.name)
                 : fmt::format("{}, over", e_.standing ? to_string(*e_.standing) : e_.family);
    case Kind::closed:
      return "stopped; no more messages about it";
    case Kind::done:
      return t_.state.current.last_step
                 ? "done at step " + grouped(t_.state.current.last_step.number)
                 : "done";
    default:
      return std::string(facts(t_.kind).words);
  }
}

std::string Words::what_ended() const {
  std::string text = fmt::format("attempt {} ended: {}", grouped(e_.end.attempt), cause_.name);
  if (e_.end.step > 0) text += " at step " + grouped(e_.end.step);
  if (t_.figures.attempts_today > 1) {
    text += fmt::format(" ({} in 24 h)", count(t_.figures.attempts_today, "attempt"));
  }
  return fmt::format("{}: {}.", text, cause_.words);
}

std::string Words::evidence() const {
  const std::string line = said(e_.end.evidence, longest_evidence);
  if (line.empty()) return sentence(said(e_.end.verdict, longest_evidence));
  const std::string place = said(e_.end.evidence_place, 80);
  return place.empty() ? fmt::format("Evidence: {}.", line)
                       : fmt::format("Evidence: {} \"{}\".", place, line);
}

// "Done: a smaller plan, resumed from step 3,200 on board …00c0c4."
std::string Words::done() const {
  std::string text;
  if (!e_.end.remedy.empty() && e_.end.remedy != to_string(core::Remedy::stop)) {
    text = views::remedy_words(e_.end.remedy);
  }
  const auto add = [&](const std::string& more) { text += text.empty() ? more : ", " + more; };
  if (core::shown(t_.state.stage) == core::Shown::fatal) {
    add("trainwardd has given up");
  } else if (over()) {
    add("nothing is started again");
  } else if (e_.goes_on) {
    add(begun());
    if (!t_.state.boards.board.empty()) text += " on board " + said(t_.state.boards.board, 60);
  } else {
    add("the next attempt begins by itself");
  }
  return fmt::format("Done: {}.", text);
}

std::string Words::lost() const {
  std::string text;
  if (e_.lost_steps > 0) text = steps(e_.lost_steps);
  if (e_.lost_ms >= 1000) text += (text.empty() ? "" : ", ") + human_duration(e_.lost_ms);
  if (text.empty()) return {};
  if (e_.ends > 1) text += fmt::format(" over {}", count(e_.ends, "attempt"));
  text = fmt::format("Lost: {}.", text);
  if (t_.figures.effective_share) {
    text += fmt::format(" Effective {:.0f} % of the last 24 h.",
                        std::clamp(*t_.figures.effective_share, 0.0, 1.0) * 100);
  }
  return text;
}

std::string Words::todo() const {
  if (facts(t_.kind).tier == Tier::critical && facts(t_.kind).todo.empty()) {
    std::string todo =
        views::sentence_of({{"name", t_.program},
                            {"state", core::display(t_.state.stage)},
                            {"cause", cause_.name},
                            {"snag", to_string(core::snag_at(t_.state, WallTime{t_.at_ms}))}},
                           t_.at_ms)
            .todo;
    // The message's last line says it.
    return todo.substr(0, todo.find(". Look: "));
  }
  if (!facts(t_.kind).todo.empty()) return std::string(facts(t_.kind).todo);
  return facts(t_.kind).tier == Tier::info ? "" : std::string(cause_.advice);
}

std::string Words::act() const {
  const std::string what = todo();
  switch (facts(t_.kind).tier) {
    case Tier::critical:
      return what.empty() ? "Your action is needed."
                          : fmt::format("Your action is needed: {}.", what);
    case Tier::warning:
      if (over()) return "It is not started again. If it should go on, start it.";
      return what.empty() ? "No action is needed now."
                          : fmt::format("No action is needed now. To prevent this: {}.", what);
    case Tier::info:
      break;
  }
  return "No action is needed.";
}

std::string Words::look() const {
  const std::string_view verb = t_.kind == Kind::done ? "report" : of_an_end() ? "why" : "status";
  std::string text = "Look: " + views::command_of(verb, t_.program);
  if (const std::string address = page(); !address.empty()) text += " or " + address;
  return text;
}

// What it is about, where that is no end of an attempt.
std::string Words::opening() const {
  const std::string lasted = views::span(std::max<std::int64_t>(t_.at_ms - e_.opened_ms, 0));
  const std::int64_t kept = t_.state.history.kept_step.number;
  const std::string at = kept > 0 ? "step " + grouped(kept) : "none";
  switch (t_.kind) {
    case Kind::no_progress:
      return fmt::format("nothing new was kept for {}; newest verified: {}. It is {}: {}.",
                         views::span(std::max<std::int64_t>(t_.at_ms - t_.progress_ms, 0)), at,
                         core::display(t_.state.stage), said(t_.state.reason));
    case Kind::crash_loop:
      if (t_.often) {
        return fmt::format(
            "it ended unplanned {} times, less than a day apart, and went on each "
            "time; further ones are told in the digest alone.",
            t_.episodes);
      }
      return fmt::format("{} attempts in a row ended without progress; newest verified: {}.",
                         t_.state.history.attempts_without_progress, at);
    case Kind::recovered:
      if (!of_ends(e_)) return fmt::format("over after {}: {}.", lasted, said(e_.what));
      return fmt::format("it is past its trouble after {} and {}; newest verified: {}.", lasted,
                         count(e_.ends, "unplanned end"), at);
    case Kind::closed:
      return fmt::format("{}; what was told of it is closed after {}.", said(t_.state.reason),
                         lasted);
    case Kind::done: {
      const core::State& state = t_.state;
      // It may say so and have stopped early.
      const std::string plain = fmt::format("done at step {}", state.current.last_step);
      if (state.reason.starts_with(plain + ":")) return sentence(said(state.reason));
      return fmt::format(
          "it finished its work{}, in {}.",
          state.current.last_step ? " at step " + grouped(state.current.last_step.number) : "",
          count(state.attempt, "attempt"));
    }
    default:
      return sentence(said(e_.what));
  }
}

std::string Words::text() const {
  std::string text = said(t_.program, 80) + ": ";
  if (t_.again) text += fmt::format("still so, since {}: ", views::utc_text(e_.opened_ms));
  const auto add = [&](const std::string& line) {
    if (!line.empty()) text += "\n" + line;
  };
  const bool plain_end = t_.kind == Kind::gave_up || t_.kind == Kind::disk_full ||
                         t_.kind == Kind::stuck || t_.kind == Kind::crashed ||
                         t_.kind == Kind::loss;
  if (plain_end) {
    text += what_ended();
  } else {
    text += opening();
    if (of_an_end()) add("The newest: " + what_ended());
  }
  if (of_an_end()) {
    if (t_.kind != Kind::recovered && t_.kind != Kind::closed) {
      add(evidence());
      add(done());
    }
    add(lost());
  }
  add(act());
  add(look());
  return text;
}

json::object Words::fields() const {
  const bool must = facts(t_.kind).tier == Tier::critical;
  json::object fields{{"program", std::string(t_.program)},
                      {"state", core::display(t_.state.stage)},
                      {"attempt", of_an_end() ? e_.end.attempt : t_.state.attempt},
                      {"must_act", must},
                      {"todo", todo()},
                      {"command", views::command_of(of_an_end() ? "why" : "status", t_.program)}};
  if (t_.target_step > 0) fields["target_step"] = t_.target_step;
  if (t_.state.history.kept_step) fields["kept_step"] = t_.state.history.kept_step.number;
  if (!t_.state.boards.board.empty()) fields["board"] = said(t_.state.boards.board, 60);
  if (const std::string address = page(); !address.empty()) fields["page"] = address;
  if (!e_.what.empty()) fields["what"] = said(e_.what);
  if (!of_an_end()) return fields;
  fields["cause"] = cause_.name;
  fields["step"] = e_.end.step;
  fields["verdict"] = said(e_.end.verdict);
  fields["evidence"] = said(e_.end.evidence, longest_evidence);
  fields["evidence_place"] = said(e_.end.evidence_place, 80);
  fields["remedy"] = e_.end.remedy;
  if (e_.goes_on) fields["resumed_from"] = resumed_from();
  fields["attempts"] = e_.ends;
  json::object causes;
  for (const auto& [cause, times] : e_.causes) causes[to_string(cause)] = times;
  fields["causes"] = std::move(causes);
  fields["lost_steps"] = e_.lost_steps;
  fields["lost_ms"] = e_.lost_ms;
  if (t_.figures.effective_share) fields["effective_share"] = *t_.figures.effective_share;
  return fields;
}

}  // namespace

Message worded(const Telling& telling) {
  const Words words(telling);
  Message message;
  message.program = telling.program;
  message.kind = telling.kind;
  message.tier = facts(telling.kind).tier;
  message.title = title_of(telling.program, words.verdict());
  message.text = words.text();
  message.fields = words.fields();
  if (message.tier != Tier::info) message.lines = telling.episode.end.lines;
  return message;
}

Message worded(Kind kind, std::string_view program, std::string_view title, std::string_view what,
               const Policy& policy) {
  const KindFacts& row = facts(kind);
  Message message;
  message.program = program;
  message.kind = kind;
  message.tier = row.tier;
  message.title = title_of(program.empty() ? "trainwardd" : program, title);
  message.text =
      fmt::format("{}: {}.", program.empty() ? "trainwardd" : said(program, 80), said(what, 1000));
  const bool must = row.tier == Tier::critical;
  if (!row.todo.empty()) {
    message.text += fmt::format(
        "\n{}: {}.", must ? "Your action is needed" : "No action is needed now", row.todo);
  } else if (!must) {
    message.text += "\nNo action is needed.";
  }
  const std::string command = "trainwardctl status";
  message.text += "\nLook: " + command;
  if (!policy.page.empty()) message.text += " or " + policy.page;
  message.fields = {{"program", std::string(program)},
                    {"what", said(what, 1000)},
                    {"must_act", must},
                    {"todo", std::string(row.todo)},
                    {"command", command}};
  return message;
}

}  // namespace trainward::notify
