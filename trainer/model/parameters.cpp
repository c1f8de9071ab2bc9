#include "trainer/model/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

std::size_t add(ParameterTable& table, ParameterInfo info) {
  info.offset = table.elements;
  if (info.live_rows == 0) info.live_rows = info.shape[0];
  table.count += graph::element_count(info.shape) / info.shape[0] * info.live_rows;
  table.elements += (info.size() + 15) / 16 * 16;
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
  return which;
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
  return which;
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
  return table;
}

ParameterTable make_parameter_table(const ModelSpec& spec) {
  return lay_out(architecture_of(spec).parameters(spec), spec.layers);
}

std::vector<optim::Group> rate_runs(const ParameterTable& table, const TrainingSpec& spec,
                                    RunsOf which) {
  const std::size_t blocks_end =
      table.first_block + static_cast<std::size_t>(spec.model.layers) * table.block_parameters;
  std::vector<optim::Group> runs;
  std::optional<RateGroup> running;  // of the run that may go on
  for (std::size_t i = 0; i < table.infos.size(); ++i) {
    if (which == RunsOf::outer && i >= table.first_block && i < blocks_end) {
      running.reset();
      continue;
    }
    const ParameterInfo& info = table.infos[i];
    const std::size_t end = i + 1 < table.infos.size() ? table.infos[i + 1].offset : table.elements;
    if (running == info.rate) {
      runs.back().end = end;
      continue;
    }
    running = info.rate;
    runs.push_back({info.offset, end,
                    info.rate == RateGroup::head ? spec.head_learning_rate : spec.learning_rate});
  }
  return runs;
}

}  // namespace trainward::trainer
