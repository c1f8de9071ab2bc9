// Samples written down in either form. Pure.
//
// Families come one after the other, each whole, with their type, unit and help before their first
// sample; a family without samples is left out. Label values may be any bytes: what is not UTF-8 is
// replaced, and nothing in them can end a line.
#pragma once

#include <array>
#include <bitset>
#include <initializer_list>
#include <string>
#include <string_view>

#include "supervisor/record/metrics/format.hpp"
#include "supervisor/record/metrics/metric_table.hpp"

namespace trainward::metrics {

class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  // What follows belongs to it. Once each: a family that was begun before takes no more samples.
  void family(Metric metric);
  // Values of the labels, in the table's order and as many. A counter's value that is negative or
  // no number is left out: no scraper takes it.
  void sample(std::initializer_list<std::string_view> labels, double value);

  // Everything, with the end that the format has. Nothing may follow.
  std::string take() &&;

 private:
  void head();

  Format format_;
  std::string text_;
  Metric metric_ = Metric::up;
  bool open_ = false;  // a family may be written to
  bool headed_ = false;
  std::bitset<table.size()> begun_;
  std::array<std::string, 4> between_;  // what stands before each label's value, and at the end
};

}  // namespace trainward::metrics
