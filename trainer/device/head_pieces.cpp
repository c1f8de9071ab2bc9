#include "trainer/device/head_pieces.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "trainer/graph/builder.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Type;
using graph::Value;

Result<Graph> make_cut(const TrainingSpec& spec) {
  const std::int64_t width = spec.model.width;
  const std::int64_t rows = head_rows(spec);
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {spec.batch_size, spec.block_size, width}});
  const Value flat = b.reshape(x, {1, spec.batch_size * spec.block_size, width});
  std::vector<Value> pieces;
  for (std::int64_t i = 0; i < head_pieces(spec); ++i) {
    pieces.push_back(b.slice(flat, {0, i * rows, 0}, {1, (i + 1) * rows, width}));
  }
  return b.finish(pieces);
}

Result<Graph> make_join(const TrainingSpec& spec) {
  const std::int64_t width = spec.model.width;
  const Type piece{Element::f32, {1, head_rows(spec), width}};
  Builder b;
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < head_pieces(spec); ++i) {
    parts.push_back(b.parameter(fmt::format("dx.{}", i), piece));
  }
  Value loss;
  for (std::int64_t i = 0; i < head_pieces(spec); ++i) {
    const Value one = b.parameter(fmt::format("loss.{}", i), {});
    loss = loss.valid() ? b.add(loss, one) : one;
  }
  const Value whole = b.concatenate(std::move(parts), 1);
  return b.finish(std::vector{loss, b.reshape(whole, {spec.batch_size, spec.block_size, width})});
}

}  // namespace trainward::trainer
