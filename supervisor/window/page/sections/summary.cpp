// What is, in a sentence a program; what somebody has to do, with the command; the buttons.
#include <fmt/format.h>

#include "common/base/text.hpp"
#include "supervisor/decide/view/sentence.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/window/page/curve_points.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

// A command stands at the end of what is to be done.
Html todo_of(const views::Sentence& sentence) {
  if (sentence.todo.empty()) return {};
  const auto at = sentence.todo.rfind("trainwardctl ");
  const std::string words = sentence.todo.substr(0, at);
  Html text = words;
  if (at != std::string::npos) {
    text += code(sentence.todo.substr(at));
  } else {
    text += ".";
  }
  const bool must = sentence.need == views::Need::must;
  return element("p", {{"class", must ? "todo" : "muted"}}, {text});
}

Html button(const std::string& program, std::string_view verb, std::string_view words) {
  return element(
      "form",
      {{"method", "post"},
       {"action", Url::path({"programs", program, "actions", verb})},
       {"data-action", verb}},
      {element("button", {{"type", "submit"}, {"aria-label", fmt::format("{} {}", words, program)}},
               {words})});
}

Html buttons_of(const views::Told& told, const View& view) {
  if (!view.operates || view.still) return {};
  const std::string name = string_or(*told.row, "name", "");
  const core::ShownFacts& shown = core::facts(core::shown_from(told.sentence.state));
  Html buttons;
  if (shown.over) {
    buttons = button(name, "start", "Start");
  } else {
    buttons = join({button(name, "stop", "Stop"), button(name, "restart", "Restart")});
  }
  return element("div", {{"class", "actions"}}, {buttons});
}

// The losses of a run at a glance; the axes are on the program's own page.
Html sparkline(const std::vector<CurvePoint>& points) {
  constexpr double width = 120, height = 32, edge = 2;
  Extent steps, losses;
  for (const CurvePoint& p : points) {
    if (!p.mean) continue;
    steps.add(p.step);
    losses.add(*p.mean);
  }
  if (losses.empty()) return {};
  const Scale x{steps.least(), steps.most(), edge, width - edge};
  const Scale y{losses.least(), losses.most(), height - edge, edge};
  const std::string words = fmt::format("loss between {} and {}", number_text(losses.least()),
                                        number_text(losses.most()));
  return element("svg",
                 {{"class", "spark"},
                  {"viewBox", fmt::format("0 0 {} {}", width, height)},
                  {"preserveAspectRatio", "none"},
                  {"role", "img"},
                  {"aria-label", words}},
                 {element("title", {}, {words}),
                  element("path", {{"class", "mean"}, {"d", mean_line(points, x, y)}})});
}

Html figures_of(const json::object& row, const std::vector<CurvePoint>& points,
                std::int64_t now_ms) {
  const std::int64_t last = int_or(row, "last_step", 0);
  if (last <= 0) return {};
  const auto target = get_int(row, "target_step");
  const auto share = get_number(row, "effective_share");
  const std::int64_t at_ms = points.empty() ? 0 : points.back().at_ms;
  const std::string age = now_ms - at_ms < 60'000 ? "just now" : coarse_age(now_ms - at_ms);
  return facts(
      {{"step", Html(target && *target >= last
                         ? fmt::format("{} of {}", views::grouped(last), views::grouped(*target))
                         : views::grouped(last))},
       {"last step", at_ms > 0 ? Html(age) : Html()},
       {"effective", share ? Html(views::percent(*share)) : Html()}});
}

// A row of the page of all programs: what stands beside the sentence.
Html beside(const views::Told& told, const Documents& documents) {
  constexpr std::size_t most_points = 120;
  std::vector<CurvePoint> points;
  const auto curve = get_object(documents.curves, string_or(*told.row, "name", ""));
  if (curve) points = points_of(**curve, most_points);
  return join({element("div", {{"class", "curve"}}, {sparkline(points)}),
               element("div", {{"class", "figures"}},
                       {figures_of(*told.row, points, documents.view.now_ms)})});
}

Html newest_step(const json::object& row) {
  const std::string text = views::newest_step_text(row);
  if (text.empty()) return {};
  return element("p", {{"class", "muted"}}, {"Newest step: " + text + "."});
}

Html program_of(const views::Told& told, const Documents& documents) {
  const View& view = documents.view;
  const bool row = view.program.empty();
  const Html name =
      view.still
          ? Html(told.name)
          : element("a", {{"href", Url::path({"programs", string_or(*told.row, "name", "")})}},
                    {told.name});
  const std::string tone = "sentence " + std::string(tone_class(told.sentence.tone));
  return element(
      "li", {{"data-key", told.name}, {"class", row ? "row" : "alone"}},
      {element(
           "p", {{"class", tone}},
           {element("span", {{"class", "glyph"}, {"aria-hidden", "true"}}, {told.sentence.glyph}),
            " ", element("strong", {}, {name}), " ", element("span", {}, {told.sentence.text})}),
       row ? beside(told, documents) : newest_step(*told.row), todo_of(told.sentence),
       buttons_of(told, view)});
}

}  // namespace

Html summary_section(const Documents& documents) {
  const View& view = documents.view;
  const auto programs = views::told_of(documents.programs, view.now_ms);
  Html list;
  for (const views::Told& told : programs) list += program_of(told, documents);
  if (!view.program.empty() && programs.empty()) {
    return titled("summary", "State",
                  element("p", {{"class", "sentence tone-quiet"}},
                          {element("span", {},
                                   {cut(view.program, 80),
                                    " is no longer in the configuration; what it did stays on "
                                    "record, nothing to do."})}));
  }
  const Html content = list.empty() ? Html() : element("ul", {{"class", "programs"}}, {list});
  return titled("summary", view.program.empty() ? views::headline_of(programs) : "State", content);
}

}  // namespace trainward::page
