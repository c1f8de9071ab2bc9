#include "trainer/worker/commands/train.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>

#include "common/wire/notifier.hpp"
#include "common/wire/standby.hpp"
#include "trainer/cpu/product_race.hpp"
#include "trainer/cpu/runtime/runtime.hpp"
#include "trainer/loop/setup/choose_model.hpp"
#include "trainer/loop/setup/device_setup.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/loop/signals.hpp"
#include "trainer/model/cpu/cpu_model.hpp"
#include "trainer/model/cpu/parallel_model.hpp"
#include "trainer/ranks/communicator.hpp"
#include "trainer/ranks/rank.hpp"
#include "trainer/ranks/rank_launcher.hpp"

namespace trainward::trainer {
namespace {

// Used before any thread exists, so nothing changes the environment meanwhile.
const char* look_up(const char* name) {
  return std::getenv(name);
}  // NOLINT(concurrency-mt-unsafe)

// By a product such as a block's, with the threads it will have.
bool bf16_is_fast(const TrainingSpec& spec) {
  constexpr std::int64_t enough = 1024;
  const auto runtime = cpu::Runtime::create(spec.threads);
  if (!runtime || !(*runtime)->multiplies_bf16()) return false;
  const std::int64_t rows = std::min(enough, spec.batch_size * spec.block_size);
  const std::int64_t width = std::min(2 * enough, spec.model.width);
  const auto times = cpu::race_products(**runtime, {rows, width, std::min(2 * enough, 4 * width)});
  return times && times->bf16_is_faster();
}

int train_with(const MakeModel& make_model, const WorkerOptions& options) {
  const Notifier notifier = Notifier::from_environment();
  const Sinks sinks = process_sinks(notifier);
  Reporter reporter(sinks);
  if (auto ok = SignalRequests::install(); !ok) {
    reporter.error(ok.error().message());
    return exit_code::failed;
  }
  auto environment = read_environment(look_up);
  if (!environment) {
    reporter.error(environment.error().message());
    return exit_code::configuration;
  }
  // Ranks have inherited the word of it, and not the descriptors.
  if (started_as_rank(look_up)) environment->memory.clear();
  SignalRequests requests;
  WorkerPorts ports{sinks, requests, make_model, bf16_is_fast};
  if (look_up(trainward::env::standby) != nullptr) {
    ports.wait_to_begin = [&]() -> std::optional<WorkerEnvironment> {
      if (wait_to_begin(notifier) == Begin::not_needed) return std::nullopt;
      auto begun = read_environment(look_up);
      return begun ? std::optional(*std::move(begun)) : std::nullopt;
    };
  }
  return run_worker(options, *environment, ports);
}

int launch(std::int64_t ranks, char* const* arguments) {
  const Notifier notifier = Notifier::from_environment();
  Reporter reporter(process_sinks(notifier));
  std::error_code failed;
  RankLaunch what{static_cast<int>(ranks),
                  {std::filesystem::read_symlink("/proc/self/exe", failed).string()}};
  for (char* const* word = arguments + 1; *word != nullptr; ++word)
    what.command.emplace_back(*word);
  const auto code = launch_ranks(what, [&](const std::string& words) { reporter.status(words); });
  if (code) return *code;
  reporter.error(code.error().message());
  return code.error().kind == ErrorKind::usage ? exit_code::configuration : exit_code::failed;
}

MakePart part_from(const BaseWeights* base) {
  return [base](const TrainingSpec& part, Communicator& peers) {
    return make_cpu_part_from(base, part, peers);
  };
}

Result<std::unique_ptr<Trainable>> lead(const TrainingSpec& spec, const BaseWeights* base,
                                        std::int64_t ranks, Communicator& peers) {
  if (peers.size() != ranks) {
    return fail(
        ErrorKind::usage,
        fmt::format("mesh_shape asks for {} ranks, and this is one of {}", ranks, peers.size()), {},
        peers.size() == 1 ? "mpiexec must be of the MPI that trainward-worker was built with"
                          : "start as many with mpiexec, or change mesh_shape");
  }
  return make_leader(spec, peers, part_from(base));
}

// A rank that fails on its own ends without taking leave of the others, who would wait for it: that
// takes them down with it, and the launcher says which it was.
[[noreturn]] void fail_alone(int rank, std::string_view why) {
  const Notifier nobody;
  Reporter(process_sinks(nobody)).error(fmt::format("rank {}: {}", rank, why));
  std::_Exit(exit_code::failed);
}

// The base model is mapped by each rank: its pages are in memory once.
int serve(const WorkerOptions& options, Communicator& peers) {
  std::signal(SIGUSR1, SIG_IGN);  // what is asked of rank 0
  std::signal(SIGPIPE, SIG_IGN);
  auto config = load_worker_config(options.config_file);
  auto chosen = config ? choose_model(*config) : propagate(config);
  // What is wrong with either is told by rank 0, which reads them too and sends this one home.
  const BaseWeights* base = chosen ? chosen->base.get() : nullptr;
  auto code = follow(peers, part_from(base));
  if (!code) fail_alone(peers.rank(), code.error().message());
  return *code;
}

int train_as_rank(const WorkerOptions& options) {
  end_with_parent();
  auto joined = join_mpi();
  if (!joined) fail_alone(0, joined.error().message());
  Communicator& peers = **joined;
  // Before the launcher knows of this rank, and passes on what it was asked.
  if (peers.rank() == 0) (void)SignalRequests::install();
  const RankReport report(peers.rank(), look_up(env::ranks_socket));
  int code = exit_code::failed;
  try {
    if (peers.rank() == 0) {
      const auto config = load_worker_config(options.config_file);
      const std::int64_t ranks = config ? config->ranks() : 1;
      code =
          train_with([&](const WorkerConfig& c, const WorkerEnvironment&, const BaseWeights* base,
                         Reporter&) { return lead(c.training, base, ranks, peers); },
                     options);
      dismiss_followers(peers, code);
    } else {
      code = serve(options, peers);
    }
  } catch (const std::exception& error) {  // out of memory, for one
    fail_alone(peers.rank(), error.what());
  }
  report.done();  // before any of them can end: ending MPI waits for all
  joined->reset();
  return code;
}

}  // namespace

int run_train(const WorkerOptions& options, char* const* arguments) {
  if (started_as_rank(look_up)) return train_as_rank(options);
  // What is wrong with the configuration is told by the run that reads it again.
  const auto config = load_worker_config(options.config_file);
  const bool processes = config && config->device == cpu_device;
  if (processes && config->ranks() > 1) {
    // Of ranks it is their launcher that waits.
    if (wait_to_begin(Notifier::from_environment()) == Begin::not_needed) {
      return exit_code::try_again;
    }
    return launch(config->ranks(), arguments);
  }
  return train_with(make_model, options);
}

void add_train(CLI::App& app, char* const* arguments, Chosen& chosen) {
  const auto options = std::make_shared<WorkerOptions>();
  CLI::App* command = app.add_subcommand("train", "Train as the configuration file says");
  command->add_option("--config", options->config_file, "The configuration, a JSON file")
      ->required();
  command->add_option("--checkpoint-dir", options->checkpoint_dir,
                      "Where checkpoints go ($TRAINWARD_CHECKPOINT_DIR, else ./checkpoints)");
  command->add_option("--resume", options->resume,
                      "A checkpoint to resume from, or 'auto' for the newest that verifies "
                      "($TRAINWARD_RESUME_FROM)");
  command->footer(
      "Signals: TERM or INT saves and ends, USR1 saves.\n"
      "Exit codes: 0 all steps done, 75 stopped as asked, 78 wrong configuration, 1 anything "
      "else.\n");
  command->callback([options, arguments, &chosen] {
    chosen = [options, arguments] { return run_train(*options, arguments); };
  });
}

}  // namespace trainward::trainer
