// The loss, as one drawing that needs no script: the band from least to most with the mean,
// attempts shaded in turn, what was lost and made again, where attempts failed and why, held-out
// loss, checkpoints; in words below it, and as a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/text.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/decide/view/words.hpp"
#include "supervisor/window/page/curve_points.hpp"
#include "supervisor/window/page/page_pieces.hpp"
#include "supervisor/window/page/plot.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

constexpr double left = 56, right = 792, top = 22, bottom = 262;  // of the drawing, 800 by 300
constexpr std::size_t most_points = 400;
constexpr std::size_t most_ghosts = 200;
constexpr double mark_width = 9;       // marks closer than this are one
constexpr std::size_t most_told = 40;  // marks that say what they are when pointed at

struct Drawing {
  Scale x;
  Scale y;
};

Html path(std::string_view kind, const std::string& d) {
  return d.empty() ? Html() : element("path", {{"class", kind}, {"d", d}});
}

Html band(const std::vector<CurvePoint>& points, const Drawing& drawing) {
  std::string d;
  for (std::size_t i = 0; i < points.size();) {
    std::string there;
    std::string back;
    for (; i < points.size() && points[i].least && points[i].most; ++i) {
      const double x = drawing.x(points[i].step);
      there += (there.empty() ? "M" : "L") + point(x, drawing.y(*points[i].most));
      back.insert(0, "L" + point(x, drawing.y(*points[i].least)));
    }
    if (there.empty()) {
      ++i;
    } else {
      d += there + back + "Z";
    }
  }
  return path("band", d);
}

Html ghosts(const json::object& curve, const Drawing& drawing) {
  std::string d;
  std::size_t drawn = 0;
  views::for_each_row(curve, "lost", [&](const json::object& row) {
    if (drawn >= most_ghosts) return;
    const json::array& steps = views::list_in(row, "step");
    const json::array& means = views::list_in(row, "mean");
    const std::size_t stride = steps.size() / 100 + 1;
    // What is narrower than can be seen is not drawn.
    const double from = drawing.x(static_cast<double>(int_or(row, "from", 0)));
    if (drawing.x(static_cast<double>(int_or(row, "to", 0))) - from < 1) return;
    ++drawn;
    bool on = false;
    for (std::size_t i = 0; i < steps.size(); i += stride) {
      const auto step = number_at(steps, i);
      const auto mean = number_at(means, i);
      if (step && mean) d += (on ? "L" : "M") + point(drawing.x(*step), drawing.y(*mean));
      on = step && mean;
    }
  });
  return path("ghost", d);
}

struct Mark {
  double x = 0;
  std::string words;  // of the first
  int more = 0;       // that are as near as cannot be told apart
};

void add_mark(std::vector<Mark>& all, double x, const std::string& words) {
  if (!all.empty() && std::abs(all.back().x - x) < mark_width) {
    ++all.back().more;
  } else {
    all.push_back({x, words});
  }
}

std::string words_of(const Mark& mark) {
  return mark.more > 0 ? fmt::format("{}; and {} more", mark.words, mark.more) : mark.words;
}

Html shades(const json::object& curve, const Drawing& drawing) {
  std::string d;
  bool odd = false;
  views::for_each_row(curve, "attempts", [&](const json::object& row) {
    odd = !odd;
    const double from = drawing.x(static_cast<double>(int_or(row, "first_step", 0)));
    const double to = drawing.x(static_cast<double>(int_or(row, "last_step", 0)));
    if (odd || to - from < 1) return;
    d += fmt::format("M{:.1f} {}H{:.1f}V{}H{:.1f}Z", from, top, to, bottom, from);
  });
  return path("attempt", d);
}

Html crashes(const json::object& curve, const Drawing& drawing) {
  std::vector<Mark> all;
  views::for_each_row(curve, "attempts", [&](const json::object& row) {
    const std::string name = string_or(row, "cause", "");
    const core::Cause cause = core::cause_from(name);
    if (int_or(row, "ended_ms", 0) == 0 || name.empty() || !core::is_fault(cause)) return;
    const std::int64_t last = int_or(row, "last_step", 0);
    const std::int64_t step = last > 0 ? last : int_or(row, "resume_step", 0);
    add_mark(all, drawing.x(static_cast<double>(step)),
             fmt::format("attempt {} after step {}: {}, {}", int_or(row, "attempt", 0),
                         views::grouped(step), cut(name, 40), core::facts(cause).words));
  });
  Html drawn;
  for (const Mark& mark : all) {
    drawn += element(
        "path",
        {{"class", "crash"}, {"d", fmt::format("M{:.1f} {}h10l-5 9Z", mark.x - 5, top - 12)}},
        {element("title", {}, {words_of(mark)})});
  }
  return drawn;
}

