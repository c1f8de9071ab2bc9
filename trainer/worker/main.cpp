// trainward-worker: trains a model as its configuration says (docs/worker-protocol.md).

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "common/protocol.hpp"
#include "trainer/cpu/wait_policy.hpp"
#include "trainer/loop/signals.hpp"
#include "trainer/loop/worker.hpp"
#include "trainer/model/agillm3.hpp"
#include "trainer/sim/simulated_board.hpp"

namespace {

using namespace trainward;           // NOLINT(google-build-using-namespace)
using namespace trainward::trainer;  // NOLINT(google-build-using-namespace)

int train(const WorkerOptions& options) {
  const Notifier notifier = Notifier::from_environment();
  const Sinks sinks = process_sinks(notifier);
  Reporter reporter(sinks);
  if (auto ok = SignalRequests::install(); !ok) {
    reporter.error(ok.error().message());
    return exit_code::failed;
  }
  // Read before any thread exists, so nothing can change the environment meanwhile.
  auto environment = read_environment([](const char* name) {
    return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  });
  if (!environment) {
    reporter.error(environment.error().message());
    return exit_code::configuration;
  }
  SignalRequests requests;
  return run_worker(options, *environment, {sinks, requests, make_agillm3, hang_for_ever});
}

int run(int argc, char** argv) {
  CLI::App app{"Trains a model, saves as it goes, and goes on where a checkpoint left off."};
  app.name("trainward-worker");
  app.require_subcommand(1);
  WorkerOptions options;
  CLI::App* command = app.add_subcommand("train", "Train as the configuration file says");
  command->add_option("--config", options.config_file, "The configuration, a JSON file")
      ->required();
  command->add_option("--checkpoint-dir", options.checkpoint_dir,
                      "Where checkpoints go ($TRAINWARD_CHECKPOINT_DIR, else ./checkpoints)");
  command->add_option("--resume", options.resume,
                      "A checkpoint to go on from, or 'auto' for the newest that verifies "
                      "($TRAINWARD_RESUME_FROM)");
  command->footer(
      "Signals: TERM or INT saves and ends, USR1 saves.\n"
      "Exit codes: 0 all steps done, 75 stopped as asked, 78 wrong configuration, 1 anything "
      "else.\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  return train(options);
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything else: it starts this program again, once, unless the policy is set already.
  (void)trainward::cpu::wait_passively(argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, for one
    std::fprintf(stderr, "trainward-worker: %s\n", error.what());
    return trainward::exit_code::failed;
  }
}
