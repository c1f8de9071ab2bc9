#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "trainer/model/agillm3/agillm3.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/gpt2/gpt2.hpp"
#include "trainer/model/layers.hpp"
#include "trainer/model/llama/llama.hpp"

namespace trainward::trainer {

Weights Weights::add(graph::Builder& builder, const ParameterTable& table, const Places& which) {
  Weights weights(builder, {});
  for (const std::size_t i : which) {
    const ParameterInfo& info = table.infos[i];
    const graph::Value value = builder.parameter(info.name, {info.element, info.shape});
    weights.parameters_.push_back(value);
    if (info.trained()) weights.trained_.push_back(value);
    weights.named_.emplace_back(info.local_name(), value);
  }
  return weights;
}

Weights::Weights(graph::Builder& builder, Named named)
    : builder_(&builder), named_(std::move(named)) {
  for (const auto& [name, value] : named_) parameters_.push_back(value);
  trained_ = parameters_;
}

graph::Value Weights::operator[](std::string_view name) const {
  const auto found = std::find_if(named_.begin(), named_.end(),
                                  [&](const auto& weight) { return weight.first == name; });
  if (found != named_.end()) return found->second;
  builder_->set_error({ErrorKind::usage, fmt::format("there is no weight '{}'", name), {}, {}});
  return {};
}

bool Weights::contains(std::string_view name) const {
  return std::any_of(named_.begin(), named_.end(),
                     [&](const auto& weight) { return weight.first == name; });
}

using graph::Builder;
using graph::Value;

Shapes shapes_of(const std::vector<checkpoint::TensorInfo>& tensors) {
  Shapes shapes;
  for (const checkpoint::TensorInfo& info : tensors) shapes[info.name] = info.shape;
  return shapes;
}

// One line an architecture. New ones go to the end: ranks of one run know them by their place.
std::span<const Architecture* const> architectures() {
  static const std::array all{
      &agillm3(),
      &gpt2(),
      &llama(),
  };
  return all;
}

const Architecture& architecture_of(const ModelSpec& model) {
  return *architectures()[model.architecture];
}

Result<std::size_t> find_architecture(std::string_view name) {
  const auto all = architectures();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Architecture* architecture) {
    return architecture->name() == name;
  });
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  return fail(ErrorKind::usage, fmt::format("there is no architecture '{}'", name));
}

const Architecture* architecture_of(const Shapes& shapes) {
  for (const Architecture* architecture : architectures()) {
    if (shapes.contains(architecture->token_embedding())) return architecture;
  }
  return nullptr;
}

Result<ModelSpec> Architecture::read_config(const json::object& /*config*/, std::string_view where,
                                            int /*edition*/) const {
  return fail(ErrorKind::usage, fmt::format("models of {} have no config.json", title()),
              std::string(where));
}

Result<ModelSpec> read_model_config(const json::object& config, std::string_view where,
                                    int edition) {
  const std::string type = string_or(config, "model_type", "");
  std::vector<std::string_view> known;
  for (const Architecture* architecture : architectures()) {
    for (const std::string_view name : architecture->model_types()) {
      if (name == type) return architecture->read_config(config, where, edition);
      known.push_back(name);
    }
  }
  return fail(ErrorKind::usage, fmt::format("model_type is '{}', which is not built here", type),
              std::string(where),
              fmt::format("models of the types {} and {} can be trained",
                          fmt::join(std::span(known).first(known.size() - 1), ", "), known.back()));
}

std::string architecture_titles() {
  std::vector<std::string_view> titles;
  for (const Architecture* architecture : architectures()) titles.push_back(architecture->title());
  return fmt::format("{}", fmt::join(titles, " and "));
}

Value block(Builder& b, const TrainingSpec& spec, const Weights& w, Value x, Value key,
            Value segments) {
  const Architecture& architecture = architecture_of(spec.model);
  const BlockCall call{spec.model, {}, key, spec.positions()};
  const QueryKeyValue parts = architecture.project(b, call, w, x);
  if (b.error()) return {};
  const double scale = score_scale(spec.model.head_width());
  const Value mixed = spec.fused_attention ? fused_attention(b, parts, scale, segments)
                                           : causal_attention(b, parts, scale, {{}, segments});
  Value attended = architecture.attended(b, call, w, mixed);
  if (key.valid() && spec.dropout > 0) {
    attended = dropout(b, attended, key, spec.dropout,
                       {.row = architecture.drops_by_token() ? spec.positions() : 0});
  }
  return architecture.rest(b, call, w, x, attended);
}

}  // namespace trainward::trainer
