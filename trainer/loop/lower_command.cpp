#include "trainer/loop/lower_command.hpp"

#include "common/file.hpp"
#include "common/text.hpp"
#include "trainer/loop/device_programs.hpp"
#include "trainer/loop/device_setup.hpp"
#include "trainer/pjrt/plugin.hpp"
#include "trainer/pjrt/topology.hpp"
#include "trainer/stablehlo/print.hpp"

namespace trainward::trainer {
namespace {

struct Destination {
  stablehlo::Target target = stablehlo::Target::tiles;
  std::string platform;
};

// A plugin that is not there counts as Tenstorrent's.
Destination destination_of(const WorkerConfig& config) {
  auto file = find_plugin(config.plugin);
  if (!file) return {};
  auto plugin = pjrt::Plugin::open(*file);
  if (!plugin) return {};
  // A client would take the device, and a run may be using it.
  auto topology = pjrt::Topology::create(*plugin, "", config.options);
  return {target_of(**plugin), topology ? (*topology)->platform().name : ""};
}

Status lower(const LowerOptions& options, const CommandPorts& ports) {
  auto config = load_worker_config(options.config_file);
  if (!config) return propagate(config);
  if (auto ok = make_folders(options.out); !ok) return ok;
  const Destination to = destination_of(*config);
  auto modules = device_programs(*config, to.target, to.platform, options.out, ports);
  if (!modules) return propagate(modules);
  for (const stablehlo::Module* module : modules->all()) {
    const std::filesystem::path file = options.out / (module->name + ".mlir");
    auto text = stablehlo::print(*module);
    if (!text) return propagate(text);
    if (auto ok = write_file_durably(file, *text); !ok) return ok;
    ports.out(
        fmt::format("{}: {}, {}, {}\n", file.string(),
                    count(static_cast<std::int64_t>(module->graph.parameters.size()), "parameter"),
                    count(static_cast<std::int64_t>(module->graph.outputs.size()), "result"),
                    count(static_cast<std::int64_t>(module->graph.nodes.size()), "operation")));
  }
  return {};
}

}  // namespace

int run_lower(const LowerOptions& options, const CommandPorts& ports) {
  auto done = lower(options, ports);
  if (done) return exit_code::done;
  return ports.requests.stop_requested() ? exit_code::try_again : tell(ports, done.error());
}

}  // namespace trainward::trainer
