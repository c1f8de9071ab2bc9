#include "supervisor/evidence/foreign/formats/read_fields.hpp"

#include <utility>

#include "supervisor/evidence/foreign/formats/fields.hpp"
#include "supervisor/evidence/foreign/formats/meaning.hpp"

namespace trainward::foreign {
namespace {

constexpr int most_fields = 48;
constexpr double most_gib = 1 << 20;

// What was found on one line so far.
struct Line {
  Reading reading;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> batches;
  int loss_rank = 0;
  int step_rank = 0;
  bool about_held_out = false;  // "val step 10"
  bool loss_awaited = false;    // "loss at step 10: ", whose number has no word of its own

  void take(const Field& field);
  void take_measure(const Field& field, Understood understood);
  void take_without_words(const Field& field);
};

void Line::take_without_words(const Field& field) {
  const auto value = whole_number(field.number);
  if (!field.of.empty() && reading.epoch && !batch && value) {
    batch = value;  // "Train Epoch: 1 [640/60000 (1%)]"
    batches = whole_number(field.of);
    reading.in_epoch = true;
  } else if (loss_awaited && loss_rank == 0 && field.unit != "%") {
    take_measure(field, {about_held_out ? Meaning::held_out : Meaning::loss, 1});
  }
}

void Line::take_measure(const Field& field, Understood understood) {
  StepFigures& measures = reading.measures;
  const auto value = real_number(field.number);
  if (!value) return;
  const bool percent = field.glued && field.unit == "%";
  if (percent && understood.meaning != Meaning::mfu) return;
  switch (understood.meaning) {
    case Meaning::loss:
      if (understood.rank <= loss_rank) return;
      loss_rank = understood.rank;
      measures.loss = value;
      break;
    case Meaning::held_out:
      if (!reading.held_out) reading.held_out = value;
      break;
    case Meaning::learning_rate:
      if (!measures.learning_rate) measures.learning_rate = value;
      break;
    case Meaning::grad_norm:
      if (!measures.grad_norm) measures.grad_norm = value;
      break;
    case Meaning::tokens_per_second:
      if (!measures.tokens_per_second) measures.tokens_per_second = value;
      break;
    case Meaning::mfu:
      // nanoGPT shows -100 % before it knows.
      if (*value >= 0 && *value <= 100) measures.mfu = *value / 100;
      break;
    case Meaning::device_memory:
      if (*value >= 0 && *value < most_gib) {
        measures.device_memory = static_cast<std::int64_t>(*value * (1 << 30));
      }
      break;
    case Meaning::named:
      put(measures, *understood.figure, *value);
      break;
    case Meaning::tokens:
      if (!measures.tokens && !field.glued) measures.tokens = whole_number(field.number);
      break;
    case Meaning::other:
    case Meaning::step:
    case Meaning::batch:
    case Meaning::epoch:
      return;
  }
}

void Line::take(const Field& field) {
  const Understood understood = understand(field.key, field.unit);
  if (understood.no_words) return take_without_words(field);
  loss_awaited = loss_awaited || understood.names_loss;
  const auto value = field.glued ? std::nullopt : whole_number(field.number);
  const auto of = field.of.empty() ? std::nullopt : whole_number(field.of);
  if (understood.meaning == Meaning::step && value && understood.rank > step_rank) {
    step_rank = understood.rank;
    reading.step = value;
    reading.total = of;
    about_held_out = about_held_out || understood.held_out;
  } else if (understood.meaning == Meaning::batch && value && !batch) {
    batch = value;
    batches = of;
    about_held_out = about_held_out || understood.held_out;
  } else if (understood.meaning == Meaning::epoch && value && !reading.epoch) {
    reading.epoch = value;
    reading.epochs = of;
    about_held_out = about_held_out || understood.held_out;
  } else {
    take_measure(field, understood);
  }
}

Line read_all(std::string_view text) {
  Line line;
  for (int i = 0; i < most_fields; ++i) {
    const auto field = next_field(text);
    if (!field) break;
    line.take(*field);
  }
  line.reading.shape = static_cast<std::uint64_t>(line.reading.step ? Meaning::step
                                                  : line.batch      ? Meaning::batch
                                                                    : Meaning::epoch);
  if (!line.reading.step && line.batch) {
    line.reading.step = line.batch;
    line.reading.total = line.batches;
    line.reading.in_epoch = line.reading.epoch.has_value();
  }
  return line;
}

}  // namespace

std::optional<Reading> read_fields(std::string_view text, bool loss_needed) {
  Line line = read_all(text);
  Reading& reading = line.reading;
  if (!reading.step && !reading.epoch) return std::nullopt;
  if (line.about_held_out && reading.measures.loss) {
    reading.held_out = std::exchange(reading.measures.loss, std::nullopt);
  }
  if (reading.held_out && !reading.measures.loss) {
    reading.kind = Reading::Kind::evaluation;
    return reading;
  }
  if (line.about_held_out) return std::nullopt;
  const bool enough =
      reading.measures.loss || (!loss_needed && reading.measures.learning_rate.has_value());
  if (!enough) return std::nullopt;
  return reading;
}

Reading read_measures(std::string_view text) {
  const Line line = read_all(text);
  Reading reading;
  reading.kind = Reading::Kind::measures;
  reading.measures = line.reading.measures;
  reading.held_out = line.reading.held_out;
  return reading;
}

}  // namespace trainward::foreign
