#include <algorithm>

#include "trainer/graph/infer.hpp"

namespace trainward::graph {
namespace {

// Each axis in range and at most once over both lists.
bool distinct_axes(const Type& type, const Axes& batch, const Axes& contract) {
  std::vector<bool> seen(type.shape.size(), false);
  for (const Axes* axes : {&batch, &contract}) {
    for (const std::int64_t axis : *axes) {
      if (axis < 0 || axis >= static_cast<std::int64_t>(seen.size())) return false;
      if (seen[static_cast<std::size_t>(axis)]) return false;
      seen[static_cast<std::size_t>(axis)] = true;
    }
  }
  return true;
}

bool sizes_agree(const Type& lhs, const Axes& lhs_axes, const Type& rhs, const Axes& rhs_axes) {
  return std::equal(lhs_axes.begin(), lhs_axes.end(), rhs_axes.begin(), rhs_axes.end(),
                    [&](std::int64_t l, std::int64_t r) {
                      return lhs.shape[static_cast<std::size_t>(l)] ==
                             rhs.shape[static_cast<std::size_t>(r)];
                    });
}

}  // namespace

Result<Type> infer_dot_general(const op::DotGeneral& dot, const Type& lhs, const Type& rhs) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorKind::usage, fmt::format("dot_general: {} ({} with {}, {})", why,
                                              to_string(lhs), to_string(rhs), attributes_of(dot)));
  };
  const bool bf16 = dot.precision == Precision::bf16 && lhs.element == Element::bf16;
  if (rhs.element != lhs.element || (lhs.element != Element::f32 && !bf16)) {
    return wrong("operands must both be f32, or bf16 with the algorithm for it");
  }
  if (!distinct_axes(lhs, dot.lhs_batch, dot.lhs_contract) ||
      !distinct_axes(rhs, dot.rhs_batch, dot.rhs_contract)) {
    return wrong("an axis is out of range or used twice");
  }
  if (!sizes_agree(lhs, dot.lhs_batch, rhs, dot.rhs_batch)) return wrong("batch sizes differ");
  if (!sizes_agree(lhs, dot.lhs_contract, rhs, dot.rhs_contract)) {
    return wrong("contracted sizes differ");
  }
  Shape shape;
  for (const std::int64_t axis : dot.lhs_batch) {
    shape.push_back(lhs.shape[static_cast<std::size_t>(axis)]);
  }
  for (const std::int64_t axis : other_axes(lhs.shape.size(), dot.lhs_batch, dot.lhs_contract)) {
    shape.push_back(lhs.shape[static_cast<std::size_t>(axis)]);
  }
  for (const std::int64_t axis : other_axes(rhs.shape.size(), dot.rhs_batch, dot.rhs_contract)) {
    shape.push_back(rhs.shape[static_cast<std::size_t>(axis)]);
  }
  return Type{Element::f32, std::move(shape)};
}

}  // namespace trainward::graph
