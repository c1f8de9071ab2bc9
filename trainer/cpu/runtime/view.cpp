#include "trainer/cpu/runtime/view.hpp"

namespace trainward::cpu {

View whole(Value root, const Shape& shape) {
  return {root, 0, shape, graph::contiguous_strides(shape)};
}

bool is_contiguous(const View& view) {
  const Shape dense = graph::contiguous_strides(view.shape);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (view.shape[i] != 1 && view.strides[i] != dense[i]) return false;
  }
  return true;
}

View broadcast(const View& view, const Axes& axes, const Shape& shape) {
  View result{view.root, view.offset, shape, Shape(shape.size(), 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    result.strides[static_cast<std::size_t>(axes[i])] = view.strides[i];
  }
  return result;
}

View transpose(const View& view, const Axes& permutation) {
  View result = view;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    const auto from = static_cast<std::size_t>(permutation[i]);
    result.shape[i] = view.shape[from];
    result.strides[i] = view.strides[from];
  }
  return result;
}

View slice(const View& view, const Axes& start, const Axes& limit) {
  View result = view;
  for (std::size_t i = 0; i < start.size(); ++i) {
    result.offset += start[i] * view.strides[i];
    result.shape[i] = limit[i] - start[i];
  }
  return result;
}

std::optional<View> reshape(const View& view, const Shape& shape) {
  // Merge the old axes into as few runs as the strides allow, then cut the new axes out of them,
  // innermost first.
  std::vector<Span> runs;
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] == 1) continue;
    const Span axis{view.shape[i], view.strides[i]};
    if (!runs.empty() && runs.back().stride == axis.stride * axis.size) {
      runs.back() = {runs.back().size * axis.size, axis.stride};
    } else {
      runs.push_back(axis);
    }
  }
  View result{view.root, view.offset, shape, Shape(shape.size(), 0)};
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (!runs.empty() && runs.back().size == 1) runs.pop_back();
    if (runs.empty() || runs.back().size % shape[i] != 0) return std::nullopt;
    result.strides[i] = runs.back().stride;
    runs.back() = {runs.back().size / shape[i], runs.back().stride * shape[i]};
  }
  return result;
}

std::optional<Span> merge_axes(const View& view, const Axes& axes) {
  Span merged;
  bool first = true;
  for (const std::int64_t axis : axes) {
    const Span next{view.shape[static_cast<std::size_t>(axis)],
                    view.strides[static_cast<std::size_t>(axis)]};
    if (next.size == 1) continue;
    if (first) {
      merged = next;
      first = false;
    } else if (merged.stride == next.stride * next.size) {
      merged = {merged.size * next.size, next.stride};
    } else {
      return std::nullopt;
    }
  }
  return merged;
}

}  // namespace trainward::cpu
