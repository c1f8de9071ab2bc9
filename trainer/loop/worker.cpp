#include "trainer/loop/worker.hpp"

#include <unistd.h>

#include <thread>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/processes/host_memory.hpp"
#include "trainer/loop/checkpoints/checkpointing.hpp"
#include "trainer/loop/checkpoints/resume.hpp"
#include "trainer/loop/checkpoints/state_in_memory.hpp"
#include "trainer/loop/run_samples.hpp"
#include "trainer/loop/setup/attempt_plan.hpp"
#include "trainer/loop/setup/choose_model.hpp"
#include "trainer/loop/setup/run_data.hpp"
#include "trainer/loop/setup/run_digest.hpp"
#include "trainer/loop/training_loop.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/training/step_flops.hpp"

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

bool wants_bf16(const WorkerConfig& config) {
  return config.device == cpu_device && config.training.precision == graph::Precision::bf16;
}

// A new run takes what is faster here. Before the digest is made: what is really used decides the
// weights.
void settle_precision(WorkerConfig& config, const WorkerPorts& ports, Reporter& reporter) {
  if (!wants_bf16(config) || ports.bf16_is_fast(config.training)) return;
  config.training.precision = graph::Precision::f32;
  reporter.status(
      "bf16 was asked for; this processor multiplies f32 faster, measured just now, so f32 is "
      "used");
}

// A resumed run keeps the precision it started with, wherever it resumes.
Status keep_precision(WorkerConfig& config, const Origin& from, const RunData& data,
                      Reporter& reporter) {
  if (!wants_bf16(config)) return {};
  auto reader = from.open();
  if (!reader) return propagate(reader);
  WorkerConfig in_f32 = config;
  in_f32.training.precision = graph::Precision::f32;
  in_f32.digest = run_digest(in_f32, data.tokenizer_digest());
  if (reader->state().config_digest != in_f32.digest) return {};
  config = std::move(in_f32);
  reporter.status("bf16 was asked for; this run was begun in f32, so f32 is used");
  return {};
}

// That of the examples, or one made for the samples alone.
Result<std::shared_ptr<Prompting>> prompting_for_samples(const WorkerConfig& config,
                                                         const RunData& data) {
  if (data.examples() != nullptr) {
    return std::shared_ptr<Prompting>(std::shared_ptr<void>(), &data.examples()->prompting);
  }
  auto own = std::make_shared<Prompting>();
  if (config.sample_prompts.empty()) return own;
  auto opened = open_prompting(config);
  if (!opened) return propagate(opened);
  *own = *std::move(opened);
  return own;
}

checkpoint::SaveOptions save_options(const WorkerConfig& config) {
  return {static_cast<std::uint64_t>(config.checkpoint_shard_mib) << 20U, {}};
}

// What this machine, or the cgroup this process is in, can still give.
std::optional<std::int64_t> spare_memory() {
  const auto memory = host::available_memory("/", host::cgroups_of("/", ::getpid()));
  return memory ? std::optional(memory->bytes) : std::nullopt;
}

// LoopPlan::peak_seconds. Rows of examples are computed as narrow as they are on the CPU, so what a
// step of them needs is not known.
std::optional<double> peak_seconds(const WorkerConfig& config, const Trainable& model) {
  std::optional<double> peak = model.peak_flops();
  if (config.peak_tflops > 0) peak = 1e12 * config.peak_tflops;
  if (!peak || (config.device == cpu_device && config.training.weighted)) return std::nullopt;
  const auto flops = step_flops(config.training);
  if (!flops) return std::nullopt;
  return *flops / (*peak * static_cast<double>(config.ranks()));
}

// Of what shares a step, and holds a copy of the parameters each.
std::vector<std::string> part_names(const WorkerConfig& config, const AttemptPlan& plan) {
  const bool devices = config.device == plugin_device;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(config.ranks()); ++i) {
    std::string name = fmt::format("{} {}", devices ? "device" : "rank", i);
    if (devices && i < plan.chips.size()) name += fmt::format(" ({})", plan.chips[i]);
    names.push_back(std::move(name));
  }
  return names;
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

// Where the data continues. `other_blocks`: the plan may cut it into other blocks than the
// checkpoint counted.
Result<Progress> find_place(const ResumePoint& point, BatchSource& data, bool other_blocks,
                            Reporter& reporter) {
  Progress progress = point.progress;
  if (!point.same_data) {
    reporter.error(
        "data: changed since the checkpoint was written (the run continues, but not bit for bit)");
  }
  // The position may no longer exist; then the next epoch starts.
  if ((!point.same_data || other_blocks) && !data.seek(progress.cursor)) {
    progress.cursor = {progress.cursor.epoch + 1, 0};
  }
  if (auto ok = data.seek(progress.cursor); !ok) return propagate(ok);
  return progress;
}

