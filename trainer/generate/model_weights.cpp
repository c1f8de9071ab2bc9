#include "trainer/generate/model_weights.hpp"

#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

Result<ModelWeights> weights_of(const Trainable& trainable, const ModelSpec& model) {
  const std::vector<const void*> places = trainable.weights();
  const ParameterTable table = make_parameter_table(model, 2);
  if (places.size() != table.infos.size()) {
    return fail(ErrorKind::usage, "the weights of this model are not in this process's memory");
  }
  ModelWeights weights{model, {}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    weights.values.push_back({places[i], table.infos[i].element});
  }
  return weights;
}

}  // namespace trainward::trainer
