// Why an attempt ended: the verdict, its evidence by weight, its time, and the log cut at the line
// that decided.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

constexpr std::size_t longest_excerpt_line = 400;
constexpr std::size_t most_excerpt_lines = 120;

Html evidence_of(const json::object& why) {
  std::vector<const json::object*> rows;
  views::for_each_row(why, "evidence", [&](const json::object& row) { rows.push_back(&row); });
  std::ranges::stable_sort(rows, [](const json::object* a, const json::object* b) {
    return int_or(*a, "weight", 0) > int_or(*b, "weight", 0);
  });
  if (rows.size() > 20) rows.resize(20);
  Table table("Evidence, the strongest first",
              {{"source"}, {"weight", true}, {"says"}, {"in these words"}, {"where"}});
  for (const json::object* row : rows) {
    table.add({cut(string_or(*row, "source", "-"), 60), number_or_dash(*row, "weight"),
               cut(views::or_dash(string_or(*row, "cause", "")), 60),
               mono(cut(string_or(*row, "text", ""), 400)),
               mono(cut(views::or_dash(string_or(*row, "location", "")), 200))});
  }
  return table.empty() ? Html() : table.html();
}

Html mono_or_none(const std::string& text, std::size_t longest) {
  return text.empty() ? Html() : mono(cut(text, longest));
}

Html phases_of(const json::object& why) {
  Table table("Where its time went", {{"phase"}, {"time", true}, {"after"}});
  int left = 40;
  views::for_each_row(why, "phases", [&](const json::object& row) {
    if (left-- <= 0) return;
    table.add({cut(string_or(row, "phase", "-"), 60),
               views::human_seconds(number_or(row, "seconds", 0)),
               cut(views::or_dash(string_or(row, "cause", "")), 60)});
  });
  return table.empty() ? Html() : details("Where its time went", "why-time", table.html());
}

Html excerpt_of(const json::object& why) {
  const auto found = get_object(why, "log");
  if (!found) return {};
  const json::object& log = **found;
  const std::int64_t first = int_or(log, "first_line", 1);
  const std::int64_t deciding = int_or(log, "deciding_line", 0);
  Html lines;
  std::int64_t number = first;
  for (const json::value& line : views::list_in(log, "lines")) {
    if (number - first >= static_cast<std::int64_t>(most_excerpt_lines)) break;
    const std::string text =
        line.is_string() ? cut(std::string(line.get_string()), longest_excerpt_line) : "";
    const std::string shown = text + "\n";
    lines += number == deciding ? element("mark", {}, {shown}) : Html(shown);
    ++number;
  }
  if (lines.empty()) return {};
  const std::string title =
      fmt::format("{} of attempt {}, lines {} to {}{}", cut(string_or(log, "stream", "log"), 40),
                  int_or(log, "attempt", 0), views::grouped(first), views::grouped(number - 1),
                  deciding > 0 ? fmt::format("; line {} decided", views::grouped(deciding)) : "");
  return join(
      {element("h3", {}, {title}),
       element("pre",
               {{"class", "excerpt"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", title}},
               {lines})});
}

}  // namespace

Html why_section(const Documents& documents) {
  const auto found = get_object(documents.why, "attempt");
  if (!found) {
    return titled("why", "Why",
                  element("p", {}, {"It has had no attempt yet, so nothing has ended."}));
  }
  const json::object& attempt = **found;
  const std::int64_t number = int_or(attempt, "attempt", 0);
  const bool runs = views::still_runs(attempt);
  const std::string cause = string_or(attempt, "cause", "");
  const std::string name = views::cause_name(attempt);
  Html content =
      element("p", {}, {toned(views::tone_of(name), name), ": ", views::cause_words(cause), "."});
  if (const std::string verdict = string_or(attempt, "verdict", ""); !verdict.empty()) {
    content += element("p", {}, {cut(verdict, 600)});
  }
  const auto seconds = get_number(attempt, "duration_s");
  const std::string exit = string_or(attempt, "exit", "");
  content +=
      facts({{"began", moment(ms_of(attempt, "started_at"))},
             {"ended", runs ? Html() : moment(ms_of(attempt, "ended_at"))},
             {"took", seconds ? Html(views::human_seconds(*seconds)) : Html("still running")},
             {"ended with", Html(cut(exit, 60))},
             {"boards", mono_or_none(views::board_words(attempt), 600)},
             {"mesh", Html(cut(string_or(attempt, "mesh", ""), 60))},
             {"steps", Html(views::steps_words(attempt))},
             {"what was done",
              runs ? Html() : Html(views::remedy_words(string_or(attempt, "remedy", "")))},
             {"programs", Html(views::programs_text(attempt))},
             {"to prevent this",
              Html(core::facts(core::cause_from(runs ? "done" : std::string_view(cause))).advice)},
             {"files", mono_or_none(string_or(attempt, "folder", ""), 300)}});
  content += evidence_of(documents.why);
  content += excerpt_of(documents.why);
  content += phases_of(documents.why);
  const std::string title = runs ? fmt::format("Attempt {} still runs", views::grouped(number))
                                 : fmt::format("Why attempt {} ended", views::grouped(number));
  return titled("why", title, content);
}

}  // namespace trainward::page
