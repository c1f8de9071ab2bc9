#include "supervisor/ctl/top/curve_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace trainward::ctl::top {
namespace {

// A spike this many times as high as nearly everything else is cut off, and marked where it is:
// otherwise one bad step would make a flat line of the whole run.
constexpr double spike = 4;
constexpr double nearly_all = 0.98;

double at_share(const std::vector<double>& sorted, double share) {
  return sorted.at(static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1)));
}

}  // namespace

CurveScale::CurveScale(const Curve& curve, int width, int height, bool logarithmic)
    : width_(std::max(width, 1)), height_(std::max(height, 1)) {
  std::vector<double> losses;
  const auto add = [&](double loss) {
    if (std::isfinite(loss)) losses.push_back(loss);
  };
  for (const CurvePoint& point : curve.points) {
    add(point.least);
    add(point.mean);
    add(point.most);
  }
  for (const CurveSpot& spot : curve.evaluations) {
    if (spot.step >= curve.from && (curve.to == 0 || spot.step <= curve.to)) add(spot.loss);
  }
  first_ = curve.points.empty() ? curve.from : curve.points.front().step;
  last_ = curve.points.empty()
              ? curve.to
              : curve.points.back().step + std::max<std::int64_t>(curve.bucket_steps, 1) - 1;
  // The newest bucket is not full yet.
  if (curve.newest_step > 0) last_ = std::min(last_, curve.newest_step);
  last_ = std::max(last_, first_);
  has_losses_ = !losses.empty();
  if (!has_losses_) return;
  std::ranges::sort(losses);
  lowest_ = losses.front();
  highest_ = losses.back();
  logarithmic_ = logarithmic && lowest_ > 0;
  const double usual = at_share(losses, nearly_all);
  const double span = usual - at_share(losses, 1 - nearly_all);
  if (!logarithmic_ && span > 0) highest_ = std::min(highest_, usual + spike * span);
  if (!(highest_ > lowest_)) {
    const double around = std::max(std::abs(lowest_) * 0.01, 1e-9);
    lowest_ -= around;
    highest_ += around;
    logarithmic_ = logarithmic_ && lowest_ > 0;
  }
}

double CurveScale::height_of(double loss) const {
  if (!logarithmic_) return (loss - lowest_) / (highest_ - lowest_);
  return (std::log(std::max(loss, lowest_)) - std::log(lowest_)) /
         (std::log(highest_) - std::log(lowest_));
}

double CurveScale::middle() const {
  return logarithmic_ ? std::sqrt(lowest_) * std::sqrt(highest_)
                      : lowest_ + (highest_ - lowest_) / 2;
}

int CurveScale::x(std::int64_t step) const {
  if (last_ == first_) return 0;
  const double share = static_cast<double>(step - first_) / static_cast<double>(last_ - first_);
  return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (width_ - 1)));
}

int CurveScale::y(double loss) const {
  const double share = std::clamp(height_of(loss), 0.0, 1.0);
  return static_cast<int>(std::lround((1 - share) * (height_ - 1)));
}

}  // namespace trainward::ctl::top
