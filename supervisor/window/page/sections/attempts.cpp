// Attempts, newest first: why each ended, what was done about it, and what it cost.
#include <fmt/format.h>

#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

// The cause, then what is known of it: the verdict, and the line it rests on where it is another.
Html how_it_ended(const json::object& row) {
  const std::string cause = string_or(row, "cause", "");
  const std::string name = views::cause_name(row);
  const std::string verdict = string_or(row, "verdict", "");
  const std::string evidence = string_or(row, "evidence", "");
  Html text = toned(views::tone_of(name), name);
  text += element("br");
  text += verdict.empty() ? muted(views::cause_words(cause)) : cut(verdict, 300);
  if (!evidence.empty() && verdict.find(evidence) == std::string::npos) {
    text += element("br");
    text += mono(cut(evidence, 300));
  }
  return text;
}

std::string took(const json::object& row, std::int64_t now_ms) {
  if (const auto seconds = get_number(row, "duration_s")) return views::human_seconds(*seconds);
  const std::int64_t began = ms_of(row, "started_at");
  if (began <= 0) return "-";
  // By the minute: what is shown changes no more often than that.
  return now_ms - began < 60'000 ? "under 1 min so far" : views::span(now_ms - began) + " so far";
}

Html number_of(const json::object& row, const View& view) {
  const std::int64_t number = int_or(row, "attempt", 0);
  const std::string text = views::grouped(number);
  if (view.still) return text;
  const Url why = Url::path({"programs", view.program})
                      .query("attempt", std::to_string(number))
                      .fragment("why");
  return element("a", {{"href", why}, {"aria-label", "why attempt " + text + " ended"}}, {text});
}

}  // namespace

Html attempts_section(const Documents& documents) {
  const View& view = documents.view;
  if (documents.attempts.empty()) {
    return titled(
        "attempts", "Attempts",
        element("p", {},
                {view.before ? "There are no older attempts." : "It has had no attempt yet."}));
  }
  Table table("Attempts, the newest first", {{"attempt"},
                                             {"began"},
                                             {"took", true},
                                             {"how it ended"},
                                             {"what was done"},
                                             {"steps", true},
                                             {"kept", true},
                                             {"lost", true},
                                             {"board"}});
  std::int64_t oldest = 0;
  std::int64_t shown = 0;
  bool more = false;
  views::for_each_row(documents.attempts, [&](const json::object& row) {
    if (shown == attempts_shown) {
      more = true;
      return;
    }
    ++shown;
    oldest = int_or(row, "attempt", 0);
    const std::int64_t last = int_or(row, "last_step", 0);
    const std::string steps =
        last > 0 ? fmt::format("{} to {}", views::grouped(int_or(row, "first_step", 0)),
                               views::grouped(last))
                 : "-";
    table.add({number_of(row, view), moment(ms_of(row, "started_at")), took(row, view.now_ms),
               how_it_ended(row),
               views::still_runs(row) ? std::string("-")
                                      : views::remedy_words(string_or(row, "remedy", "")),
               steps, number_or_dash(row, "steps_kept"), number_or_dash(row, "steps_lost"),
               element("span", {{"class", "mono serial"}}, {cut(views::short_boards(row), 80)})},
              fmt::format("attempt-{}", oldest));
  });
  Html content = table.html();
  content += element("p", {},
                     {muted("Kept and lost are steps: lost is what an attempt did beyond the place "
                            "from which the next one goes on.")});
  if (more && !view.still) {
    const Url older = Url::path({"programs", view.program})
                          .query("before", std::to_string(oldest))
                          .fragment("attempts");
    content += element("p", {}, {element("a", {{"href", older}}, {"Older attempts"})});
  } else if (more) {
    content += element("p", {},
                       {muted("Older attempts are left out; trainwardctl history has "
                              "them.")});
  }
  return titled("attempts", "Attempts", content);
}

}  // namespace trainward::page
