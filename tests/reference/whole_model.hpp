// A model whose training step is one graph, whatever it computes: parameters in, loss and gradients
// out, then the optimizer. What the trainer does in segments is held against it, and graphs that
// are no language model run in it.
//
// All memory is taken when it is made. Parameters start as a function of the seed and their names.
// One thread uses it at a time; the same state, inputs and thread count give the same bits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/trainable.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {

struct ModelGraph {
  std::vector<std::string> inputs;
  std::vector<ParameterInfo> parameters;
  // (inputs…, parameters…) -> (loss, gradient of each parameter…). Some parameters may be bf16.
  graph::Graph step;
};

struct Input {
  std::string name;
  graph::Type type;
};

// `loss` builds a scalar from the values of inputs and parameters, with products in `precision`.
// Errors: what the builder says.
using MakeLoss = std::function<graph::Value(graph::Builder& b, std::span<const graph::Value> inputs,
                                            std::span<const graph::Value> parameters)>;
Result<ModelGraph> make_model_graph(const std::vector<Input>& inputs,
                                    std::vector<ParameterInfo> parameters,
                                    graph::Precision precision, const MakeLoss& loss);

struct Sgd {
  double learning_rate = 1e-2;
};
struct AdamWithDecay {
  optim::AdamWOptions options;
  double learning_rate = 1e-3;
};
using Optimizer = std::variant<Sgd, AdamWithDecay>;

class WholeModel {
 public:
  static Result<std::unique_ptr<WholeModel>> make(ModelGraph graph, const Optimizer& optimizer,
                                                  std::uint64_t seed, int threads);
  WholeModel(const WholeModel&) = delete;
  WholeModel& operator=(const WholeModel&) = delete;
  WholeModel(WholeModel&&) = delete;
  WholeModel& operator=(WholeModel&&) = delete;
  ~WholeModel();

  // `inputs`: dense row-major buffers in the order they were named, four bytes an element.
  // Error permanent, and the parameters as they were, when the loss is no number.
  Result<StepResult> step(std::span<const void* const> inputs);

  [[nodiscard]] const std::vector<ParameterInfo>& parameters() const;
  [[nodiscard]] std::span<const float> parameter(std::size_t i) const;
  void set_parameter(std::size_t i, std::span<const float> values);    // as many as it has
  [[nodiscard]] std::span<const float> gradient(std::size_t i) const;  // of the last step
  [[nodiscard]] std::size_t arena_bytes() const;

 private:
  struct State;
  explicit WholeModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainward::trainer
