#include "trainer/worker/commands/plan_command.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/processes/host_memory.hpp"
#include "trainer/loop/setup/choose_model.hpp"
#include "trainer/loop/setup/run_data.hpp"
#include "trainer/model/cpu/memory_plan.hpp"
#include "trainer/model/cpu/parallel_model.hpp"
#include "trainer/worker/commands/exchange_plan.hpp"

namespace trainward::trainer {
namespace {

struct Row {
  std::string_view name;
  std::uint64_t bytes;
  std::string_view about;
};

std::vector<Row> rows_of(const MemoryPlan& plan) {
  return {
      {"weights", plan.weights, "that are trained, in f32 (and bf16 where they are multiplied so)"},
      {"gradients", plan.gradients, "of the weights that are trained"},
      {"moments", plan.moments, "of AdamW, two for each weight"},
      {"frozen", plan.frozen, "weights that are not trained, and tables"},
      {"mapped", plan.mapped, "the same in the base model's files: the page cache's memory"},
      {"activations", plan.activations, "from a layer's forward to its backward"},
      {"workspace", plan.workspace, "of the largest part of a step"}};
}

// What could be changed, and what is left of the plan then.
struct Change {
  std::string what;
  MemoryPlan plan;
};

std::vector<Change> changes(const TrainingSpec& spec, const BaseWeights* base) {
  std::vector<Change> all;
  const auto add = [&](std::string what, const TrainingSpec& changed) {
    if (auto plan = plan_cpu_memory(changed, base)) all.push_back({std::move(what), *plan});
  };
  TrainingSpec changed = spec;
  changed.recompute = true;
  if (!spec.recompute) add("recompute: true", changed);
  if (spec.batch_size > 1) {
    changed.batch_size = 1;
    changed.accumulation *= spec.batch_size;
    add(fmt::format("{}batch_size: 1 with accumulation: {} (the same step)",
                    spec.recompute ? "" : "recompute: true, ", changed.accumulation),
        changed);
  }
  if (base != nullptr && !spec.model.lora.used()) {
    changed.model.lora = {16, 32, 0, false, 0x7F};
    add("the same with lora: {r: 16, target_modules: all-linear}", changed);
  }
  return all;
}

struct Verdict {
  MemoryPlan plan;
  std::uint64_t copies = 0;  // of the state, left in memory for the next attempt; 0: none
  std::uint64_t peak = 0;    // of all processes of this machine that share a step
  std::optional<std::int64_t> available;
  std::vector<Change> changes;  // where it does not fit

  [[nodiscard]] bool fits() const {
    return !available || static_cast<std::int64_t>(peak) <= *available;
  }
};

// Files that are mapped are in memory once, whatever ranks there are.
std::uint64_t peak_of(const MemoryPlan& plan, std::int64_t ranks) {
  return plan.mapped + (plan.peak() - plan.mapped) * static_cast<std::uint64_t>(ranks);
}

std::string text_of(const Verdict& verdict, const WorkerConfig& config) {
  std::string text = fmt::format("{}, {} by {} tokens at a time{}\n", config.model,
                                 config.training.batch_size, config.training.block_size,
                                 config.training.recompute ? ", forward computed again" : "");
  for (const Row& row : rows_of(verdict.plan)) {
    if (row.bytes == 0) continue;
    text += fmt::format("  {:<12} {:>10}  {}\n", row.name, human_bytes(row.bytes), row.about);
  }
  text += fmt::format("  {:<12} {:>10}{}\n", "in all", human_bytes(verdict.peak),
                      config.ranks() > 1 ? fmt::format("  in {} processes", config.ranks()) : "");
  if (verdict.copies > 0) {
    text += fmt::format("  {:<12} {:>10}  {}\n", "and", human_bytes(verdict.copies),
                        "where there is room: two copies of weights and moments, for the next "
                        "attempt (checkpoint_memory)");
  }
  if (!verdict.available) return text;
  const std::string there =
      human_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(*verdict.available, 0)));
  if (verdict.fits()) return text + fmt::format("It fits: {} are available.\n", there);
  text += fmt::format("It does NOT fit: {} are available. What would help:\n", there);
  for (const Change& change : verdict.changes) {
    text += fmt::format("  {:>10}  {}\n", human_bytes(peak_of(change.plan, config.ranks())),
                        change.what);
  }
  return text;
}

