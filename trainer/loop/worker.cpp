#include "trainer/loop/worker.hpp"

#include <unistd.h>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/memory.hpp"
#include "trainer/data/batch_reader.hpp"
#include "trainer/loop/checkpoints/checkpointing.hpp"
#include "trainer/loop/checkpoints/resume.hpp"
#include "trainer/loop/setup/attempt_plan.hpp"
#include "trainer/loop/setup/choose_model.hpp"
#include "trainer/loop/setup/load_data.hpp"
#include "trainer/loop/training_loop.hpp"
#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

// Whatever is wrong with these, trying again will not help.
template <typename T>
Result<T> as_usage(Result<T> result) {
  if (!result) result.error().kind = ErrorKind::usage;
  return result;
}

ResumeRequest resume_request(const WorkerOptions& options, const WorkerEnvironment& environment) {
  using How = ResumeRequest::How;
  if (options.resume) {
    if (*options.resume == "auto") return {How::newest, {}};
    return {How::folder, *options.resume};
  }
  if (!environment.resume_from) return {How::fresh_by_hand, {}};
  if (environment.resume_from->empty()) return {How::fresh, {}};
  return {How::folder, *environment.resume_from};
}

Result<std::unique_ptr<Trainable>> plan_model(const WorkerConfig& config,
                                              const WorkerEnvironment& environment,
                                              const BaseWeights* base, const WorkerPorts& ports,
                                              Reporter& reporter) {
  reporter.phase("compile");
  const bool bf16 = config.training.precision == graph::Precision::bf16;
  reporter.status(fmt::format("planning {} for {} by {} tokens{}", config.model,
                              config.training.batch_size, config.training.block_size,
                              bf16 ? ", products in bf16" : ""));
  auto model = ports.make_model(config, environment, base, reporter);
  if (model) {
    const std::int64_t trained = (*model)->parameter_count();
    const std::int64_t all = (*model)->total_parameters();
    const std::string of_all =
        trained == all ? ""
                       : fmt::format(" trained of {} ({:.3g} %)", all,
                                     100 * static_cast<double>(trained) / static_cast<double>(all));
    reporter.status(fmt::format("{}: {}{}, {} of working memory", config.model,
                                count(trained, "parameter"), of_all,
                                human_bytes((*model)->arena_bytes())));
  }
  return model;
}

// Before the digest is made: what is really used decides the weights.
void settle_precision(WorkerConfig& config, const WorkerPorts& ports, Reporter& reporter) {
  TrainingSpec& training = config.training;
  if (config.device != cpu_device) return;
  if (training.precision != graph::Precision::bf16 || ports.bf16_is_fast()) return;
  training.precision = graph::Precision::f32;
  reporter.status(
      "bf16 was asked for; this processor has no AMX, where f32 is faster, so f32 is used");
}

checkpoint::SaveOptions save_options(const WorkerConfig& config) {
  return {static_cast<std::uint64_t>(config.checkpoint_shard_mib) << 20U, {}};
}

// What this machine, or the cgroup this process is in, can still give.
std::optional<std::int64_t> spare_memory() {
  const auto memory = host::available_memory("/", host::cgroups_of("/", ::getpid()));
  return memory ? std::optional(memory->bytes) : std::nullopt;
}

int exit_code_of(Ending ending) {
  switch (ending) {
    case Ending::finished:
      return exit_code::done;
    case Ending::stopped:
      return exit_code::try_again;
    case Ending::not_a_number:
      return exit_code::failed;
  }
  return exit_code::failed;
}

// Where the data goes on. `other_blocks`: the plan may cut it into other blocks than the checkpoint
// counted.
Result<Progress> find_place(const ResumePoint& point, BatchSource& data, bool other_blocks,
                            Reporter& reporter) {
  Progress progress = point.progress;
  if (!point.same_data) {
    reporter.error(
        "data: changed since the checkpoint was written (the run goes on, but not bit for bit)");
  }
  // The place may not exist any more; then the next epoch begins.
  if ((!point.same_data || other_blocks) && !data.seek(progress.cursor)) {
    progress.cursor = {progress.cursor.epoch + 1, 0};
  }
  if (auto ok = data.seek(progress.cursor); !ok) return propagate(ok);
  return progress;
}

