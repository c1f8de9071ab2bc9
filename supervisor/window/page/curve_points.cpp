#include "supervisor/window/page/curve_points.hpp"

#include <cmath>

#include "supervisor/decide/view/view_rows.hpp"

namespace trainward::page {

std::optional<double> number_at(const json::array& column, std::size_t i) {
  if (i >= column.size() || !column[i].is_number()) return std::nullopt;
  const double number = column[i].to_number<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::vector<CurvePoint> points_of(const json::object& curve, std::size_t most) {
  std::vector<CurvePoint> points;
  const auto found = get_object(curve, "columns");
  if (!found) return points;
  const json::object& columns = **found;
  const json::array& step = views::list_in(columns, "step");
  const json::array& least = views::list_in(columns, "min");
  const json::array& greatest = views::list_in(columns, "max");
  const json::array& mean = views::list_in(columns, "mean");
  const json::array& attempt = views::list_in(columns, "attempt");
  const json::array& at_ms = views::list_in(columns, "at_ms");
  const auto whole = [](std::optional<double> number) {
    return static_cast<std::int64_t>(number.value_or(0));
  };
  const std::size_t stride = step.size() / most + 1;
  for (std::size_t i = 0; i < step.size(); i += stride) {
    const auto number = number_at(step, i);
    if (!number) continue;
    points.push_back({*number, number_at(least, i), number_at(greatest, i), number_at(mean, i),
                      whole(number_at(attempt, i)), whole(number_at(at_ms, i))});
  }
  return points;
}

std::string mean_line(const std::vector<CurvePoint>& points, const Scale& x, const Scale& y) {
  std::string d;
  bool on = false;
  for (const CurvePoint& p : points) {
    if (p.mean) d += (on ? "L" : "M") + point(x(p.step), y(*p.mean));
    on = p.mean.has_value();
  }
  return d;
}

}  // namespace trainward::page
