// How near a training step comes to what the machine can do. Measured in one run: the peak of
// matrix products, the speed of memory, then the steps of training_cases.hpp, each beside the
// shortest time it could take (step_work.hpp says how that is counted).
//
//   roofline_bench [--threads N] [--quick] [--large] [--first-step PRESET] [--scratch FOLDER]
//
// --large adds the 698 million parameter model (9 GB of memory). --first-step times the worker from
// its exec to its first step; with `large` it needs 9 GB of memory and 7 GB of disk in FOLDER.

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "first_step.hpp"
#include "measure.hpp"
#include "trainer/cpu/runtime/wait_policy.hpp"
#include "training_cases.hpp"

namespace trainward::roofline {
namespace {

using trainer::TrainingSpec;

constexpr double giga = 1e9;

struct Options {
  Effort effort;
  bool large = false;
  std::string first_step;
  std::string scratch = ".";
};

Machine measure_machine(const Effort& effort) {
  // Layers of the models, the head of `large`, and the MLP; for --quick only what is small.
  std::vector<Product> products{
      {512, 1024, 1024}, {512, 1024, 4096}, {512, 1024, 128'832}, {1024, 512, 512}};
  if (effort.quick) products = {{512, 1024, 1024}, {1024, 512, 512}};
  Machine machine;
  fmt::print("products, f32, {} threads, GFLOP/s: median, best\n", effort.threads);
  for (const Product& p : products) {
    const Rate rate = product_flops(p, effort);
    fmt::print("  {:<20}{:7.0f} {:7.0f}\n", fmt::format("{} x {} x {}", p.m, p.k, p.n),
               rate.median / giga, rate.best / giga);
    machine.flops_per_second = std::max(machine.flops_per_second, rate.best);
  }
  const std::size_t bytes = std::size_t{effort.quick ? 16U : 256U} << 20U;
  fmt::print("memory, arrays of {} MiB, GB/s: median, best\n", bytes >> 20U);
  const auto tell = [&](const char* name, const Rate& rate) {
    fmt::print("  {:<20}{:7.1f} {:7.1f}\n", name, rate.median / giga, rate.best / giga);
    machine.bytes_per_second = std::max(machine.bytes_per_second, rate.best);
  };
  tell("a = b + s c", triad_bytes(bytes, effort));
  tell("AdamW", adamw_bytes(bytes, effort));
  return machine;
}

void tell_heading() {
  fmt::print("\n{:<20}{:>10}{:>10}{:>10}{:>12}{:>12}{:>10}{:>8}{:>11}\n", "step", "GFLOP",
             "GB moved", "ms", "products ms", "memory ms", "bound ms", "share", "peak GiB");
}

void tell_step(const char* name, const StepWork& work, const Machine& machine,
               const StepTime& time) {
  const bool in_cache = time.arena < static_cast<double>(cache_bytes());
  const double bound = least_seconds(work, machine, in_cache);
  const double moving = in_cache ? 0 : work.bytes() / machine.bytes_per_second;
  fmt::print("{:<20}{:>10.2f}{:>10.2f}{:>10.1f}{:>12.1f}{:>12.1f}{:>10.1f}{:>7.0f}%{:>11.2f}{}\n",
             name, work.flops() / giga, work.bytes() / giga, 1e3 * time.median,
             1e3 * work.flops() / machine.flops_per_second, 1e3 * moving, 1e3 * bound,
             100 * bound / time.median, time.peak_bytes / 0x1p30,
             in_cache ? "  (in the cache)" : "");
}

void measure_segments(const char* name, const TrainingSpec& spec, std::int32_t ids,
                      const Machine& machine, const Effort& effort) {
  const StepTime time = step_time(effort, [&] {
    const std::shared_ptr<trainer::Trainable> model = must(trainer::make_cpu_model(spec));
    const auto tokens = trainer::tokens_case(spec.sequences_per_step() * spec.block_size, ids);
    return Stepper{[=] { must(model->step(tokens)); }, model->arena_bytes()};
  });
  tell_step(name, must(work_of_segments(spec)), machine, time);
}

template <typename Rows>
void measure_whole(const char* name, const trainer::ModelGraph& graph,
                   const trainer::Optimizer& optimizer, const Rows& rows, const Machine& machine,
                   const Effort& effort) {
  const StepTime time = step_time(effort, [&] {
    const std::shared_ptr<trainer::WholeModel> model =
        must(trainer::WholeModel::make(graph, optimizer, 1, effort.threads));
    const std::array<const void*, 2> inputs{rows.data(), rows.data()};
    return Stepper{[=] { must(model->step(inputs)); }, model->arena_bytes()};
  });
  tell_step(name, work_of_whole(graph, optimizer), machine, time);
}

void tell_first_step(const Options& options) {
  FirstStepCase which;
  which.model = options.first_step;
  which.threads = options.effort.threads;
  which.scratch = options.scratch;
  if (options.first_step == "large") which.vocabulary = 128'815;
  const FirstStep result = measure_first_step(which);
  fmt::print(
      "\nworker, {}, {:.2f} GB of checkpoint in the page cache: trains {:.2f} s after exec, first "
      "step ends after {:.2f} s, {:.2f} GiB resident at most\n",
      options.first_step, result.checkpoint_bytes / giga, result.loaded_seconds,
      result.step_seconds, result.peak_bytes / 0x1p30);
}

int run(const Options& options) {
  const Effort& effort = options.effort;
  const Machine machine = measure_machine(effort);
  tell_heading();
  measure_segments("micro_3x", trainer::micro_3x_case(effort.threads), 251, machine, effort);
  measure_whole("MLP", must(trainer::make_mlp({})), trainer::Sgd{}, trainer::mlp_rows_case(),
                machine, effort);
  measure_segments("GPT", trainer::gpt_case(effort.threads), 65, machine, effort);
  if (options.large) {
    for (const std::int64_t block : {64, 512}) {
      measure_segments(fmt::format("large, {} tokens", block).c_str(),
                       trainer::large_case(block, effort.threads), 251, machine, effort);
    }
  }
  fmt::print(
      "bound: the longer of products and memory for each segment, added up, and the optimizer's "
      "pass\n");
  if (!options.first_step.empty()) tell_first_step(options);
  return 0;
}

}  // namespace
}  // namespace trainward::roofline

int main(int argc, char** argv) {
  (void)trainward::cpu::wait_passively(argv);
  trainward::roofline::Options options;
  CLI::App app{"Training steps beside what the machine can do"};
  app.add_option("--threads", options.effort.threads, "Processors to use")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--quick", options.effort.quick, "Only to see that it works");
  app.add_flag("--large", options.large,
               "Also the model of 698 million parameters: 9 GB of memory");
  app.add_option("--first-step", options.first_step,
                 "Also a worker of this preset, from its exec to its first step");
  app.add_option("--scratch", options.scratch, "Where its checkpoint goes; for large 7 GB")
      ->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);
  return trainward::roofline::run(options);
}
