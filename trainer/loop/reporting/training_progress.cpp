#include "trainer/loop/reporting/training_progress.hpp"

#include <array>

#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

// What to_state() puts beside the fields that every checkpoint has.
constexpr std::string_view evaluations_key = "evaluations";
constexpr std::array<std::string_view, 9> own_keys{
    configuration_key, "cursor",    "epoch",         "optimizer_steps", "threads",
    "corpus_digest",   model_facts, evaluations_key, edition_key};

// Another program's checkpoint says nothing of our data: the run begins with its first block.
bool is_imported(const checkpoint::TrainingState& state) {
  return state.config_digest.empty() && !state.extra.contains("cursor");
}

}  // namespace

json::object foreign_keys(const checkpoint::TrainingState& state) {
  json::object rest = state.extra;
  for (const std::string_view key : own_keys) rest.erase(key);
  return rest;
}

checkpoint::TrainingState to_state(const Progress& progress, const RunFacts& facts) {
  checkpoint::TrainingState state;
  state.step = progress.step;
  state.tokens = progress.tokens;
  state.loss = progress.loss;
  state.run = facts.run;
  state.config_digest = facts.config_digest;
  state.parent = facts.parent;
  state.extra["cursor"] =
      json::object{{"epoch", progress.cursor.epoch}, {"position", progress.cursor.position}};
  state.extra["epoch"] = progress.cursor.epoch;
  state.extra["optimizer_steps"] = progress.step;
  state.extra["threads"] = facts.threads;
  state.extra[configuration_key] = facts.configuration;
  // The first edition is what it was: without a word of it.
  if (facts.edition > 1) state.extra[edition_key] = facts.edition;
  state.extra["corpus_digest"] = facts.corpus_digest;
  if (!facts.model.empty()) state.extra[model_facts] = facts.model;
  state.extra[evaluations_key] = to_json(progress.evaluations);
  return state;
}

Result<Progress> progress_of(const checkpoint::TrainingState& state) {
  if (is_imported(state)) {
    return Progress{state.step, state.tokens, state.loss, {}, unknown_evaluations(state.step)};
  }
  auto cursor = get_object(state.extra, "cursor");
  if (!cursor) return propagate(cursor);
  auto epoch = get_int(**cursor, "epoch");
  if (!epoch) return propagate(epoch);
  auto position = get_int(**cursor, "position");
  if (!position) return propagate(position);
  auto optimizer_steps = get_int(state.extra, "optimizer_steps");
  if (!optimizer_steps) return propagate(optimizer_steps);
  if (state.step < 0 || state.tokens < 0 || *optimizer_steps != state.step) {
    return fail(ErrorKind::corrupt,
                fmt::format("step {}, {} tokens and {} optimizer steps do not fit together",
                            state.step, state.tokens, *optimizer_steps),
                "state.json");
  }
  Progress progress{
      state.step, state.tokens, state.loss, {*epoch, *position}, unknown_evaluations(state.step)};
  if (state.extra.contains(evaluations_key)) {
    auto object = get_object(state.extra, evaluations_key);
    if (!object) return propagate(object);
    auto evaluations = parse_evaluations(**object, state.step);
    if (!evaluations) return propagate(evaluations);
    progress.evaluations = *std::move(evaluations);
  }
  return progress;
}

}  // namespace trainward::trainer
