#include "trainer/loop/setup/device_setup.hpp"

#include <cstdlib>

#include "trainer/device/platforms.hpp"
#include "trainer/loop/setup/attempt_plan.hpp"
#include "trainer/model/cpu/cpu_model.hpp"

namespace trainward::trainer {

namespace fs = std::filesystem;

namespace {

// Which platform it is the plugin says once it is loaded, which is too late.
void point_to_runtime(const fs::path& plugin) {
  std::error_code failed;
  const fs::path folder = fs::absolute(plugin, failed).parent_path();
  for (const Platform& platform : platforms()) {
    if (platform.runtime_folder.empty()) continue;
    const fs::path runtime = folder / platform.runtime_folder;
    if (!fs::is_directory(runtime, failed)) continue;
    // No thread that reads the environment exists yet.
    ::setenv(platform.runtime_variable, runtime.c_str(), 0);  // NOLINT(concurrency-mt-unsafe)
  }
}

}  // namespace

Result<fs::path> find_plugin(const std::string& plugin) {
  const std::string_view name = platform_of(plugin).library;
  if (name.empty()) return fs::path(plugin);
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const fs::path& file : {here / name, here / "../lib/trainward" / name}) {
    if (fs::exists(file, failed)) return file;
  }
  return fail(ErrorKind::usage, fmt::format("{} is not beside this program", name),
              (here / name).string(), "build it, or name a plugin in device_config.plugin");
}

Result<DeviceConfig> device_config(const WorkerConfig& config, const WorkerEnvironment& environment,
                                   Reporter& reporter) {
  auto plugin = find_plugin(config.plugin);
  if (!plugin) return propagate(plugin);
  point_to_runtime(*plugin);
  DeviceConfig device;
  device.devices = config.ranks();
  device.placement = config.placement;
  device.attention = config.attention;
  device.evaluates = config.held_out() > 0;
  device.device.plugin = std::move(*plugin);
  device.device.options = config.options;
  if (environment.program_cache) device.device.cache = *environment.program_cache;
  device.device.cache_limit = config.cache_limit;
  device.device.compiled = [&reporter](const pjrt::Compiled& program) {
    reporter.compiled(
        {program.name, program.key, program.hit, program.ms, program.dropped, program.problem});
  };
  const auto plan = read_attempt_plan(environment.plan);
  device.device.seen = plan && !plan->chips.empty();
  device.device.waiting = [&reporter] { reporter.alive(); };
  device.device.say = [&reporter](const std::string& words) { reporter.error(words); };
  return device;
}

Result<std::unique_ptr<Trainable>> make_model(const WorkerConfig& config,
                                              const WorkerEnvironment& environment,
                                              const BaseWeights* base, Reporter& reporter) {
  if (config.device == cpu_device) return make_cpu_model(config.training, base);
  auto device = device_config(config, environment, reporter);
  if (!device) return propagate(device);
  return make_device_model(config.training, *device, base);
}

}  // namespace trainward::trainer
