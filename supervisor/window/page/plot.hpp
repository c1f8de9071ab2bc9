// Places in a drawing for numbers, and where its axes have their marks. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainward::page {

// A scale from numbers to places; what lies outside is drawn at its end.
struct Scale {
  double from = 0;
  double to = 1;
  double begin = 0;  // place of `from`
  double end = 1;    // place of `to`

  [[nodiscard]] double operator()(double number) const;
};

// At most about `most` round numbers within the scale, in order.
std::vector<double> marks(double from, double to, int most);

// A point of an SVG path, to a tenth: "12.5 3".
std::string point(double x, double y);

// What can be drawn of a column of numbers and nulls: not finite is no number.
class Extent {
 public:
  void add(double number);
  [[nodiscard]] bool empty() const { return !any_; }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double most() const { return most_; }

 private:
  bool any_ = false;
  double least_ = 0;
  double most_ = 0;
};

}  // namespace trainward::page