// What is in memory goes before the checkpoint on the disk, where the supervisor names one: by hand
// nobody has left anything there.
std::optional<Origin> choose_origin(const std::optional<fs::path>& folder,
                                    const WorkerEnvironment& environment, StateInMemory* memory) {
  if (memory != nullptr && environment.resume_from) {
    if (auto* slot = memory->newest(environment.run, step_in(folder))) {
      return Origin{slot->name(), slot};
    }
  }
  if (!folder) return std::nullopt;
  return Origin{*folder, nullptr};
}

// The supervisor has been told that this attempt begins there: the next one begins from the disk.
tl::unexpected<Error> give_up(StateInMemory& memory, Error error) {
  memory.clear();
  error.kind = ErrorKind::transient;
  return tl::unexpected<Error>(std::move(error));
}

// `memory`: null where the worker has not been given any.
Result<Ending> work(const WorkerOptions& options, const WorkerEnvironment& environment,
                    const WorkerPorts& ports, StateInMemory* memory, Reporter& reporter) {
  reporter.phase("load");
  auto config = as_usage(load_worker_config(options.config_file));
  if (!config) return propagate(config);
  auto plan = as_usage(read_attempt_plan(environment.plan));
  if (!plan) return propagate(plan);
  config->configured = config->training;
  config->training = planned(config->training, *plan);
  if (config->device == plugin_device) use_mesh(*plan, *config);
  // Saves may come more often after a crash; samples as often as they were asked for.
  const std::int64_t sample_every =
      config->evaluate_every > 0 ? config->evaluate_every : config->checkpoint_every;
  if (plan->checkpoint_every > 0) config->checkpoint_every = plan->checkpoint_every;
  const fs::path root =
      options.checkpoint_dir.value_or(environment.checkpoint_dir.value_or("checkpoints"));
  const bool uses_memory = memory != nullptr && config->checkpoint_memory != "off";
  if (memory != nullptr && !uses_memory) memory->clear();
  auto folder = choose_checkpoint(resume_request(options, environment), root, reporter);
  if (!folder) return propagate(folder);
  const auto from = choose_origin(*folder, environment, uses_memory ? memory : nullptr);
  if (from) {
    auto edition = edition_begun_under(*from);
    if (!edition) return propagate(edition);
    keep_edition(*config, *edition);
  }
  auto chosen = as_usage(choose_model(*config, root, reporter));
  if (!chosen) return propagate(chosen);
  if (!from) settle_precision(*config, ports, reporter);
  auto data = RunData::load(*config, root, from.has_value(), ports.requests, reporter);
  if (!data && ports.requests.stop_requested()) return Ending::stopped;
  if (!data) return propagate(data);
  if (from) {
    if (auto ok = keep_precision(*config, *from, *data, reporter); !ok) return propagate(ok);
  }

  const ModelSpec& trained = config->training.model;
  RunFacts facts{environment.run,
                 config->digest,
                 data->digest(),
                 "",
                 config->training.threads,
                 config->edition,
                 digest_text(*config, data->tokenizer_digest()),
                 facts_of(*chosen, trained,
                          data->examples() != nullptr ? &data->examples()->prompting : nullptr)};
  std::optional<ResumePoint> point;
  const bool from_memory = from && from->slot != nullptr;
  if (from) {
    reporter.status(fmt::format("loading {}", from->folder.string()));
    auto opened = open_checkpoint(*from, trained, chosen->origin, facts);
    if (opened && from_memory) {
      if (auto taken = from->slot->take(); !taken) opened = propagate(taken);
    }
    if (!opened && from_memory) {
      // What was read so far was read as that state wants it.
      reporter.status(
          fmt::format("{} is not resumed from: it {}", from->folder.string(), opened.error().what));
      memory->clear();
      return work(options, environment, ports, memory, reporter);
    }
    if (!opened) return propagate(opened);
    point.emplace(std::move(*opened));
    // A trailing slash would leave the name empty. What is in memory comes from a folder as well.
    facts.parent = from_memory ? point->reader.state().parent
                               : (from->folder / "").parent_path().filename().string();
  }
  reporter.resumed(point ? point->progress.step : 0, from_memory);

  config->training.initialise = !point;
  auto model = plan_model(*config, environment, chosen->base.get(), ports, reporter);
  if (!model) return propagate(model);
  Progress progress;
  Carried carried;
  if (point) {
    const MonoTime began = now().mono;
    auto restored = restore(point->reader, **model, point->progress.step);
    if (!restored && from_memory) return give_up(*memory, restored.error());
    if (!restored) return propagate(restored);
    reporter.status(fmt::format("restored step {} in {}, read in {}", point->progress.step,
                                human_duration(now().mono - began),
                                human_duration(restored->read_ms)));
    carried = std::move(*restored);
    auto place = find_place(*point, data->training(), plan->block > 0, reporter);
    if (!place && from_memory) return give_up(*memory, place.error());
    if (!place) return propagate(place);
    progress = *place;
    point.reset();
  }
  Checkpointing checkpoints(root, **model, facts, std::move(carried), save_options(*config),
                            reporter);
  if (config->checkpoint_async) checkpoints.reserve(spare_memory());
  if (uses_memory) {
    const bool spare = std::thread::hardware_concurrency() >
                       static_cast<unsigned>(std::max(config->training.threads, 1));
    checkpoints.use_memory(*memory, spare_memory(), spare);
  }

  if (const auto left_out = batches_to_skip(*plan, progress.step); left_out > 0) {
    reporter.status(fmt::format("leaving out the data of {} after step {}, where the loss broke",
                                count(left_out, "step"), progress.step));
    for (std::int64_t i = 0; i < left_out; ++i) data->training().skip();
  }

  auto prompting = prompting_for_samples(*config, *data);
  if (!prompting) return propagate(prompting);
  auto samples = RunSamples::make(*config, **model, **prompting, ports.requests, reporter);
  if (!samples) return propagate(samples);
  reporter.status(fmt::format("training from step {} to {}", progress.step, config->steps));
  const LoopPlan loop_plan{.steps = config->steps,
                           .checkpoint_every = config->checkpoint_every,
                           .log_every = config->log_every,
                           .evaluate_every = config->evaluate_every,
                           .sample_every = sample_every,
                           .evaluate_first = data->examples() != nullptr,
                           .keep_best = config->keep_best,
                           .patience = config->patience,
                           .peak_seconds = peak_seconds(*config, **model),
                           .begins_on_disk = !from_memory};
  std::optional<Replicas> replicas;
  std::optional<DeviceMeter> devices;
  if (config->ranks() > 1) {
    const auto names = part_names(*config, *plan);
    const auto columns = static_cast<std::size_t>(config->columns_of_weights());
    if (config->sharers() > 1) {
      replicas.emplace(
          Replicas::Options{root, names, config->checksum_every, progress.step, columns}, **model,
          reporter);
    }
    devices.emplace(plan->chips.empty() ? names : plan->chips, **model);
  }
  TrainingLoop loop(loop_plan, **model, data->training(), progress,
                    {reporter, ports.requests, checkpoints, data->held_out(), samples->get(),
                     replicas ? &*replicas : nullptr, devices ? &*devices : nullptr});
  return loop.run();
}

