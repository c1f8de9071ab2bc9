// The values of parameters that are not trained: frozen weights and tables.
//
// Frozen weights are looked at where the base holds them, in mapped files, whenever they lie there
// as the graphs take them; only what is padded, or of another type, is copied. Immutable; borrows
// the base.
#pragma once

#include <vector>

#include "common/base/error.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/base_weights.hpp"

namespace trainward::trainer {

class FixedValues {
 public:
  FixedValues() = default;
  // `base`: nullptr where nothing is frozen; without it frozen weights are drawn as if they were
  // trained, from `seed`.
  static Result<FixedValues> make(const ModelSpec& model, const ParameterTable& table,
                                  const BaseWeights* base, std::uint64_t seed);

  // What make() would copy, and what it would look at where it lies; bytes.
  struct Bytes {
    std::size_t copied = 0;
    std::size_t mapped = 0;
  };
  static Bytes count(const ParameterTable& table, const BaseWeights* base);

  // Row-major elements of ParameterInfo::element; of what is trained nullptr.
  [[nodiscard]] const void* of(std::size_t place) const { return values_[place]; }
  [[nodiscard]] std::size_t bytes() const { return memory_.size(); }  // of its own

 private:
  cpu::Memory memory_;
  std::vector<const void*> values_;
};

}  // namespace trainward::trainer
