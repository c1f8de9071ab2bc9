#include "trainer/model/training/base_weights.hpp"

#include <algorithm>

#include "checkpoint/format/floats.hpp"

namespace trainward::trainer {
namespace {

using checkpoint::DType;

// `values` has room for padding, which is set to zero.
template <typename T>
Status fill(const BaseWeights& base, const ParameterInfo& info, std::span<T> values, DType type) {
  auto tensor = base_tensor(base, info);
  if (!tensor) return propagate(tensor);
  const auto live = static_cast<std::size_t>(graph::element_count(tensor->shape));
  const std::span<T> into = values.first(live);
  checkpoint::convert_floats(tensor->type, tensor->bytes, type, std::as_writable_bytes(into));
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(live), values.end(), T{});
  return {};
}

}  // namespace

Result<BaseWeights::Tensor> base_tensor(const BaseWeights& base, const ParameterInfo& info) {
  auto tensor = base.find(info.name);
  if (!tensor) {
    return fail(ErrorKind::usage, fmt::format("has no tensor '{}'", info.name), "base_model",
                "its config.json describes another model than its files hold");
  }
  graph::Shape live = info.shape;
  if (!live.empty()) live[0] = info.live_rows;
  if (tensor->shape != info.shape && tensor->shape != live) {
    return fail(ErrorKind::usage,
                fmt::format("'{}' is {}, where its config.json asks for {}", info.name,
                            graph::to_string({graph::Element::f32, tensor->shape}),
                            graph::to_string({graph::Element::f32, live})),
                "base_model", "its config.json describes another model than its files hold");
  }
  if (!checkpoint::is_float(tensor->type)) {
    return fail(ErrorKind::usage,
                fmt::format("'{}' is {}, no type that can be trained on", info.name,
                            checkpoint::to_string(tensor->type)),
                "base_model", "take the model with weights in bf16, f16 or f32");
  }
  return *tensor;
}

Status fill_from(const BaseWeights& base, const ParameterInfo& info, std::span<float> values) {
  return fill(base, info, values, DType::f32);
}

Status fill_from(const BaseWeights& base, const ParameterInfo& info,
                 std::span<std::uint16_t> values) {
  return fill(base, info, values, DType::bf16);
}

}  // namespace trainward::trainer
