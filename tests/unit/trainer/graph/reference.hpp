// A slow and obvious interpreter of graphs, in double precision: what the others are checked
// against.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::graph::test {

using Numbers = std::vector<double>;

// One Numbers per parameter in, one per output out; ids and predicates are whole numbers.
std::vector<Numbers> interpret(const Graph& graph, const std::vector<Numbers>& parameters);

// To eight significant bits, ties to even, by arithmetic rather than by bits.
double rounded_to_bf16(double x);

// Draws for seeded tests.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  std::int64_t size(std::int64_t low, std::int64_t high) {  // inclusive
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double number(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  Numbers numbers(const Shape& shape, double low, double high) {
    Numbers values(static_cast<std::size_t>(element_count(shape)));
    for (double& value : values) value = number(low, high);
    return values;
  }
  Numbers ids(const Shape& shape, std::int64_t below) {
    Numbers values(static_cast<std::size_t>(element_count(shape)));
    for (double& value : values) value = static_cast<double>(size(0, below - 1));
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace trainward::graph::test