// Reads what a run of this configuration reads, so that its files are in memory and what is made of
// them once is made. What is wrong with them is told by the attempt itself.
void warm_up(const WorkerOptions& options, const WorkerEnvironment& environment,
             const WorkerPorts& ports) {
  Reporter nobody({[](const Message&) {}, [](std::string_view) {}, [](std::string_view) {},
                   [] { return now(); }});
  auto config = load_worker_config(options.config_file);
  if (!config) return;
  const fs::path root =
      options.checkpoint_dir.value_or(environment.checkpoint_dir.value_or("checkpoints"));
  auto chosen = choose_model(*config, root, nobody);
  if (chosen) (void)RunData::load(*config, root, true, ports.requests, nobody);
}

}  // namespace

int run_worker(const WorkerOptions& options, WorkerEnvironment environment,
               const WorkerPorts& ports) {
  Reporter reporter(ports.sinks);
  if (ports.wait_to_begin) {
    warm_up(options, environment, ports);
    auto begun = ports.wait_to_begin();
    if (!begun) return exit_code::try_again;
    environment = *std::move(begun);
  }
  const auto memory = StateInMemory::open(environment.memory, reporter);
  auto ending = work(options, environment, ports, memory.get(), reporter);
  if (ending) return exit_code_of(*ending);
  reporter.error(ending.error().message());
  return ending.error().kind == ErrorKind::usage ? exit_code::configuration : exit_code::failed;
}

}  // namespace trainward::trainer
