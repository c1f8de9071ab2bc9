#include "trainer/model/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

// With the gap after it.
std::size_t padded(const ParameterInfo& info) { return (info.size() + 15) / 16 * 16; }

std::size_t add(ParameterTable& table, ParameterInfo info) {
  if (info.live_rows == 0) info.live_rows = info.shape[0];
  const std::int64_t live = graph::element_count(info.shape) / info.shape[0] * info.live_rows;
  if (info.role != Role::table) table.total += live;
  if (info.trained()) {
    info.offset = table.elements;
    table.count += live;
    table.elements += padded(info);
  }
  table.infos.push_back(std::move(info));
  return table.infos.size() - 1;
}

Places add_all(ParameterTable& table, const std::vector<ParameterInfo>& parameters) {
  Places places;
  for (const ParameterInfo& info : parameters) places.push_back(add(table, info));
  return places;
}

}  // namespace

Places ParameterTable::block(std::size_t layer) const {
  Places which(block_parameters);
  std::iota(which.begin(), which.end(), first_block + layer * block_parameters);
  which.insert(which.end(), tables.begin(), tables.end());
  return which;
}

Places ParameterTable::trained(Places which) const {
  std::erase_if(which, [&](std::size_t i) { return !infos[i].trained(); });
  return which;
}

std::size_t ParameterTable::own_embedding() const {
  const auto own = embedding.end() - static_cast<std::ptrdiff_t>(shared);
  return trained({embedding.begin(), own}).size();
}

Places ParameterTable::own_head() const {
  return {head.begin(), head.end() - static_cast<std::ptrdiff_t>(shared)};
}

Places ParameterTable::outer(RateGroup rate) const {
  Places which = embedding;
  const Places own = own_head();
  which.insert(which.end(), own.begin(), own.end());
  std::sort(which.begin(), which.end());
  std::erase_if(which, [&](std::size_t i) { return infos[i].rate != rate; });
  return trained(std::move(which));
}

ParameterTable lay_out(const ModelParameters& parameters, std::int64_t layers) {
  ParameterTable table;
  table.embedding = add_all(table, parameters.embedding);
  table.first_block = table.infos.size();
  table.block_parameters = parameters.block.size();
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string prefix = fmt::format(fmt::runtime(parameters.layer_prefix), layer);
    for (ParameterInfo info : parameters.block) {
      info.name = prefix + info.name;
      info.prefix = prefix.size();
      add(table, std::move(info));
    }
  }
  table.head = add_all(table, parameters.head);
  const auto is_shared = [&](std::size_t i) {
    return std::find(parameters.shared.begin(), parameters.shared.end(), table.infos[i].name) !=
           parameters.shared.end();
  };
  const auto first_shared = std::stable_partition(table.embedding.begin(), table.embedding.end(),
                                                  [&](std::size_t i) { return !is_shared(i); });
  table.head.insert(table.head.end(), first_shared, table.embedding.end());
  table.shared = parameters.shared.size();
  table.tables = add_all(table, parameters.tables);
  return table;
}

ParameterTable make_parameter_table(const ModelSpec& spec, std::int64_t positions) {
  return lay_out(architecture_of(spec).parameters(spec, positions), spec.layers);
}

std::vector<optim::Group> rate_runs(const ParameterTable& table, const TrainingSpec& spec,
                                    RunsOf which) {
  const std::size_t blocks_end =
      table.first_block + static_cast<std::size_t>(spec.model.layers) * table.block_parameters;
  std::vector<optim::Group> runs;
  const ParameterInfo* running = nullptr;  // whose run may continue
  for (std::size_t i = 0; i < table.infos.size(); ++i) {
    if (which == RunsOf::outer && i >= table.first_block && i < blocks_end) {
      running = nullptr;
      continue;
    }
    const ParameterInfo& info = table.infos[i];
    if (!info.trained()) continue;
    const std::size_t end = info.offset + padded(info);
    if (running != nullptr && running->rate == info.rate && running->decays == info.decays) {
      runs.back().end = end;
      continue;
    }
    running = &info;
    runs.push_back({info.offset, end,
                    info.rate == RateGroup::head ? spec.head_learning_rate : spec.learning_rate,
                    info.decays});
  }
  return runs;
}

}  // namespace trainward::trainer
