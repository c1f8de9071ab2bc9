#include "supervisor/evidence/foreign/checkpoints/trainer_state.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/os/json_file.hpp"

namespace trainward::foreign {
namespace {

constexpr std::uint64_t most_bytes = 64 * 1024 * 1024;
constexpr std::size_t most_logged = 10'000;  // that were logged: twice as many are kept at most
constexpr std::int64_t latest_step = 1'000'000'000'000;

bool plausible(std::int64_t step) { return step >= 0 && step <= latest_step; }

std::optional<double> number(const JsonScalar& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* fraction = std::get_if<double>(&value)) return *fraction;
  return std::nullopt;
}

std::int64_t whole_or(const JsonScalar& value, std::int64_t fallback) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole == nullptr ? fallback : *whole;
}

class StateListener : public JsonListener {
 public:
  void value(JsonWay at, const JsonScalar& value) override {
    if (at.size() == 1) take_member(at[0].key, value);
    if (at.size() == 3 && is_entry(at.first(2))) take_field(at[2].key, value);
  }
  void begin(JsonWay at, bool list) override {
    if (is_entry(at)) entry_ = {};
    if (at.empty()) object_ = !list;
  }
  void end(JsonWay at, std::size_t /*entries*/) override {
    if (is_entry(at)) take_entry();
  }
  std::optional<TrainerState> state() {
    if (!object_ || !plausible(state_.step)) return std::nullopt;
    return std::move(state_);
  }

 private:
  struct Entry {
    std::int64_t step = 0;
    StepFigures measures;
  };
  static bool is_entry(JsonWay at) {
    return at.size() == 2 && at[0].key == "log_history" && at[1].list;
  }

  void take_member(std::string_view key, const JsonScalar& value) {
    if (key == "global_step") state_.step = whole_or(value, -1);
    if (key != "logging_steps") return;
    const std::int64_t every = whole_or(value, 0);
    state_.log.every = every > 0 && plausible(every) ? every : 0;
  }

  void take_field(std::string_view key, const JsonScalar& value) {
    if (key == "step") entry_.step = whole_or(value, 0);
    if (key == "loss") entry_.measures.loss = number(value);
    if (key == "learning_rate") entry_.measures.learning_rate = number(value);
    if (key == "grad_norm") entry_.measures.grad_norm = number(value);
  }

  // Lines of an evaluation are in the list as well, without a loss.
  void take_entry() {
    std::vector<Step>& steps = state_.log.steps;
    const std::int64_t before = steps.empty() ? 0 : steps.back().step;
    if (!entry_.measures.loss || entry_.step <= before || !plausible(entry_.step)) return;
    if (steps.size() >= 2 * most_logged) {
      steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(most_logged));
    }
    steps.push_back({entry_.step, entry_.measures});
  }

  TrainerState state_{-1, {}};
  Entry entry_;
  bool object_ = false;
};

}  // namespace

std::optional<TrainerState> read_trainer_state(const std::filesystem::path& folder) {
  StateListener listener;
  if (!tell_json_file(folder / "trainer_state.json", most_bytes, listener)) return std::nullopt;
  return listener.state();
}

}  // namespace trainward::foreign
