// The loss curve: what was lost and done again faintly below it, between least and most a band, the
// mean as a line, held-out losses as rings; attempts parted by dotted lines, crashes marked below.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/base/text.hpp"
#include "supervisor/ctl/top/curve_scale.hpp"
#include "supervisor/ctl/top/dots.hpp"
#include "supervisor/ctl/top/glyphs.hpp"
#include "supervisor/ctl/top/panes.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::ctl::top {
namespace {

using views::grouped;

constexpr int label_width = 9;
constexpr int least_width_with_labels = 30;
constexpr int least_rows_with_axis = 8;
// More lines between attempts than that, and the curve would not be seen for them.
constexpr int columns_an_attempt = 4;

bool is_crash(const CurveAttempt& attempt) {
  return attempt.over && !attempt.cause.empty() && core::is_fault(core::cause_from(attempt.cause));
}

// Where what goes in the pane.
struct Places {
  Rect plot;
  int labels = 0;  // columns of the losses on the left
  int marks_y = -1;
  int axis_y = -1;
};

Places places_in(const Rect& area) {
  Places places;
  places.labels = area.width >= least_width_with_labels ? label_width : 0;
  int rows = area.height - 1;  // below the title
  // Where rows are few, the title says which steps these are.
  if (rows >= least_rows_with_axis) places.axis_y = 1 + --rows;
  if (rows >= 3) places.marks_y = 1 + --rows;
  places.plot = {area.x + places.labels, area.y + 1, area.width - places.labels, rows};
  return places;
}

// The points of one column of dots.
struct Column {
  double least = no_number;
  double most = no_number;
  double sum = 0;
  double weight = 0;
};

std::vector<Column> columns_of(const Curve& curve, const CurveScale& scale, int width) {
  std::vector<Column> columns(static_cast<std::size_t>(std::max(width, 0)));
  for (const CurvePoint& point : curve.points) {
    if (!scale.shows(point.step) || !std::isfinite(point.mean)) continue;
    Column& column = columns.at(static_cast<std::size_t>(scale.x(point.step)));
    const auto weight = static_cast<double>(std::max<std::int64_t>(point.steps, 1));
    column.least = std::fmin(column.least, std::isfinite(point.least) ? point.least : point.mean);
    column.most = std::fmax(column.most, std::isfinite(point.most) ? point.most : point.mean);
    column.sum += point.mean * weight;
    column.weight += weight;
  }
  return columns;
}

void draw_dots(Canvas& canvas, const Rect& plot, const Dots& dots, Look look) {
  for (int y = 0; y < plot.height; ++y) {
    for (int x = 0; x < plot.width; ++x) {
      if (!dots.empty(x, y)) canvas.put(plot, x, y, dots.character(x, y), look);
    }
  }
}

class Picture {
 public:
  Picture(Canvas& canvas, const Rect& area, const Ui& ui)
      : canvas_(canvas),
        area_(area),
        ui_(ui),
        curve_(*ui.shown.curve),
        places_(places_in(area)),
        scale_(curve_, places_.plot.width * (ui.ascii ? 1 : 2),
               places_.plot.height * (ui.ascii ? 2 : 4), ui.logarithmic) {}

  void draw() {
    if (places_.plot.empty()) return;
    draw_boundaries();
    draw_lost();
    draw_losses();
    draw_evaluations();
    draw_labels();
    draw_marks();
    draw_axis();
  }

  [[nodiscard]] const CurveScale& scale() const { return scale_; }
  [[nodiscard]] bool has_axis() const { return places_.axis_y >= 0; }

 private:
  [[nodiscard]] int cell_x(std::int64_t step) const { return scale_.x(step) / (ui_.ascii ? 1 : 2); }
  [[nodiscard]] Dots dots() const {
    return Dots(places_.plot.width, places_.plot.height, ui_.ascii);
  }

  void draw_boundaries() {
    std::vector<int> columns;
    for (std::size_t i = 1; i < curve_.attempts.size(); ++i) {
      const std::int64_t step = curve_.attempts[i].first_step;
      if (step > 0 && scale_.shows(step)) columns.push_back(cell_x(step));
    }
    if (static_cast<int>(columns.size()) * columns_an_attempt > places_.plot.width) return;
    for (const int x : columns) {
      for (int y = 0; y < places_.plot.height; ++y) {
        canvas_.put(places_.plot, x, y, "┊", looks::dim);
      }
    }
  }

  void draw_lost() {
    Dots faint = dots();
    for (const CurveSpot& spot : curve_.lost) {
      if (scale_.shows(spot.step) && std::isfinite(spot.loss)) {
        faint.set(scale_.x(spot.step), scale_.y(spot.loss));
      }
    }
    draw_dots(canvas_, places_.plot, faint, {.ink = Ink::magenta, .dim = true});
  }

