#include "trainer/device/backward_programs.hpp"

namespace trainward::trainer {

Result<BackwardDevicePrograms> make_programs(Device& device, const BackwardModules& modules) {
  auto first = device.make(modules.first);
  if (!first) return propagate(first);
  auto more = device.make(modules.more);
  if (!more) return propagate(more);
  return BackwardDevicePrograms{std::move(*first), std::move(*more), modules.first_sum,
                                modules.shared};
}

Result<std::vector<Shards>> run_backward(const BackwardDevicePrograms& programs, bool first,
                                         std::vector<const Shards*> arguments,
                                         const std::vector<Shards*>& sums) {
  const std::size_t overwritten = first ? programs.shared - programs.first_sum : 0;
  arguments.insert(arguments.end(), sums.begin() + static_cast<std::ptrdiff_t>(overwritten),
                   sums.end());
  const bool adds = !first && programs.more.has_value();
  auto results = (adds ? *programs.more : programs.first).run(arguments);
  if (!results) return results;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    *sums[i] = std::move((*results)[programs.first_sum + i]);
  }
  results->resize(programs.first_sum);
  return results;
}

}  // namespace trainward::trainer
