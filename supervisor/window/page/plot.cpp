#include "supervisor/window/page/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainward::page {

double Scale::operator()(double number) const {
  if (!(to > from)) return (begin + end) / 2;
  const double part = std::clamp((number - from) / (to - from), 0.0, 1.0);
  return begin + part * (end - begin);
}

std::vector<double> marks(double from, double to, int most) {
  std::vector<double> found;
  if (!(to > from) || !std::isfinite(to - from) || most < 1) return {from};
  const double rough = (to - from) / most;
  const double unit = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * unit;
  for (const double round : {1.0, 2.0, 5.0}) {
    if (round * unit >= rough) {
      step = round * unit;
      break;
    }
  }
  if (!(step > 0) || !std::isfinite(step)) return {from};
  const double first = std::ceil(from / step);
  for (int i = 0; i <= most + 1; ++i) {
    const double mark = (first + i) * step;
    if (mark > to + step * 1e-9) break;
    found.push_back(mark == 0 ? 0 : mark);
  }
  return found;
}

std::string point(double x, double y) { return fmt::format("{:.1f} {:.1f}", x, y); }

void Extent::add(double number) {
  if (!std::isfinite(number)) return;
  least_ = any_ ? std::min(least_, number) : number;
  most_ = any_ ? std::max(most_, number) : number;
  any_ = true;
}

}  // namespace trainward::page