Html checkpoints(const json::object& curve, const Drawing& drawing) {
  std::vector<Mark> all;
  views::for_each_row(curve, "checkpoints", [&](const json::object& row) {
    const std::int64_t step = int_or(row, "step", 0);
    add_mark(all, drawing.x(static_cast<double>(step)),
             fmt::format("{} {}", views::grouped(step), cut(string_or(row, "state", ""), 20)));
  });
  if (all.size() > most_told) {
    std::string d;
    for (const Mark& mark : all) d += fmt::format("M{:.1f} {}v-8", mark.x, bottom);
    return path("checkpoint", d);
  }
  Html drawn;
  for (const Mark& mark : all) {
    drawn += element("path",
                     {{"class", "checkpoint"}, {"d", fmt::format("M{:.1f} {}v-8", mark.x, bottom)}},
                     {element("title", {}, {"checkpoint " + words_of(mark)})});
  }
  return drawn;
}

Html held_out(const json::object& curve, const Drawing& drawing) {
  const auto found = get_object(curve, "evaluations");
  if (!found) return {};
  const json::array& steps = views::list_in(**found, "step");
  const json::array& losses = views::list_in(**found, "loss");
  const std::size_t stride = steps.size() / most_told + 1;
  Html drawn;
  for (std::size_t i = 0; i < steps.size(); i += stride) {
    const auto step = number_at(steps, i);
    const auto loss = number_at(losses, i);
    if (!step || !loss) continue;
    drawn +=
        element("circle",
                {{"class", "held-out"},
                 {"cx", fmt::format("{:.1f}", drawing.x(*step))},
                 {"cy", fmt::format("{:.1f}", drawing.y(*loss))},
                 {"r", "3.5"}},
                {element("title", {},
                         {fmt::format("held out at step {}: {}",
                                      views::grouped(std::llround(*step)), number_text(*loss))})});
  }
  return drawn;
}

Html axes(const Drawing& drawing) {
  Html drawn;
  for (const double mark : marks(drawing.y.from, drawing.y.to, 5)) {
    const std::string y = fmt::format("{:.1f}", drawing.y(mark));
    drawn += element("path", {{"class", "grid"}, {"d", fmt::format("M{} {}H{}", left, y, right)}});
    drawn += element(
        "text", {{"x", fmt::format("{}", left - 6)}, {"y", y}, {"dy", "4"}, {"text-anchor", "end"}},
        {fmt::format("{:g}", mark)});
  }
  for (const double mark : marks(drawing.x.from, drawing.x.to, 7)) {
    if (mark != std::floor(mark)) continue;
    const std::string x = fmt::format("{:.1f}", drawing.x(mark));
    drawn += element("path", {{"class", "axis"}, {"d", fmt::format("M{} {}v4", x, bottom)}});
    // In the middle below its mark, but for the last one, which would be cut off.
    const bool last = drawing.x(mark) > right - 28;
    drawn += element(
        "text",
        {{"x", x}, {"y", fmt::format("{}", bottom + 17)}, {"text-anchor", last ? "end" : "middle"}},
        {views::grouped(std::llround(mark))});
  }
  drawn += element(
      "path", {{"class", "axis"}, {"d", fmt::format("M{} {}V{}H{}", left, top, bottom, right)}});
  drawn += element("text",
                   {{"class", "unit"},
                    {"x", fmt::format("{}", right)},
                    {"y", fmt::format("{}", bottom + 33)},
                    {"text-anchor", "end"}},
                   {"step"});
  drawn +=
      element("text", {{"class", "unit"}, {"x", "4"}, {"y", fmt::format("{}", top - 8)}}, {"loss"});
  return drawn;
}

// Where the axis of the loss ends: a few wild points at the beginning do not press the rest flat.
Drawing drawing_of(const std::vector<CurvePoint>& points) {
  Extent steps;
  Extent losses;
  for (const CurvePoint& p : points) {
    steps.add(p.step);
    for (const auto& number : {p.least, p.most, p.mean}) {
      if (number) losses.add(*number);
    }
  }
  const double more =
      std::max((losses.most() - losses.least()) * 0.04, std::abs(losses.most()) * 1e-3 + 1e-9);
  return {{steps.least(), std::max(steps.most(), steps.least() + 1), left, right},
          {losses.least() - more, losses.most() + more, bottom, top}};
}

