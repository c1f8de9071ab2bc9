// The points of a document /v1/programs/NAME/curve, and the line through them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/window/page/plot.hpp"

namespace trainward::page {

struct CurvePoint {
  double step = 0;
  std::optional<double> least, most, mean;  // finite
  std::int64_t attempt = 0;
  std::int64_t at_ms = 0;  // when its last step was made; 0: unknown
};

// A finite number of a column; nothing for null, or where the column is shorter.
std::optional<double> number_at(const json::array& column, std::size_t i);

// Every n-th, so that there are at most about `most`.
std::vector<CurvePoint> points_of(const json::object& curve, std::size_t most);

// Of an SVG path, broken where there is no number.
std::string mean_line(const std::vector<CurvePoint>& points, const Scale& x, const Scale& y);

}  // namespace trainward::page