Result<Ending> work(const WorkerOptions& options, const WorkerEnvironment& environment,
                    const WorkerPorts& ports, Reporter& reporter) {
  reporter.phase("load");
  auto config = as_usage(load_worker_config(options.config_file));
  if (!config) return propagate(config);
  auto plan = as_usage(read_attempt_plan(environment.plan));
  if (!plan) return propagate(plan);
  config->training = planned(config->training, *plan);
  settle_precision(*config, ports, reporter);
  if (plan->checkpoint_every > 0) config->checkpoint_every = plan->checkpoint_every;
  const fs::path root =
      options.checkpoint_dir.value_or(environment.checkpoint_dir.value_or("checkpoints"));
  auto from = choose_checkpoint(resume_request(options, environment), root, reporter);
  if (!from) return propagate(from);
  auto chosen = as_usage(choose_model(*config, root, reporter));
  if (!chosen) return propagate(chosen);
  auto corpus = load_data(*config, root, from->has_value(), ports.requests, reporter);
  if (!corpus && ports.requests.stop_requested()) return Ending::stopped;
  if (!corpus) return propagate(corpus);

  const ModelSpec& trained = config->training.model;
  RunFacts facts{environment.run,          config->digest,
                 corpus->digest(),         "",
                 config->training.threads, facts_of(*chosen, trained)};
  std::optional<ResumePoint> point;
  if (*from) {
    reporter.status(fmt::format("loading {}", (*from)->string()));
    auto opened = open_checkpoint(**from, trained, facts.config_digest, facts.corpus_digest);
    if (!opened) return propagate(opened);
    point.emplace(std::move(*opened));
    // A trailing slash would leave the name empty.
    facts.parent = ((**from) / "").parent_path().filename().string();
  }
  reporter.resumed(point ? point->progress.step : 0);

  config->training.initialise = !point;
  auto model = plan_model(*config, environment, chosen->base.get(), ports, reporter);
  if (!model) return propagate(model);
  if (config->held_out() >= corpus->blocks()) {
    return fail(
        ErrorKind::usage,
        fmt::format("{} blocks are to be held out of {}", config->held_out(), corpus->blocks()),
        "training_config.evaluation_blocks", "hold out fewer, or add data");
  }
  BatchReader data(*corpus, config->training.sequences_per_step(), config->training.seed,
                   config->held_out());
  std::optional<HeldOut> held_out;
  if (config->held_out() > 0) {
    held_out.emplace(*corpus, config->held_out(), config->training.batch_size);
  }
  Progress progress;
  Carried carried;
  if (point) {
    const MonoTime began = now().mono;
    auto restored = restore(point->reader, **model, point->progress.step);
    if (!restored) return propagate(restored);
    reporter.status(fmt::format("restored step {} in {}, read in {}", point->progress.step,
                                human_duration(now().mono - began),
                                human_duration(restored->read_ms)));
    carried = std::move(*restored);
    auto place = find_place(*point, data, plan->block > 0, reporter);
    if (!place) return propagate(place);
    progress = *place;
    point.reset();
  }
  Checkpointing checkpoints(root, **model, facts, std::move(carried), save_options(*config),
                            reporter);
  if (config->checkpoint_async) checkpoints.reserve(spare_memory());

  if (const auto left_out = batches_to_skip(*plan, progress.step); left_out > 0) {
    reporter.status(fmt::format("leaving out the data of {} after step {}, where the loss broke",
                                count(left_out, "step"), progress.step));
    for (std::int64_t i = 0; i < left_out; ++i) data.skip();
  }

  reporter.status(fmt::format("training from step {} to {}", progress.step, config->steps));
  TrainingLoop loop(
      {config->steps, config->checkpoint_every, config->log_every, config->evaluate_every}, **model,
      data, progress, {reporter, ports.requests, checkpoints, held_out ? &*held_out : nullptr});
  return loop.run();
}

}  // namespace

int run_worker(const WorkerOptions& options, const WorkerEnvironment& environment,
               const WorkerPorts& ports) {
  Reporter reporter(ports.sinks);
  auto ending = work(options, environment, ports, reporter);
  if (ending) return exit_code_of(*ending);
  reporter.error(ending.error().message());
  return ending.error().kind == ErrorKind::usage ? exit_code::configuration : exit_code::failed;
}

}  // namespace trainward::trainer