// By steps where they are known, and else by the pieces that are drawn, which are means.
std::string in_words(const Documents& documents, const std::vector<CurvePoint>& points) {
  const json::object& curve = documents.curve;
  const auto told = [](const CurvePoint& p) { return p.mean.has_value(); };
  const auto first = std::ranges::find_if(points, told);
  if (first == points.end()) return "No step has told a loss.";
  const auto last = std::find_if(points.rbegin(), points.rend(), told);
  Extent means;
  for (const CurvePoint& p : points) {
    if (p.mean) means.add(*p.mean);
  }
  std::int64_t failed = 0;
  std::int64_t lost = 0;
  std::int64_t attempts = 0;
  views::for_each_row(curve, "attempts", [&](const json::object& row) {
    ++attempts;
    const std::string cause = string_or(row, "cause", "");
    if (!cause.empty() && core::is_fault(core::cause_from(cause))) ++failed;
    lost += std::max<std::int64_t>(int_or(row, "steps_lost", 0), 0);
  });
  const json::object* row = row_of(documents);
  const auto figure = [&](std::string_view key, double mean) {
    const auto told = row != nullptr ? get_number(*row, key) : get_number(curve, key);
    return number_text(told.value_or(mean));
  };
  std::string text;
  if (last != points.rbegin()) {
    text =
        fmt::format("The loss has not been a number since about step {}; before that it was {}.",
                    views::grouped(std::llround(std::prev(last)->step)), number_text(*last->mean));
  } else {
    text = fmt::format("The loss is {} and was {} at first.", figure("loss", *last->mean),
                       figure("first_loss", *first->mean));
  }
  text += fmt::format(" Lowest average of a stretch of steps: {}.", number_text(means.least()));
  text += fmt::format(" {} in what is drawn, {} failed; {} {} lost.", count(attempts, "attempt"),
                      failed == 0 ? "none" : views::grouped(failed), count(lost, "step"),
                      lost == 1 ? "was" : "were");
  return text;
}

Html table_of(const std::vector<CurvePoint>& points) {
  Table table("The loss by step",
              {{"from step"}, {"mean", true}, {"least", true}, {"most", true}, {"attempt", true}});
  const auto text = [](const std::optional<double>& number) {
    return number ? number_text(*number) : std::string("-");
  };
  constexpr std::size_t rows = 12;
  const std::size_t stride = points.size() / rows + 1;
  for (std::size_t i = 0; i < points.size(); i += stride) {
    const CurvePoint& p = points[i];
    table.add({views::grouped(std::llround(p.step)), text(p.mean), text(p.least), text(p.most),
               views::grouped(p.attempt)});
  }
  return details("The same as a table", "curve-table", table.html());
}

// The causes that are no fault, for the script, which marks the ends of attempts as this drawing
// does.
std::string faultless() {
  std::string names;
  for (const core::CauseFacts& facts : core::causes) {
    if (core::is_fault(facts.cause) || facts.name.empty()) continue;
    if (!names.empty()) names += ' ';
    names += facts.name;
  }
  return names;
}

}  // namespace

Html curve_section(const Documents& documents) {
  const View& view = documents.view;
  const std::vector<CurvePoint> points = points_of(documents.curve, most_points);
  const std::string words = in_words(documents, points);
  std::vector<Attribute> attributes{{"class", "curve"}};
  if (!view.still) {
    attributes.push_back({"data-source", Url::path({"v1", "programs", view.program, "curve"})});
    attributes.push_back({"data-faultless", faultless()});
  }
  Html drawn;
  if (std::ranges::any_of(points, [](const CurvePoint& p) { return p.mean.has_value(); })) {
    const Drawing drawing = drawing_of(points);
    drawn = element(
        "svg", {{"viewBox", "0 0 800 300"}, {"role", "img"}, {"aria-label", words}},
        {shades(documents.curve, drawing), axes(drawing), band(points, drawing),
         ghosts(documents.curve, drawing), path("mean", mean_line(points, drawing.x, drawing.y)),
         held_out(documents.curve, drawing), checkpoints(documents.curve, drawing),
         crashes(documents.curve, drawing)});
  }
  Html content = element("figure", attributes, {drawn, element("figcaption", {}, {words})});
  if (!drawn.empty()) content += table_of(points);
  return titled("curve", "Loss", content);
}

}  // namespace trainward::page
