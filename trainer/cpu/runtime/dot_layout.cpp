#include "trainer/cpu/runtime/dot_layout.hpp"

#include <algorithm>
#include <numeric>

namespace trainward::cpu {
namespace {

bool one_unit_stride(const Span& rows, const Span& columns) {
  const auto usable = [](const Span& span) { return span.size == 1 || span.stride > 0; };
  const auto unit = [](const Span& span) { return span.size == 1 || span.stride == 1; };
  return usable(rows) && usable(columns) && (unit(rows) || unit(columns));
}

Axes range(std::size_t from, std::size_t count) {
  Axes axes(count);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(from));
  return axes;
}

struct Batch {
  std::int64_t size, lhs, rhs, out;
};

// Neighbours merge when one stride serves both in all three tensors.
std::vector<Batch> merge(const std::vector<Batch>& axes) {
  std::vector<Batch> merged;
  for (const Batch& axis : axes) {
    if (axis.size == 1) continue;
    if (!merged.empty() && merged.back().lhs == axis.lhs * axis.size &&
        merged.back().rhs == axis.rhs * axis.size && merged.back().out == axis.out * axis.size) {
      merged.back() = {merged.back().size * axis.size, axis.lhs, axis.rhs, axis.out};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

}  // namespace

bool fits_product(const View& operand, const Axes& batch, const Axes& contract) {
  const auto free = merge_axes(operand, graph::other_axes(operand.shape.size(), batch, contract));
  const auto contracted = merge_axes(operand, contract);
  const bool repeats = std::any_of(batch.begin(), batch.end(), [&](std::int64_t axis) {
    const auto i = static_cast<std::size_t>(axis);
    return operand.shape[i] != 1 && operand.strides[i] == 0;
  });
  return free && contracted && !repeats && one_unit_stride(*free, *contracted);
}

Axes product_order(std::size_t rank, const Axes& batch, const Axes& contract) {
  Axes order = batch;
  const Axes free = graph::other_axes(rank, batch, contract);
  order.insert(order.end(), free.begin(), free.end());
  order.insert(order.end(), contract.begin(), contract.end());
  return order;
}

std::optional<DotLayout> dot_layout(const graph::op::DotGeneral& dot, const View& lhs,
                                    const View& rhs, const View& out) {
  const Axes lhs_free = graph::other_axes(lhs.shape.size(), dot.lhs_batch, dot.lhs_contract);
  const Axes rhs_free = graph::other_axes(rhs.shape.size(), dot.rhs_batch, dot.rhs_contract);
  const std::size_t batches = dot.lhs_batch.size();
  const auto lhs_m = merge_axes(lhs, lhs_free);
  const auto lhs_k = merge_axes(lhs, dot.lhs_contract);
  const auto rhs_n = merge_axes(rhs, rhs_free);
  const auto rhs_k = merge_axes(rhs, dot.rhs_contract);
  const auto out_m = merge_axes(out, range(batches, lhs_free.size()));
  const auto out_n = merge_axes(out, range(batches + lhs_free.size(), rhs_free.size()));
  if (!lhs_m || !lhs_k || !rhs_n || !rhs_k || !out_m || !out_n) return std::nullopt;
  if (!fits_product(lhs, dot.lhs_batch, dot.lhs_contract) ||
      !fits_product(rhs, dot.rhs_batch, dot.rhs_contract)) {
    return std::nullopt;
  }
  if (out_n->size != 1 && out_n->stride != 1) return std::nullopt;

  DotLayout layout;
  layout.m = lhs_m->size;
  layout.n = rhs_n->size;
  layout.k = lhs_k->size;
  layout.lhs_m = *lhs_m;
  layout.lhs_k = *lhs_k;
  layout.rhs_k = *rhs_k;
  layout.rhs_n = *rhs_n;
  layout.out_m = *out_m;
  layout.out_n = *out_n;
  std::vector<Batch> axes;
  for (std::size_t i = 0; i < batches; ++i) {
    const auto l = static_cast<std::size_t>(dot.lhs_batch[i]);
    const auto r = static_cast<std::size_t>(dot.rhs_batch[i]);
    axes.push_back({lhs.shape[l], lhs.strides[l], rhs.strides[r], out.strides[i]});
  }
  for (const Batch& axis : merge(axes)) {
    layout.batch.push_back(axis.size);
    layout.lhs_batch.push_back(axis.lhs);
    layout.rhs_batch.push_back(axis.rhs);
    layout.out_batch.push_back(axis.out);
  }
  return layout;
}

}  // namespace trainward::cpu
