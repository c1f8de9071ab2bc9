#include "trainer/device/outer_parameters.hpp"

#include "trainer/device/update_factors.hpp"

namespace trainward::trainer {

OuterParameters::OuterParameters(const ModelState& state, std::int64_t columns,
                                 const std::optional<GroupPrograms>& body,
                                 const std::optional<GroupPrograms>& head)
    : state_(state), fixed_(state, columns) {
  const auto add = [&](RateGroup rate, const std::optional<GroupPrograms>& programs) {
    if (!programs) return;
    groups_.push_back(
        {rate, ParameterGroup(state.table, columns, state.table.outer(rate), *programs)});
  };
  add(RateGroup::body, body);
  add(RateGroup::head, head);
}

Status OuterParameters::upload(Device& device) {
  auto ok = fixed_.upload(device, state_.table.embedding);
  if (ok) ok = fixed_.upload(device, state_.table.head);
  for (Group& group : groups_) {
    if (ok) ok = group.parameters.upload(device, state_.flat);
  }
  return ok;
}

Status OuterParameters::download() const {
  for (const Group& group : groups_) {
    if (auto ok = group.parameters.download(state_.flat); !ok) return ok;
  }
  return {};
}

Status OuterParameters::add_checksum(std::size_t device, std::vector<std::byte>& scratch,
                                     std::uint64_t& checksum) const {
  for (const Group& group : groups_) {
    if (auto ok = group.parameters.add_checksum(device, scratch, checksum); !ok) return ok;
  }
  return {};
}

const Shards& OuterParameters::parameter(std::size_t place) const {
  for (const Group& group : groups_) {
    if (const auto i = group.parameters.find(place)) return group.parameters.parameter(*i);
  }
  return fixed_[place];
}

const Shards& OuterParameters::argument(std::size_t place) const {
  for (const Group& group : groups_) {
    if (const auto i = group.parameters.find(place)) return group.parameters.argument(*i);
  }
  return fixed_[place];
}

std::vector<Shards*> OuterParameters::gradients(const Places& which) {
  std::vector<Shards*> all;
  for (const std::size_t place : which) {
    for (Group& group : groups_) {
      if (const auto i = group.parameters.find(place))
        all.push_back(&group.parameters.gradient(*i));
    }
  }
  return all;
}

Status OuterParameters::exchange(RateGroup rate) {
  for (Group& group : groups_) {
    if (group.rate != rate) continue;
    if (auto ok = group.parameters.exchange(); !ok) return ok;
  }
  return {};
}

Status OuterParameters::finish(Shards& squares) {
  for (Group& group : groups_) {
    if (auto ok = group.parameters.finish(squares); !ok) return ok;
  }
  return {};
}

Status OuterParameters::update(Device& device, const TrainingSpec& spec,
                               const optim::AdamW& optimizer, std::int64_t t, const Shards* clip) {
  for (Group& group : groups_) {
    const bool head = group.rate == RateGroup::head;
    const double rate = head ? spec.head_learning_rate : spec.learning_rate;
    auto factors = upload_factors(device, optimizer.factors(rate, t));
    if (!factors) return propagate(factors);
    if (auto ok = group.parameters.update(*factors, clip); !ok) return ok;
  }
  return {};
}

}  // namespace trainward::trainer
