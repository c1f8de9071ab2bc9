#include "trainer/device/backward_programs.hpp"

namespace trainward::trainer {

Result<BackwardDevicePrograms> make_programs(Device& device, const BackwardModules& modules) {
  auto first = device.make(modules.first);
  if (!first) return propagate(first);
  auto more = device.make(modules.more);
  if (!more) return propagate(more);
  return BackwardDevicePrograms{std::move(*first), std::move(*more)};
}

Result<std::vector<Shards>> run_backward(const BackwardDevicePrograms& programs,
                                         std::vector<const Shards*> arguments,
                                         const std::vector<Shards*>& sums, std::size_t first_sum,
                                         bool add) {
  if (add) arguments.insert(arguments.end(), sums.begin(), sums.end());
  auto results = (add ? *programs.more : programs.first).run(arguments);
  if (!results) return results;
  for (std::size_t i = 0; i < sums.size(); ++i) *sums[i] = std::move((*results)[first_sum + i]);
  results->resize(first_sum);
  return results;
}

}  // namespace trainward::trainer
