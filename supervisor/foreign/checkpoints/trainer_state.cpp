#include "supervisor/foreign/checkpoints/trainer_state.hpp"

#include <utility>

#include "common/base/json.hpp"
#include "common/os/file.hpp"

namespace trainward::foreign {
namespace {

constexpr std::size_t most_bytes = 64 * 1024 * 1024;
constexpr std::int64_t most_logged_step = 1'000'000'000'000;

bool plausible(std::int64_t step) { return step >= 0 && step <= most_logged_step; }

// Lines of an evaluation are in the list as well, without a loss.
void take_entry(const json::value& value, TrainerLog& log) {
  const auto* entry = value.if_object();
  if (entry == nullptr) return;
  const auto loss = get_number(*entry, "loss");
  const std::int64_t step = int_or(*entry, "step", 0);
  const std::int64_t before = log.steps.empty() ? 0 : log.steps.back().step;
  if (!loss || step <= before || !plausible(step)) return;
  Measures measures;
  measures.loss = *loss;
  if (const auto rate = get_number(*entry, "learning_rate")) measures.learning_rate = *rate;
  if (const auto norm = get_number(*entry, "grad_norm")) measures.grad_norm = *norm;
  log.steps.push_back({step, measures});
}

}  // namespace

std::optional<TrainerState> read_trainer_state(const std::filesystem::path& folder) {
  const auto text = read_file(folder / "trainer_state.json", most_bytes);
  if (!text) return std::nullopt;
  const auto value = parse_json(*text, "trainer_state.json");
  const auto* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  TrainerState state;
  state.step = int_or(*object, "global_step", -1);
  if (!plausible(state.step)) return std::nullopt;
  const std::int64_t every = int_or(*object, "logging_steps", 0);
  state.log.every = every > 0 && plausible(every) ? every : 0;
  const auto* history = object->if_contains("log_history");
  if (history != nullptr && history->is_array()) {
    for (const json::value& entry : history->get_array()) take_entry(entry, state.log);
  }
  return state;
}

}  // namespace trainward::foreign
