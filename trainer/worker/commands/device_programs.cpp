#include "trainer/worker/commands/device_programs.hpp"

#include "common/os/clock.hpp"
#include "trainer/device/platforms.hpp"
#include "trainer/loop/setup/choose_model.hpp"
#include "trainer/loop/setup/run_data.hpp"
#include "trainer/model/cpu/parallel_model.hpp"

namespace trainward::trainer {

Result<DeviceModules> device_programs(WorkerConfig& config, stablehlo::Target target,
                                      std::string_view platform,
                                      const std::filesystem::path& scratch,
                                      const CommandPorts& ports) {
  Reporter reporter({[](const Message&) {}, ports.err, ports.err, [] { return now(); }});
  auto chosen = choose_model(config);
  if (!chosen) return propagate(chosen);
  auto data = RunData::load(config, scratch, false, ports.requests, reporter);
  if (!data) return propagate(data);
  auto part = split_over(config.training, config.sharers());
  if (!part) return propagate(part);
  return make_modules(*part, {config.ranks(), config.placement, data->held_out() != nullptr,
                              config.attention.value_or(platform_of(platform).attention), target});
}

}  // namespace trainward::trainer
