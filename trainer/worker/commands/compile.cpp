#include "trainer/worker/commands/compile.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "trainer/loop/setup/attempt_plan.hpp"
#include "trainer/loop/setup/device_setup.hpp"
#include "trainer/pjrt/ahead_of_time.hpp"
#include "trainer/stablehlo/text/print.hpp"
#include "trainer/worker/commands/device_programs.hpp"

namespace trainward::trainer {
namespace {

// Nothing: the plugin compiles on its device only.
Result<std::unique_ptr<pjrt::Topology>> describe_device(const WorkerConfig& config) {
  auto file = find_plugin(config.plugin);
  if (!file) return propagate(file);
  auto plugin = pjrt::Plugin::open(*file);
  if (!plugin) return propagate(plugin);
  auto topology = pjrt::Topology::create(*plugin, "", config.options);
  if (topology) return std::move(*topology);
  if (topology.error().code == pjrt::ErrorCode::unimplemented) {
    return std::unique_ptr<pjrt::Topology>();
  }
  return tl::unexpected<Error>(pjrt::to_error(topology.error()));
}

Status compile_all(const CompileOptions& options, const WorkerEnvironment& environment,
                   const CommandPorts& ports) {
  const auto nothing = [&](std::string_view why) -> Status {
    ports.out(fmt::format("nothing is compiled ahead: {}\n", why));
    return {};
  };
  auto config = load_worker_config(options.config_file);
  if (!config) return propagate(config);
  auto plan = read_attempt_plan(environment.plan);
  if (!plan) return propagate(plan);
  if (config->device == cpu_device) return nothing("the CPU executor has no programs to keep");
  if (!environment.program_cache) return nothing("$TRAINWARD_PROGRAM_CACHE names no cache");
  auto topology = describe_device(*config);
  if (!topology) return propagate(topology);
  if (*topology == nullptr) return nothing("this plugin compiles only on its device");
  auto cache = ProgramCache::open(*environment.program_cache, config->cache_limit);
  if (!cache) return propagate(cache);
  config->training = planned(config->training, *plan);
  use_mesh(*plan, *config);
  auto modules =
      device_programs(*config, target_of((*topology)->plugin()), (*topology)->platform().name,
                      std::filesystem::temp_directory_path(), ports);
  if (!modules) return propagate(modules);
  for (const stablehlo::Module* module : modules->all()) {
    if (ports.requests.stop_requested()) return fail(ErrorKind::transient, "was asked to stop");
    auto text = stablehlo::print(*module);
    if (!text) return propagate(text);
    auto made =
        pjrt::compile_without_device(**topology, *cache, module->name, *text, module->replicas);
    if (!made) return propagate(made);
    ports.out(fmt::format("{}: {} in {} ms\n", made->name,
                          made->hit ? "was there, looked at" : "compiled", made->ms));
  }
  return {};
}

}  // namespace

int run_compile(const CompileOptions& options, const WorkerEnvironment& environment,
                const CommandPorts& ports) {
  auto done = compile_all(options, environment, ports);
  if (done) return exit_code::done;
  return ports.requests.stop_requested() ? exit_code::try_again : tell(ports, done.error());
}

void add_compile(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<CompileOptions>();
  CLI::App* command = app.add_subcommand(
      "compile", "Compile a run's programs into the program cache, where that needs no device");
  command->add_option("--config", options->config_file, "The configuration, a JSON file")
      ->required();
  command->footer(
      "The cache is $TRAINWARD_PROGRAM_CACHE.\n"
      "Exit codes: 0 done, or nothing can be done, 75 stopped as asked, 78 something to be changed "
      "first, 1 anything else.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal([&](const CommandPorts& ports) {
        auto environment =
            read_environment(::getenv);  // NOLINT(concurrency-mt-unsafe): no thread exists yet
        if (!environment) return tell(ports, environment.error());
        return run_compile(*options, *environment, ports);
      });
    };
  });
}

}  // namespace trainward::trainer
