// The flat arrays of a model in training, and how they look to a checkpoint.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "checkpoint/reader.hpp"
#include "common/base/error.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/fixed_values.hpp"

namespace trainward::trainer {

// Parameters, gradients and both moments, one array each with the layout of a ParameterTable; where
// asked for, the parameters as bf16 too; code that changes the parameters must update them.
class FlatMemory {
 public:
  static Result<FlatMemory> allocate(std::size_t elements, bool with_packed);

  [[nodiscard]] std::span<float> parameters() const { return array(0); }
  [[nodiscard]] std::span<float> gradients() const { return array(1); }
  [[nodiscard]] std::span<float> mean() const { return array(2); }
  [[nodiscard]] std::span<float> variance() const { return array(3); }
  [[nodiscard]] std::span<float> moments() const {  // both, one after the other
    return {mean().data(), 2 * elements_};
  }
  [[nodiscard]] std::span<std::uint16_t> packed() const {  // empty unless asked for
    return {reinterpret_cast<std::uint16_t*>(array(4).data()), with_packed_ ? elements_ : 0};
  }
  // Of the parameters, where they are kept packed.
  void pack() const { pack(0, elements_); }
  void pack(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::size_t bytes() const { return memory_.size(); }

 private:
  [[nodiscard]] std::span<float> array(std::size_t i) const {
    return {reinterpret_cast<float*>(memory_.data()) + i * elements_, elements_};
  }
  cpu::Memory memory_;
  std::size_t elements_ = 0;
  bool with_packed_ = false;
};

// A model in training, as it lies in the host's memory. It does not move: others borrow both.
struct ModelState {
  ModelState(ParameterTable of, FlatMemory arrays, FixedValues never_trained)
      : table(std::move(of)), flat(std::move(arrays)), fixed(std::move(never_trained)) {}
  // Of the spec's model: what is trained all zero, the rest from the base.
  static Result<std::unique_ptr<ModelState>> allocate(const TrainingSpec& spec, bool with_packed,
                                                      const BaseWeights* base);

  const ParameterTable table;
  const FlatMemory flat;
  const FixedValues fixed;
};

// Of what is trained, borrowed from `flat`: "core.emb.weight", …; moments
// "core.emb.weight.exp_avg", "….exp_avg_sq".
std::vector<checkpoint::TensorView> model_views(const ParameterTable& table,
                                                const FlatMemory& flat);
std::vector<checkpoint::TensorView> optimizer_views(const ParameterTable& table,
                                                    const FlatMemory& flat);

// The same memory, to be filled.
std::vector<checkpoint::TensorTarget> model_targets(const ParameterTable& table,
                                                    const FlatMemory& flat);
std::vector<checkpoint::TensorTarget> optimizer_targets(const ParameterTable& table,
                                                        const FlatMemory& flat);

}  // namespace trainward::trainer
