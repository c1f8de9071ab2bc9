#include "whole_step.hpp"

#include "trainer/model/architecture.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Value;
using Values = std::span<const Value>;

Result<ModelGraph> make_whole_step(const TrainingSpec& spec) {
  if (auto ok = check_spec(spec); !ok) return propagate(ok);
  const ParameterTable table = make_parameter_table(spec.model, spec.block_size);
  const Architecture& architecture = architecture_of(spec.model);
  const auto loss = [&](Builder& b, Values in, Values p) {
    const auto weights = [&](const Places& which) {
      Weights::Named named;
      for (const std::size_t i : which) named.emplace_back(table.infos[i].local_name(), p[i]);
      return Weights(b, std::move(named));
    };
    Value x = architecture.embed(b, spec.model, weights(table.embedding), in[0], {});
    for (std::int64_t layer = 0; layer < spec.model.layers; ++layer) {
      x = block(b, spec, weights(table.block(static_cast<std::size_t>(layer))), x, {});
    }
    const Value logits = architecture.logits(b, spec.model, weights(table.head), x);
    return cross_entropy(b, logits, in[1], {spec.model.vocabulary}, spec.label_smoothing);
  };
  const graph::Type ids{graph::Element::i32, {spec.batch_size, spec.block_size}};
  return make_model_graph({{"ids", ids}, {"targets", ids}}, table.infos, spec.precision, loss);
}

}  // namespace trainward::trainer