json::object json_of(const Verdict& verdict) {
  json::object object;
  for (const Row& row : rows_of(verdict.plan)) {
    object[fmt::format("{}_bytes", row.name)] = row.bytes;
  }
  object["peak_bytes"] = verdict.peak;
  object["state_copies_bytes"] = verdict.copies;
  object["available_bytes"] =
      verdict.available ? json::value(*verdict.available) : json::value(nullptr);
  object["fits"] = verdict.fits();
  return object;
}

Result<Verdict> judge(WorkerConfig& config, const CommandPorts& ports, Reporter& reporter) {
  auto chosen = choose_model(config);
  if (!chosen) return propagate(chosen);
  auto data = RunData::load(config, std::filesystem::path(), false, ports.requests, reporter);
  if (!data) return propagate(data);
  TrainingSpec part = config.training;
  if (config.ranks() > 1) {
    auto split = split_over(part, config.ranks());
    if (!split) return propagate(split);
    part = *split;
  }
  auto plan = plan_cpu_memory(part, chosen->base.get());
  if (!plan) return propagate(plan);
  // Of each weight that is trained the value, and the two moments that the plan counts.
  const bool copies = config.checkpoint_memory != "off" && config.ranks() == 1;
  Verdict verdict{
      *plan, copies ? 3 * plan->moments : 0, peak_of(*plan, config.ranks()), std::nullopt, {}};
  const auto memory = host::available_memory("/", host::cgroups_of("/", ::getpid()));
  if (memory) verdict.available = memory->bytes;
  if (!verdict.fits()) verdict.changes = changes(part, chosen->base.get());
  return verdict;
}

// Of devices: what their programs take they say themselves, so only the exchange between them is
// planned.
int plan_exchange(WorkerConfig& config, const PlanOptions& options, const CommandPorts& ports) {
  if (config.ranks() == 1) {
    return tell(ports, {ErrorKind::usage,
                        "plans the memory of the CPU, or the exchange of several "
                        "devices",
                        options.config_file,
                        "a device says itself what its programs take: trainward-worker compile"});
  }
  auto chosen = choose_model(config);
  if (!chosen) return tell(ports, chosen.error());
  auto exchange = exchange_of(config);
  if (!exchange) return tell(ports, exchange.error());
  ports.out(options.json ? json::serialize(to_json(*exchange)) + "\n" : to_text(*exchange));
  return exchange->helps() ? exit_code::done : exit_code::failed;
}

}  // namespace

int run_plan(const PlanOptions& options, const CommandPorts& ports) {
  Reporter reporter(
      {[](const Message&) {}, [](std::string_view) {}, ports.err, [] { return now(); }});
  auto config = load_worker_config(options.config_file);
  if (!config) {
    config.error().kind = ErrorKind::usage;
    return tell(ports, config.error());
  }
  if (config->device != cpu_device) return plan_exchange(*config, options, ports);
  auto verdict = judge(*config, ports, reporter);
  if (!verdict) {
    if (ports.requests.stop_requested()) return exit_code::try_again;
    return tell(ports, verdict.error());
  }
  ports.out(options.json ? json::serialize(json_of(*verdict)) + "\n" : text_of(*verdict, *config));
  return verdict->fits() ? exit_code::done : exit_code::failed;
}

void add_plan(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan", "Show what memory a run takes, or how its devices will sum gradients");
  command
      ->add_option("config", options->config_file,
                   "The configuration as JSON: a file, or - (trainwardctl config worker FILE | …)")
      ->required();
  command->add_flag("--json", options->json, "One object, in bytes");
  command->footer(
      "Exit codes: 0 it fits, 1 it does not, or the devices of a row share the weights and a step "
      "takes longer by it, or something failed, 75 stopped as asked, 78 something "
      "to be changed first.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal([&](const CommandPorts& ports) { return run_plan(*options, ports); });
    };
  });
}

}  // namespace trainward::trainer
