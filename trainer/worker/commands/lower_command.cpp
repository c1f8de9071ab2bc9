#include "trainer/worker/commands/lower_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/loop/setup/device_setup.hpp"
#include "trainer/pjrt/plugin.hpp"
#include "trainer/pjrt/topology.hpp"
#include "trainer/stablehlo/text/print.hpp"
#include "trainer/worker/commands/device_programs.hpp"

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

void add_lower(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<LowerOptions>();
  CLI::App* command =
      app.add_subcommand("lower", "Write the programs that a device would be given, as StableHLO");
  command->add_option("--config", options->config_file, "The configuration, a JSON file")
      ->required();
  command->add_option("--out", options->out, "A folder for them; made when it is missing")
      ->required();
  command->footer("Exit codes: 0 written, 78 something to be changed first, 1 anything else.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal([&](const CommandPorts& ports) { return run_lower(*options, ports); });
    };
  });
}

}  // namespace trainward::trainer
