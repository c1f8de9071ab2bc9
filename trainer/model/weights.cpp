#include "trainer/model/weights.hpp"

#include <algorithm>

namespace trainward::trainer {

Weights Weights::add(graph::Builder& builder, const ParameterTable& table, const Places& which) {
  Named named;
  named.reserve(which.size());
  for (const std::size_t i : which) {
    const ParameterInfo& info = table.infos[i];
    named.emplace_back(info.local_name(),
                       builder.parameter(info.name, {graph::Element::f32, info.shape}));
  }
  return {builder, std::move(named)};
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

std::vector<graph::Value> Weights::values() const {
  std::vector<graph::Value> all;
  all.reserve(named_.size());
  for (const auto& weight : named_) all.push_back(weight.second);
  return all;
}

}  // namespace trainward::trainer
