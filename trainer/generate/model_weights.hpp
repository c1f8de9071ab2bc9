// Where the values of a model's parameters lie: in arrays of our own, in mapped files, or in those
// of a model that is being trained. A view: it owns nothing, and what it shows may change between
// two texts.
#pragma once

#include <vector>

#include "common/base/error.hpp"
#include "trainer/graph/type.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

struct ModelWeights {
  struct Value {
    const void* data = nullptr;  // row-major
    graph::Element element = graph::Element::f32;
  };
  ModelSpec model;
  // By place in the model's ParameterTable. Those of tables are not read: the user of the weights
  // makes tables of the length it needs.
  std::vector<Value> values;
};

// Of a model in training, as it is after each gather_state(). Kind usage where its values are not
// in this process's memory.
Result<ModelWeights> weights_of(const Trainable& trainable, const ModelSpec& model);

}  // namespace trainward::trainer
