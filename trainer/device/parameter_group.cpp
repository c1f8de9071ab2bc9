#include "trainer/device/parameter_group.hpp"

#include <algorithm>

#include "trainer/device/optimizer_graphs.hpp"
#include "trainer/device/shares.hpp"
#include "trainer/model/columns.hpp"
#include "trainer/model/training/checksum.hpp"

namespace trainward::trainer {
namespace {

void add_all(const std::vector<Shards>& values, std::vector<const Shards*>& arguments) {
  for (const Shards& value : values) arguments.push_back(&value);
}

void move_some(std::vector<Shards>& from, std::size_t begin, std::vector<Shards>& into) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::move(from[begin + i]);
}

}  // namespace

Result<GroupPrograms> make_programs(Device& device, const GroupModules& modules) {
  auto pack = device.make(modules.pack, Work::after_exchange);
  if (!pack) return propagate(pack);
  auto exchange = device.make(modules.exchange, Work::exchange);
  if (!exchange) return propagate(exchange);
  auto finish = device.make(modules.finish, Work::after_exchange);
  if (!finish) return propagate(finish);
  auto update = device.make(modules.update, Work::after_exchange);
  if (!update) return propagate(update);
  return GroupPrograms{std::move(*pack),   std::move(*exchange), std::move(*finish),
                       std::move(*update), modules.packed,       modules.exchanged};
}

ParameterGroup::ParameterGroup(const ParameterTable& table, std::int64_t columns, Places which,
                               const GroupPrograms& programs)
    : table_(&table),
      columns_(columns),
      which_(std::move(which)),
      programs_(&programs),
      parameters_(which_.size()),
      packed_(which_.size()),
      gradients_(which_.size()),
      means_(which_.size()),
      variances_(which_.size()) {}

std::optional<std::size_t> ParameterGroup::find(std::size_t of_table) const {
  const auto at = std::find(which_.begin(), which_.end(), of_table);
  if (at == which_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - which_.begin());
}

Status ParameterGroup::upload(Device& device, const FlatMemory& flat) {
  for (std::size_t i = 0; i < which_.size(); ++i) {
    const ParameterInfo& info = table_->infos[which_[i]];
    const auto put = [&](Shards& into, std::span<float> array) -> Status {
      into.clear();  // the old value goes first: there may be no room for both
      auto value = begin_upload(device, info, columns_,
                                std::as_bytes(array.subspan(info.offset, info.size())));
      if (!value) return propagate(value);
      into = std::move(*value);
      return {};
    };
    packed_[i].clear();
    auto ok = put(parameters_[i], flat.parameters());
    if (ok) ok = put(means_[i], flat.mean());
    if (ok) ok = put(variances_[i], flat.variance());
    if (!ok) return ok;
  }
  return pack();
}

Status ParameterGroup::pack() {
  if (!programs_->pack) return {};
  std::vector<const Shards*> arguments;
  add_all(parameters_, arguments);
  auto results = programs_->pack->run(arguments);
  if (!results) return propagate(results);
  take_packed(*results, 0);
  return {};
}

void ParameterGroup::take_packed(std::vector<Shards>& results, std::size_t next) {
  for (std::size_t i = 0; i < which_.size(); ++i) {
    if (programs_->packed[i]) packed_[i] = std::move(results[next++]);
  }
}

Status ParameterGroup::download(const FlatMemory& flat) const {
  for (std::size_t i = 0; i < which_.size(); ++i) {
    const ParameterInfo& info = table_->infos[which_[i]];
    const auto get = [&](const Shards& from, std::span<float> array) {
      return download_whole(from, info, columns_,
                            std::as_writable_bytes(array.subspan(info.offset, info.size())));
    };
    auto ok = get(parameters_[i], flat.parameters());
    if (ok) ok = get(means_[i], flat.mean());
    if (ok) ok = get(variances_[i], flat.variance());
    if (!ok) return ok;
  }
  return {};
}

Status ParameterGroup::add_checksum(std::size_t device, std::vector<std::byte>& scratch,
                                    std::uint64_t& checksum) const {
  for (std::size_t i = 0; i < which_.size(); ++i) {
    const std::size_t bytes = Share(table_->infos[which_[i]], columns_, sizeof(float)).size();
    if (scratch.size() < bytes) scratch.resize(bytes);
    const std::span<std::byte> copy(scratch.data(), bytes);
    if (auto ok = trainer::download(parameters_[i], copy, device); !ok) return ok;
    checksum = trainer::add_checksum(checksum, copy);
  }
  return {};
}

Status ParameterGroup::exchange() {
  if (!programs_->exchange) return {};
  std::vector<const Shards*> arguments;
  for (std::size_t i = 0; i < which_.size(); ++i) {
    if (programs_->exchanged[i]) arguments.push_back(&gradients_[i]);
  }
  auto results = programs_->exchange->run(arguments);
  if (!results) return propagate(results);
  for (std::size_t i = 0, next = 0; i < which_.size(); ++i) {
    if (programs_->exchanged[i]) gradients_[i] = std::move((*results)[next++]);
  }
  return {};
}

Status ParameterGroup::finish(Shards& squares) {
  std::vector<const Shards*> arguments{&squares};
  add_all(gradients_, arguments);
  auto results = programs_->finish.run(arguments);
  if (!results) return propagate(results);
  squares = std::move(results->front());
  return {};
}

Status ParameterGroup::update(std::span<const Shards> factors, const Shards* clip) {
  std::vector<const Shards*> arguments;
  for (const Shards& factor : factors) arguments.push_back(&factor);
  if (clip != nullptr) arguments[static_cast<std::size_t>(UpdateFactor::clip)] = clip;
  for (const auto* values : {&parameters_, &gradients_, &means_, &variances_}) {
    add_all(*values, arguments);
  }
  auto results = programs_->update.run(arguments);
  if (!results) return propagate(results);
  const std::size_t n = which_.size();
  move_some(*results, 0, parameters_);
  move_some(*results, n, means_);
  move_some(*results, 2 * n, variances_);
  take_packed(*results, 3 * n);
  for (Shards& gradient : gradients_) gradient.clear();
  return {};
}

}  // namespace trainward::trainer
