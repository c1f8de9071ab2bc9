#include "trainer/stablehlo/tile_shapes.hpp"

#include <algorithm>
#include <numeric>

namespace trainward::stablehlo {

using graph::Axes;
using graph::Shape;

namespace {

std::size_t at(std::int64_t axis) { return static_cast<std::size_t>(axis); }

}  // namespace

void fill_tiles(Shape& shape, const Axes& axes) {
  std::int64_t others = 1;
  for (std::size_t i = 0; i + 1 < axes.size(); ++i) others *= shape[at(axes[i])];
  std::int64_t& last = shape[at(axes.back())];
  last = rounded_up(last, tile / std::gcd(others, tile));
}

DotShapes tiled(const graph::op::DotGeneral& dot, DotShapes operands) {
  Shape& lhs = operands.lhs;
  Shape& rhs = operands.rhs;
  // What one operand's padding already asks of the other.
  const auto agree = [&](const Axes& left, const Axes& right) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      lhs[at(left[i])] = rhs[at(right[i])] = std::max(lhs[at(left[i])], rhs[at(right[i])]);
    }
  };
  agree(dot.lhs_batch, dot.rhs_batch);
  agree(dot.lhs_contract, dot.rhs_contract);
  fill_tiles(lhs, dot.lhs_contract);
  agree(dot.lhs_contract, dot.rhs_contract);
  fill_tiles(lhs, graph::other_axes(lhs.size(), dot.lhs_batch, dot.lhs_contract));
  fill_tiles(rhs, graph::other_axes(rhs.size(), dot.rhs_batch, dot.rhs_contract));
  return operands;
}

std::vector<DotAxis> result_axes(const graph::op::DotGeneral& dot, std::size_t lhs_rank,
                                 std::size_t rhs_rank) {
  std::vector<DotAxis> axes;
  for (std::size_t i = 0; i < dot.lhs_batch.size(); ++i) {
    axes.push_back({at(dot.lhs_batch[i]), at(dot.rhs_batch[i])});
  }
  for (const std::int64_t axis : graph::other_axes(lhs_rank, dot.lhs_batch, dot.lhs_contract)) {
    axes.push_back({at(axis), {}});
  }
  for (const std::int64_t axis : graph::other_axes(rhs_rank, dot.rhs_batch, dot.rhs_contract)) {
    axes.push_back({{}, at(axis)});
  }
  return axes;
}

// Both shapes fall into groups of neighbouring axes of the same number of elements. In a group only
// the outermost axis can be padded: then what is added comes after all of the group's elements.
std::optional<Shape> before_reshape(const Shape& from, const Shape& to, const Shape& padded) {
  Shape before = from;
  std::size_t i = 0;
  std::size_t k = 0;
  while (k < to.size()) {
    const std::size_t first_from = i;
    const std::size_t first_to = k;
    std::int64_t from_count = 1;
    std::int64_t to_count = to[k++];
    while (from_count != to_count || (from_count == 1 && i < from.size() && from[i] == 1)) {
      if (from_count < to_count || (from_count == to_count && from[i] == 1)) {
        if (i == from.size()) return std::nullopt;
        from_count *= from[i++];
      } else {
        if (k == to.size()) return std::nullopt;
        to_count *= to[k++];
      }
    }
    // Axes of one element before the first real one do not count.
    std::size_t outer = first_to;
    while (outer + 1 < k && to[outer] == 1 && padded[outer] == 1) ++outer;
    std::int64_t inner = 1;
    for (std::size_t j = outer + 1; j < k; ++j) {
      if (padded[j] != to[j]) return std::nullopt;
      inner *= to[j];
    }
    if (padded[outer] == to[outer]) continue;
    std::size_t source = first_from;
    while (source + 1 < i && from[source] == 1) ++source;
    if (source == i) return std::nullopt;
    const std::int64_t count = padded[outer] * inner;
    const std::int64_t rest = from_count / from[source];
    if (count % rest != 0) return std::nullopt;
    before[source] = count / rest;
  }
  return before;
}

Shape larger(Shape a, const Shape& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

bool covers(const Shape& large, const Shape& small) {
  return std::equal(large.begin(), large.end(), small.begin(), small.end(), std::greater_equal<>());
}

}  // namespace trainward::stablehlo
