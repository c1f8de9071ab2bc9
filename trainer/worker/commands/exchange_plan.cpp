#include "trainer/worker/commands/exchange_plan.hpp"

#include "common/base/text.hpp"
#include "trainer/model/cpu/parallel_model.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/step_flops.hpp"

namespace trainward::trainer {
namespace {

// What a Wormhole chip can do in bf16 (Tenstorrent's data sheet: 262 TFLOP/s in the FP8 of an
// N300's two chips, a quarter of that each), and how much of it a training step usually reaches.
constexpr double wormhole_flops = 65e12;
constexpr double usual_share = 0.2;
// Backward takes two of the three parts of a step: two products for each one of forward.
constexpr double backward_share = 2.0 / 3.0;

mesh::Machine machine_of(std::int64_t devices) {
  if (devices <= 2) return mesh::Machine::n300;
  return devices <= 8 ? mesh::Machine::t3k : mesh::Machine::galaxy;
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

Result<ExchangePlan> exchange_of(const WorkerConfig& config) {
  auto part = split_over(config.training, config.ranks());
  if (!part) return propagate(part);
  const auto table = make_parameter_table(part->model, part->positions());
  auto flops = step_flops(*part);
  if (!flops) return propagate(flops);
  ExchangePlan plan;
  plan.mesh = {config.mesh_rows, config.mesh_columns};
  const mesh::Fabric& fabric = mesh::fabric_of(machine_of(config.ranks()));
  plan.machine = fabric.name;
  plan.gradient_bytes = table.count * static_cast<std::int64_t>(sizeof(float));
  plan.choice = mesh::choose(plan.mesh, fabric, plan.gradient_bytes);
  const double peak = config.peak_tflops > 0 ? 1e12 * config.peak_tflops : wormhole_flops;
  plan.reached_flops = usual_share * peak;
  plan.compute_seconds = *flops / (plan.reached_flops * static_cast<double>(config.ranks()));
  mesh::StepWork work{.compute_seconds = plan.compute_seconds,
                      .gradient_bytes = plan.gradient_bytes};
  plan.alone = mesh::step_share(work, plan.mesh, fabric);
  work.backward_seconds =
      backward_share * plan.compute_seconds / static_cast<double>(part->accumulation);
  plan.beside = mesh::step_share(work, plan.mesh, fabric);
  return plan;
}

std::string to_text(const ExchangePlan& plan) {
  return fmt::format(
      "[{}, {}], {} devices with a copy of the model each (links as in {}, docs/scaling.md)\n"
      "  gradients    {:>10}  summed once a step\n"
      "  sum          {}\n"
      "  computing    {:>7.3g} ms  a step, at {:.3g} TFLOP/s a device (assumed)\n"
      "  exchange     {:>10}  of a step after the backward pass, {} where it runs beside it\n",
      plan.mesh.rows, plan.mesh.columns, plan.mesh.devices(), plan.machine,
      human_bytes(static_cast<std::uint64_t>(plan.gradient_bytes)), mesh::to_string(plan.choice),
      1000 * plan.compute_seconds, plan.reached_flops / 1e12, percent(plan.alone.share),
      percent(plan.beside.share));
}

json::object to_json(const ExchangePlan& plan) {
  return {{"mesh_shape", {plan.mesh.rows, plan.mesh.columns}},
          {"machine", plan.machine},
          {"gradient_bytes", plan.gradient_bytes},
          {"algorithm", mesh::to_string(plan.choice.algorithm)},
          {"sum_seconds", plan.choice.cost.seconds},
          {"compute_seconds", plan.compute_seconds},
          {"share_after_backward", plan.alone.share},
          {"share_beside_backward", plan.beside.share}};
}

}  // namespace trainward::trainer