  void draw_losses() {
    Dots band = dots();
    Dots line = dots();
    const auto columns = columns_of(curve_, scale_, band.width());
    int last_x = -1;
    int last_y = 0;
    for (int x = 0; x < static_cast<int>(columns.size()); ++x) {
      const Column& column = columns[static_cast<std::size_t>(x)];
      if (column.weight <= 0) continue;
      band.line(x, scale_.y(column.most), x, scale_.y(column.least));
      if (scale_.above(column.most)) above_.push_back(x / (ui_.ascii ? 1 : 2));
      const int y = scale_.y(column.sum / column.weight);
      line.line(last_x < 0 ? x : last_x, last_x < 0 ? y : last_y, x, y);
      last_x = x;
      last_y = y;
    }
    // Two dots a cell cannot show both.
    if (!ui_.ascii) draw_dots(canvas_, places_.plot, band, looks::dim);
    draw_dots(canvas_, places_.plot, line, {.ink = Ink::cyan, .bold = true});
    for (const int x : above_) canvas_.put(places_.plot, x, 0, "▲", looks::bad);
  }

  void draw_evaluations() {
    for (const CurveSpot& spot : curve_.evaluations) {
      if (!scale_.shows(spot.step) || !std::isfinite(spot.loss)) continue;
      canvas_.put(places_.plot, cell_x(spot.step), scale_.y(spot.loss) / (ui_.ascii ? 2 : 4), "○",
                  {.ink = Ink::yellow, .bold = true});
    }
  }

  void draw_labels() {
    if (places_.labels == 0) return;
    const auto label = [&](int y, double loss) {
      canvas_.put(area_, 0, 1 + y,
                  fmt::format("{:>{}}", cut(number_text(loss), label_width - 1), label_width - 1),
                  looks::dim);
    };
    label(0, scale_.highest());
    if (places_.plot.height >= 5) label(places_.plot.height / 2, scale_.middle());
    if (places_.plot.height >= 2) label(places_.plot.height - 1, scale_.lowest());
  }

  void draw_marks() {
    if (places_.marks_y < 0) return;
    const Rect marks{places_.plot.x, area_.y + places_.marks_y, places_.plot.width, 1};
    canvas_.fill(marks, "─", looks::dim);
    for (const std::int64_t step : curve_.checkpoints) {
      if (scale_.shows(step)) canvas_.put(marks, cell_x(step), 0, "┴", looks::dim);
    }
    for (const CurvePoint& point : curve_.points) {
      if (point.not_numbers > 0 && scale_.shows(point.step)) {
        canvas_.put(marks, cell_x(point.step), 0, "!", looks::bad);
      }
    }
    for (const CurveAttempt& attempt : curve_.attempts) {
      if (is_crash(attempt) && scale_.shows(attempt.last_step)) {
        canvas_.put(marks, cell_x(attempt.last_step), 0, "✗", looks::bad);
      }
    }
  }

  void draw_axis() {
    if (places_.axis_y < 0) return;
    const Rect axis{places_.plot.x, area_.y + places_.axis_y, places_.plot.width, 1};
    const std::string first = grouped(scale_.first_step());
    const std::string last = grouped(scale_.last_step());
    int x = canvas_.put(axis, 0, 0, first, looks::dim) + 2;
    const int last_x = axis.width - width_of(last);
    if (last_x <= x) return;
    canvas_.put(axis, last_x, 0, last, looks::dim);
    // The newest crash in words.
    const auto crash = std::find_if(curve_.attempts.rbegin(), curve_.attempts.rend(), is_crash);
    if (crash == curve_.attempts.rend()) return;
    const std::string text = fmt::format("✗ attempt {} at {}: {}", crash->number,
                                         grouped(crash->last_step), crash->cause);
    const int room = last_x - x - 2;
    if (width_of(text) <= room)
      canvas_.put(axis, x + (room - width_of(text)) / 2, 0, text, looks::bad);
  }

  Canvas& canvas_;
  const Rect& area_;
  const Ui& ui_;
  const Curve& curve_;
  Places places_;
  CurveScale scale_;
  std::vector<int> above_;  // columns in which something is above the scale
};

std::string more_about(const Ui& ui, const CurveScale& scale, bool with_axis) {
  const Curve& curve = *ui.shown.curve;
  std::string text = "loss";
  const auto newest = std::find_if(curve.points.rbegin(), curve.points.rend(),
                                   [](const CurvePoint& p) { return std::isfinite(p.mean); });
  if (newest != curve.points.rend()) text += " " + number_text(newest->mean);
  if (scale.logarithmic()) text += ", logarithmic";
  if (ui.logarithmic && !scale.logarithmic())
    text += ", not logarithmic: there is one of 0 or less";
  const auto crashes = std::ranges::count_if(curve.attempts, is_crash);
  if (!with_axis) {
    text += fmt::format(" · steps {}–{}", grouped(scale.first_step()), grouped(scale.last_step()));
  }
  if (crashes > 0) text += fmt::format(" · ✗ {}", count(crashes, "failed attempt"));
  if (!curve.evaluations.empty()) text += " · ○ held out";
  return text;
}

}  // namespace

void draw_curve(Canvas& canvas, const Rect& area, const Ui& ui) {
  if (area.empty()) return;
  if (!ui.shown.curve || ui.shown.curve->points.empty()) {
    draw_title(canvas, area, ui, Pane::curve, "curve", "");
    canvas.put(area, 0, 1, "no step is on record yet", looks::dim);
    return;
  }
  Picture picture(canvas, area, ui);
  draw_title(canvas, area, ui, Pane::curve, "curve",
             more_about(ui, picture.scale(), picture.has_axis()));
  if (!picture.scale().has_losses()) {
    canvas.put(area, 0, 1, "the steps on record have no loss", looks::dim);
    return;
  }
  picture.draw();
}

}  // namespace trainward::ctl::top
