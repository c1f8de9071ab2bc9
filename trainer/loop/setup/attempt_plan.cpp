#include "trainer/loop/setup/attempt_plan.hpp"

#include <algorithm>

#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::trainer {
namespace {

constexpr std::int64_t most_skipped = 1'000'000;
constexpr std::int64_t most_at_once = 65'536;
constexpr std::int64_t most_devices = 1024;

Status read_work(const json::object& object, AttemptPlan& plan) {
  plan.block = int_or(object, "block", 0);
  plan.batch = int_or(object, "batch", 0);
  plan.accumulation = int_or(object, "accumulation", 1);
  plan.recompute = bool_or(object, "recompute", false);
  plan.checkpoint_every = int_or(object, "checkpoint_every", 0);
  if (plan.block < 0 || plan.block == 1 || plan.batch < 0 || plan.accumulation < 1 ||
      plan.checkpoint_every < 0) {
    return fail(ErrorKind::usage,
                "block, batch, accumulation and checkpoint_every cannot be so small", env::plan);
  }
  if (std::max(plan.batch, plan.accumulation) > most_at_once) {
    return fail(ErrorKind::usage, "batch and accumulation cannot be so large", env::plan);
  }
  const auto skip = get_array(object, "skip");
  if (!skip) return {};
  for (const json::value& item : **skip) {
    if (!item.is_object()) return fail(ErrorKind::usage, "skip holds no object", env::plan);
    const SkippedSteps window{int_or(item.get_object(), "from", 0),
                              int_or(item.get_object(), "to", 0)};
    if (window.from < 1 || window.to < window.from || window.to - window.from > most_skipped) {
      return fail(ErrorKind::usage,
                  fmt::format("skip from {} to {} is not a range of steps", window.from, window.to),
                  env::plan);
    }
    plan.skip.push_back(window);
  }
  return {};
}

// The chips are names for people: what is no text is left out.
Status read_mesh(const json::object& object, AttemptPlan& plan) {
  const json::value* mesh = object.if_contains("mesh");
  if (mesh == nullptr || !mesh->is_object()) return {};
  if (const auto chips = get_array(mesh->get_object(), "chips")) {
    for (const json::value& chip : **chips) {
      if (chip.is_string()) plan.chips.emplace_back(chip.get_string());
    }
  }
  const json::value* shape = mesh->get_object().if_contains("shape");
  if (shape == nullptr) return {};
  const auto sides = json::try_value_to<std::vector<std::int64_t>>(*shape);
  if (!sides || sides->size() != 2 || std::ranges::min(*sides) < 1 ||
      sides->at(0) > most_devices / sides->at(1)) {
    return fail(ErrorKind::usage, "the shape of mesh is no [rows, columns]", env::plan);
  }
  plan.mesh_rows = sides->at(0);
  plan.mesh_columns = sides->at(1);
  return {};
}

}  // namespace

TrainingSpec planned(TrainingSpec configured, const AttemptPlan& plan) {
  if (plan.block > 0) configured.block_size = plan.block;
  if (plan.batch > 0) configured.batch_size = plan.batch;
  configured.accumulation *= plan.accumulation;
  configured.recompute = configured.recompute || plan.recompute;
  return configured;
}

void use_mesh(const AttemptPlan& plan, WorkerConfig& config) {
  if (plan.mesh_rows == 0) return;
  config.mesh_rows = plan.mesh_rows;
  config.mesh_columns = plan.mesh_columns;
  config.training.columns = config.columns_of_weights();
}

std::int64_t batches_to_skip(const AttemptPlan& plan, std::int64_t step) {
  std::int64_t most = 0;
  for (const SkippedSteps& window : plan.skip) {
    if (window.from == step + 1) most = std::max(most, window.to - step);
  }
  return most;
}

Result<AttemptPlan> read_attempt_plan(std::string_view text) {
  AttemptPlan plan;
  if (trim(text).empty()) return plan;
  auto parsed = parse_json(text, env::plan);
  if (!parsed) return propagate(parsed);
  if (!parsed->is_object()) return fail(ErrorKind::usage, "is not a JSON object", env::plan);
  if (auto ok = read_work(parsed->get_object(), plan); !ok) return propagate(ok);
  if (auto ok = read_mesh(parsed->get_object(), plan); !ok) return propagate(ok);
  const json::value* board = parsed->get_object().if_contains("board");
  if (board == nullptr || board->is_null()) return plan;
  if (!board->is_object()) return fail(ErrorKind::usage, "board is not an object", env::plan);
  plan.serial = string_or(board->get_object(), "serial", "");
  return plan;
}

}  // namespace trainward::trainer
