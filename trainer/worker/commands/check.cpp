#include "trainer/worker/commands/check.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "common/base/json/json.hpp"
#include "common/os/clock.hpp"
#include "trainer/data/batch_reader.hpp"
#include "trainer/loop/setup/choose_model.hpp"
#include "trainer/loop/setup/device_setup.hpp"
#include "trainer/loop/setup/run_data.hpp"
#include "trainer/model/cpu/cpu_model.hpp"
#include "trainer/worker/commands/tensor_agreement.hpp"

namespace trainward::trainer {
namespace {

constexpr std::size_t shown = 5;  // of the parameters that agree worst

struct StepPair {
  StepResult cpu, device;
  double seconds = 0;  // of the device
};

struct Findings {
  std::vector<Agreement> gradients;  // worst first
  std::vector<StepPair> steps;

  [[nodiscard]] double worst_correlation() const {
    return gradients.empty() ? 0 : gradients.front().correlation;
  }
  [[nodiscard]] double worst_loss() const {
    double worst = 0;
    for (const StepPair& step : steps) {
      worst = std::max(worst, std::abs(step.device.loss / step.cpu.loss - 1));
    }
    return worst;
  }
};

// The first moments, which after one step are the gradients times one factor.
std::vector<checkpoint::TensorView> first_moments(const Trainable& model) {
  std::vector<checkpoint::TensorView> all = model.optimizer_state();
  std::erase_if(all, [](const checkpoint::TensorView& tensor) {
    return !tensor.info.name.ends_with(".exp_avg");
  });
  return all;
}

Result<Findings> compare(WorkerConfig& config, const CheckOptions& options,
                         const CommandPorts& ports, const MakeModel& make_model,
                         Reporter& reporter) {
  auto chosen = choose_model(config);
  if (!chosen) return propagate(chosen);
  const BaseWeights* base = chosen->base.get();
  auto data = RunData::load(config, std::filesystem::temp_directory_path(), false, ports.requests,
                            reporter);
  if (!data) return propagate(data);
  auto device = make_model(config, WorkerEnvironment{}, base, reporter);
  if (!device) return propagate(device);
  auto cpu = make_cpu_model(config.training, base);
  if (!cpu) return propagate(cpu);
  Findings findings;
  while (static_cast<std::int64_t>(findings.steps.size()) < options.steps) {
    if (ports.requests.stop_requested()) return fail(ErrorKind::transient, "was asked to stop");
    auto tokens = data->training().next();
    if (!tokens) return propagate(tokens);
    const auto began = ports.now();
    auto on_device = (*device)->step(*tokens);
    if (!on_device) return propagate(on_device);
    const std::chrono::duration<double> took = ports.now() - began;
    auto on_cpu = (*cpu)->step(*tokens);
    if (!on_cpu) return propagate(on_cpu);
    findings.steps.push_back({*on_cpu, *on_device, took.count()});
    if (!options.json) {
      ports.out(fmt::format(
          "step {}: loss {:.6f}, with the CPU {:.6f}; norm of the gradient {:.4f}, {:.4f}; {:.3f} "
          "s\n",
          findings.steps.size(), on_device->loss, on_cpu->loss, on_device->grad_norm,
          on_cpu->grad_norm, took.count()));
    }
    if (findings.steps.size() > 1) continue;
    if (auto ok = (*device)->gather_state(); !ok) return propagate(ok);
    findings.gradients = compare_tensors(first_moments(**cpu), first_moments(**device));
  }
  return findings;
}

void tell_gradients(const Findings& findings, const CommandPorts& ports) {
  ports.out(fmt::format("gradients of {} parameters; those that agree worst:\n",
                        findings.gradients.size()));
  for (std::size_t i = 0; i < std::min(shown, findings.gradients.size()); ++i) {
    const Agreement& gradient = findings.gradients[i];
    ports.out(fmt::format("  correlation {:9.6f}  difference {:9.2e}  {}\n", gradient.correlation,
                          gradient.difference, gradient.name.substr(0, gradient.name.rfind('.'))));
  }
}

json::object findings_json(const Findings& findings, bool agrees) {
  json::array gradients;
  for (const Agreement& gradient : findings.gradients) {
    gradients.push_back(
        json::object{{"parameter", gradient.name.substr(0, gradient.name.rfind('.'))},
                     {"correlation", gradient.correlation},
                     {"difference", gradient.difference}});
  }
  json::array steps;
  for (const StepPair& step : findings.steps) {
    steps.push_back(json::object{{"loss", step.device.loss},
                                 {"cpu_loss", step.cpu.loss},
                                 {"grad_norm", step.device.grad_norm},
                                 {"cpu_grad_norm", step.cpu.grad_norm},
                                 {"seconds", step.seconds}});
  }
  return {{"agrees", agrees}, {"gradients", gradients}, {"steps", steps}};
}

}  // namespace

int run_check(const CheckOptions& options, const CommandPorts& ports, const MakeModel& make_model) {
  Reporter reporter({[](const Message&) {}, ports.err, ports.err, [] { return now(); }});
  auto config = load_worker_config(options.config_file);
  if (!config) {
    config.error().kind = ErrorKind::usage;
    return tell(ports, config.error());
  }
  if (config->device == cpu_device) {
    return tell(ports, {ErrorKind::usage, "there is no device to check", options.config_file,
                        "name a plugin in device_config.plugin"});
  }
  auto findings = compare(*config, options, ports, make_model, reporter);
  if (!findings) {
    if (ports.requests.stop_requested()) return exit_code::try_again;
    return tell(ports, findings.error());
  }
  const bool agrees = findings->worst_correlation() >= options.correlation &&
                      findings->worst_loss() <= options.loss;
  if (options.json) {
    ports.out(json::serialize(findings_json(*findings, agrees)) + "\n");
  } else {
    tell_gradients(*findings, ports);
    ports.out(agrees ? fmt::format("The device agrees with the CPU: every gradient correlates by "
                                   "{:.6f} or more, losses differ by {:.2e} at most.\n",
                                   findings->worst_correlation(), findings->worst_loss())
                     : fmt::format("The device does NOT agree with the CPU: a gradient correlates "
                                   "by {:.6f} (at least {} asked), a loss differs by {:.2e} (at "
                                   "most {} asked). Do not train on it: see docs/n300.md.\n",
                                   findings->worst_correlation(), options.correlation,
                                   findings->worst_loss(), options.loss));
  }
  return agrees ? exit_code::done : exit_code::failed;
}

void add_check(CLI::App& app, Chosen& chosen) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check", "Take a few steps on the device and with the CPU, and compare gradients and losses");
  command->add_option("--config", options->config_file, "The configuration, a JSON file")
      ->required();
  command->add_option("--steps", options->steps, "How many")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000}));
  command
      ->add_option("--correlation", options->correlation,
                   "Least correlation of a parameter's gradient with the CPU's")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--loss", options->loss, "Largest relative difference of a loss")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--json", options->json, "One object at the end");
  command->footer(
      "Exit codes: 0 the device agrees, 1 it does not or failed, 75 stopped as asked, 78 something "
      "to be changed first.\n");
  command->callback([options, &chosen] {
    chosen = [options] {
      return with_terminal(
          [&](const CommandPorts& ports) { return run_check(*options, ports, make_model); });
    };
  });
}

}  // namespace trainward::trainer
