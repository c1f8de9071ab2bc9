#include "mlp.hpp"

#include "trainer/model/layers.hpp"

namespace trainward::trainer {

using graph::Builder;
using graph::Element;
using graph::Value;

Result<ModelGraph> make_mlp(const MlpSpec& spec) {
  const auto loss = [](Builder& b, std::span<const Value> in, std::span<const Value> p) {
    const Value hidden = relu(b, add_bias(b, linear(b, in[0], p[0]), p[1]));
    const Value difference = b.sub(add_bias(b, linear(b, hidden, p[2]), p[3]), in[1]);
    const auto count = static_cast<double>(graph::element_count(b.type(difference).shape));
    return b.scale(b.sum(b.mul(difference, difference), {0, 1}), 1 / count);
  };
  return make_model_graph({{"x", {Element::f32, {spec.batch, spec.in}}},
                           {"target", {Element::f32, {spec.batch, spec.out}}}},
                          {{"fc1.weight", {spec.hidden, spec.in}, Initial::uniform, spec.in},
                           {"fc1.bias", {spec.hidden}, Initial::uniform, spec.in},
                           {"fc2.weight", {spec.out, spec.hidden}, Initial::uniform, spec.hidden},
                           {"fc2.bias", {spec.out}, Initial::uniform, spec.hidden}},
                          spec.precision, loss);
}

}  // namespace trainward::trainer
