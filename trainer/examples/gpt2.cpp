#include "trainer/examples/gpt2.hpp"

#include "trainer/model/attention.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Value;
using Values = std::span<const Value>;

constexpr std::size_t block_parameters_of_gpt2 = 12;

std::vector<ParameterInfo> parameters_of(const Gpt2Spec& spec) {
  const std::int64_t d = spec.width;
  std::vector<ParameterInfo> all{{"wte.weight", {spec.vocabulary, d}, Initial::uniform, d},
                                 {"wpe.weight", {spec.positions, d}, Initial::uniform, d}};
  const auto norm = [&](const std::string& name) {
    all.push_back({name + ".weight", {d}, Initial::ones});
    all.push_back({name + ".bias", {d}, Initial::zeros});
  };
  const auto dense = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    all.push_back({name + ".weight", {out, in}, Initial::uniform, in});
    all.push_back({name + ".bias", {out}, Initial::zeros});
  };
  for (std::int64_t i = 0; i < spec.layers; ++i) {
    const std::string layer = fmt::format("h.{}.", i);
    norm(layer + "ln_1");
    dense(layer + "attn.c_attn", 3 * d, d);
    dense(layer + "attn.c_proj", d, d);
    norm(layer + "ln_2");
    dense(layer + "mlp.c_fc", 4 * d, d);
    dense(layer + "mlp.c_proj", d, 4 * d);
  }
  norm("ln_f");
  return all;
}

Value dense(Builder& b, Value x, Value weight, Value bias) {
  return add_bias(b, linear(b, x, weight), bias);
}

Value attention(Builder& b, Value x, Values p, std::int64_t heads) {
  const graph::Shape shape = b.type(x).shape;
  const Value all = dense(b, x, p[0], p[1]);
  const auto part = [&](std::int64_t i) {
    const Value third =
        b.slice(all, {0, 0, i * shape[2]}, {shape[0], shape[1], (i + 1) * shape[2]});
    return b.reshape(third, {shape[0], shape[1], heads, shape[2] / heads});
  };
  const double scale = score_scale(shape[2], heads);
  return dense(b, causal_attention(b, {part(0), part(1), part(2)}, scale), p[2], p[3]);
}

Value block(Builder& b, Value x, Values p, std::int64_t heads) {
  const Value middle = b.add(x, attention(b, layer_norm(b, x, p[0], p[1]), p.subspan(2, 4), heads));
  const Value normal = layer_norm(b, middle, p[6], p[7]);
  return b.add(middle, dense(b, gelu(b, dense(b, normal, p[8], p[9])), p[10], p[11]));
}

}  // namespace

Result<ModelGraph> make_gpt2(const Gpt2Spec& spec) {
  if (spec.heads < 1 || spec.width % spec.heads != 0) {
    return fail(ErrorKind::usage,
                fmt::format("a width of {} does not divide into {} heads", spec.width, spec.heads));
  }
  const auto loss = [&](Builder& b, Values in, Values p) {
    const graph::Shape shape{spec.batch, spec.positions, spec.width};
    Value x = b.add(b.gather_rows(p[0], in[0]), b.broadcast(p[1], {1, 2}, shape));
    std::size_t next = 2;
    for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
      x = block(b, x, p.subspan(next, block_parameters_of_gpt2), spec.heads);
      next += block_parameters_of_gpt2;
    }
    const Value logits = linear(b, layer_norm(b, x, p[next], p[next + 1]), p[0]);
    return cross_entropy(b, logits, in[1], spec.vocabulary);
  };
  const graph::Type ids{Element::i32, {spec.batch, spec.positions}};
  return make_model_graph({{"ids", ids}, {"targets", ids}}, parameters_of(spec), spec.precision,
                          loss);
}

}  // namespace trainward::trainer
