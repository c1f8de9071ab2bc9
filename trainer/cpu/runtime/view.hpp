// A strided look at the elements of a stored value: what broadcast, transpose, slice and most
// reshapes are, without moving anything.
//
// Strides and offset count elements; a stride of 0 repeats. Pure values.
#pragma once

#include <optional>

#include "trainer/graph/graph.hpp"

namespace trainward::cpu {

using graph::Axes;
using graph::Shape;
using graph::Value;

struct View {
  Value root;  // the value whose storage is seen
  std::int64_t offset = 0;
  Shape shape;
  Shape strides;
};

View whole(Value root, const Shape& shape);  // row-major, in order
bool is_contiguous(const View& view);        // dense and row-major, at any offset

View broadcast(const View& view, const Axes& axes, const Shape& shape);
View transpose(const View& view, const Axes& permutation);
View slice(const View& view, const Axes& start, const Axes& limit);
// Nothing when the elements would need more than one stride per axis.
std::optional<View> reshape(const View& view, const Shape& shape);

// Several axes, outermost first, walked as one.
struct Span {
  std::int64_t size = 1;
  std::int64_t stride = 0;
};
std::optional<Span> merge_axes(const View& view, const Axes& axes);

}  // namespace trainward::cpu
