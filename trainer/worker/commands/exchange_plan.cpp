#include "trainer/worker/commands/exchange_plan.hpp"

#include "common/base/text.hpp"
#include "trainer/model/columns.hpp"
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

constexpr std::int64_t largest_host = 32;  // a Galaxy

mesh::Machine machine_of(std::int64_t devices) {
  if (devices <= 2) return mesh::Machine::n300;
  return devices <= 8 ? mesh::Machine::t3k : mesh::Machine::galaxy;
}

// Of what is trained, as one device has it.
std::int64_t own_bytes(const ParameterTable& table, std::int64_t columns) {
  std::size_t bytes = 0;
  for (const ParameterInfo& info : table.infos) {
    if (info.trained()) bytes += Share(info, columns, sizeof(float)).size();
  }
  return static_cast<std::int64_t>(bytes);
}

// Two sums in a block and two on the way back, again where the forward pass is; with embedding and
// head on the devices those of the embedding too. The few numbers that the head tells for each
// position are left out.
DividedPlan divided_plan(const TrainingSpec& part, const WorkerConfig& config,
                         const ParameterTable& table, const mesh::Fabric& fabric,
                         double undivided_seconds) {
  const std::int64_t of_block = part.recompute ? 6 : 4;
  const std::int64_t of_embedding = config.placement == Placement::device ? 2 : 0;
  DividedPlan row;
  row.work = {part.columns, part.accumulation * (of_block * part.model.layers + of_embedding),
              part.batch_size * part.block_size * part.model.width *
                  static_cast<std::int64_t>(sizeof(float)),
              undivided_seconds};
  row.sums = mesh::row_sums(row.work, fabric);
  row.weights_bytes = own_bytes(table, 1);
  return row;
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

Result<ExchangePlan> exchange_of(const WorkerConfig& config) {
  auto part = split_over(config.training, config.sharers());
  if (!part) return propagate(part);
  if (auto ok = check_columns(*part); !ok) return propagate(ok);
  const auto table = make_parameter_table(part->model, part->positions());
  auto flops = step_flops(*part);
  if (!flops) return propagate(flops);
  ExchangePlan plan;
  plan.mesh = {config.mesh_rows, config.mesh_columns};
  const mesh::Fabric& fabric = mesh::fabric_of(machine_of(config.ranks()));
  plan.machine = fabric.name;
  plan.gradient_bytes = part->columns > 1 ? own_bytes(table, part->columns)
                                          : table.count * static_cast<std::int64_t>(sizeof(float));
  // What the devices of a row share each column sums by itself; the little that all of them have
  // counts as if it did.
  const mesh::Mesh summing = part->columns > 1 ? mesh::Mesh{config.mesh_rows, 1} : plan.mesh;
  plan.choice = mesh::choose(summing, fabric, plan.gradient_bytes);
  const double peak = config.peak_tflops > 0 ? 1e12 * config.peak_tflops : wormhole_flops;
  plan.reached_flops = usual_share * peak;
  plan.compute_seconds = *flops / (plan.reached_flops * static_cast<double>(config.ranks()));
  if (part->columns > 1) {
    const double of_row = *flops / (plan.reached_flops * static_cast<double>(config.mesh_rows));
    plan.divided = divided_plan(*part, config, table, fabric, of_row);
  }
  mesh::StepWork work{.compute_seconds = plan.compute_seconds,
                      .gradient_bytes = plan.gradient_bytes};
  plan.alone = mesh::step_share(work, summing, fabric);
  work.backward_seconds =
      backward_share * plan.compute_seconds / static_cast<double>(part->accumulation);
  plan.beside = mesh::step_share(work, summing, fabric);
  return plan;
}

namespace {

std::string to_text(const DividedPlan& row, std::int64_t own_bytes) {
  const auto bytes = [](std::int64_t count) {
    return human_bytes(static_cast<std::uint64_t>(count));
  };
  std::string text = fmt::format(
      "  weights      {:>10}  on each device, of {}\n"
      "  row sums     {:>7.3g} ms  a step: {} of {}, {:.3g} ms each ({})\n"
      "  saved        {:>7.3g} ms  of computing a step, by {} devices instead of one\n",
      bytes(own_bytes), bytes(row.weights_bytes), 1000 * row.sums.sum_seconds, row.work.sums,
      bytes(row.work.bytes), 1000 * row.sums.each.seconds, mesh::to_string(row.sums.each.source),
      1000 * row.sums.saved_seconds, row.work.columns);
  if (row.sums.helps()) return text;
  return text +
         "It does NOT help: the sums take longer than they save. Leave enable_tp out, unless the "
         "model does not fit on a device otherwise.\n";
}

json::object to_json(const DividedPlan& row) {
  return {{"columns", row.work.columns},
          {"weights_bytes", row.weights_bytes},
          {"sums", row.work.sums},
          {"sum_bytes", row.work.bytes},
          {"sum_seconds", row.sums.sum_seconds},
          {"saved_seconds", row.sums.saved_seconds},
          {"helps", row.sums.helps()}};
}

}  // namespace

std::string to_text(const ExchangePlan& plan) {
  std::string text = fmt::format(
      "[{}, {}], {} devices{} (links as in {}{}, docs/scaling.md)\n"
      "  gradients    {:>10}  of each device, summed once a step\n"
      "  sum          {}\n"
      "  computing    {:>7.3g} ms  a step, at {:.3g} TFLOP/s a device (assumed)\n"
      "  exchange     {:>10}  of a step after the backward pass, {} where it runs beside it\n",
      plan.mesh.rows, plan.mesh.columns, plan.mesh.devices(),
      plan.divided ? "; the devices of a row share a copy of the model"
                   : " with a copy of the model each",
      plan.machine, plan.mesh.devices() > largest_host ? ", were they all on one host" : "",
      human_bytes(static_cast<std::uint64_t>(plan.gradient_bytes)), mesh::to_string(plan.choice),
      1000 * plan.compute_seconds, plan.reached_flops / 1e12, percent(plan.alone.share),
      percent(plan.beside.share));
  if (plan.divided) text += to_text(*plan.divided, plan.gradient_bytes);
  return text;
}

json::object to_json(const ExchangePlan& plan) {
  json::object object{{"mesh_shape", {plan.mesh.rows, plan.mesh.columns}},
                      {"machine", plan.machine},
                      {"gradient_bytes", plan.gradient_bytes},
                      {"algorithm", mesh::to_string(plan.choice.algorithm)},
                      {"sum_seconds", plan.choice.cost.seconds},
                      {"compute_seconds", plan.compute_seconds},
                      {"share_after_backward", plan.alone.share},
                      {"share_beside_backward", plan.beside.share}};
  if (plan.divided) object["divided_weights"] = to_json(*plan.divided);
  return object;
}

}  // namespace trainward::trainer
