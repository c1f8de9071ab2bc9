// The initial weights of a model, as files from elsewhere hold them.
//
// Tensors are borrowed: they lie in mapped files, and no copy of them is made where they can be
// used as they are. Errors: usage, naming the tensor, for one that is missing, of another shape
// than the model's, or of a type that is no float of 16 or 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "checkpoint/format/tensor.hpp"
#include "common/base/error.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

class BaseWeights {
 public:
  struct Tensor {
    checkpoint::DType type = checkpoint::DType::f32;
    graph::Shape shape;
    std::span<const std::byte> bytes;
  };

  BaseWeights() = default;
  BaseWeights(const BaseWeights&) = delete;
  BaseWeights& operator=(const BaseWeights&) = delete;
  BaseWeights(BaseWeights&&) = delete;
  BaseWeights& operator=(BaseWeights&&) = delete;
  virtual ~BaseWeights() = default;

  // Valid as long as this object.
  [[nodiscard]] virtual std::optional<Tensor> find(std::string_view name) const = 0;
};

// The tensor of a parameter; rows that are padding may be missing in it.
Result<BaseWeights::Tensor> base_tensor(const BaseWeights& base, const ParameterInfo& info);

// Its values as f32, zeros in what is padding. `values` holds info.size() elements.
Status fill_from(const BaseWeights& base, const ParameterInfo& info, std::span<float> values);
// The same as bf16: rounded to the nearest, where the files have more.
Status fill_from(const BaseWeights& base, const ParameterInfo& info,
                 std::span<std::uint16_t> values);

}  // namespace trainward::trainer
