// From steps and losses to dots. Pure.
#pragma once

#include <cstdint>

#include "supervisor/ctl/top/model.hpp"

namespace trainward::ctl::top {

class CurveScale {
 public:
  // Of a picture `width` by `height` dots. `logarithmic` counts only where every loss is above 0.
  CurveScale(const Curve& curve, int width, int height, bool logarithmic);

  [[nodiscard]] bool has_losses() const { return has_losses_; }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  [[nodiscard]] double lowest() const { return lowest_; }
  [[nodiscard]] double highest() const { return highest_; }
  [[nodiscard]] std::int64_t first_step() const { return first_; }
  [[nodiscard]] std::int64_t last_step() const { return last_; }
  [[nodiscard]] double middle() const;  // the loss halfway up

  [[nodiscard]] bool shows(std::int64_t step) const { return step >= first_ && step <= last_; }
  [[nodiscard]] int x(std::int64_t step) const;
  // From the top. What is above the scale is on its first row: above() tells.
  [[nodiscard]] int y(double loss) const;
  [[nodiscard]] bool above(double loss) const { return loss > highest_; }

 private:
  [[nodiscard]] double height_of(double loss) const;

  int width_;
  int height_;
  bool logarithmic_ = false;
  bool has_losses_ = false;
  double lowest_ = 0;
  double highest_ = 1;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
};

}  // namespace trainward::ctl::top
