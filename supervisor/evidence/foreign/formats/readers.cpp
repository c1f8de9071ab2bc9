#include "supervisor/evidence/foreign/formats/readers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/evidence/foreign/formats/bar.hpp"
#include "supervisor/evidence/foreign/formats/fields.hpp"
#include "supervisor/evidence/foreign/formats/letters.hpp"
#include "supervisor/evidence/foreign/formats/read_fields.hpp"

namespace trainward::foreign::readers {
namespace {

Reading of_kind(Reading::Kind kind) {
  Reading reading;
  reading.kind = kind;
  return reading;
}

// The position of a bar; what it is of, others say.
Reading position(const Bar& bar) {
  Reading reading = of_kind(Reading::Kind::bar);
  reading.step = bar.done;
  reading.total = bar.total;
  reading.labelled = !trim(bar.label).empty();
  reading.shape = label_shape(bar.label) * 31 + static_cast<std::uint64_t>(bar.total.value_or(-1));
  return reading;
}

void add_measures(Reading& reading, std::string_view text) {
  const Reading found = read_measures(text);
  if (found.measures.loss || !reading.measures.loss) reading.measures = found.measures;
  if (found.held_out) reading.held_out = found.held_out;
}

// "Train", "Training": a bar of steps, though it says no loss.
bool is_training(std::string_view label) {
  return same_word(label, "train") || same_word(label, "training");
}

}  // namespace

// Lines as a dictionary, without the step: {'loss': 2.31, 'grad_norm': 0.8, 'learning_rate': 5e-05,
// 'epoch': 0.02}; newer versions put the numbers in quotes.
std::optional<Reading> huggingface(std::string_view line) {
  const auto begin = line.find("{'");
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin);
  if (contains(line, "'train_runtime'")) return of_kind(Reading::Kind::finished);
  if (!contains(line, "'epoch'") || contains(line, "step':")) return std::nullopt;
  Reading reading = read_measures(line);
  if (contains(line, "'loss'") && reading.measures.loss) {
    reading.held_out.reset();
    // Trainer leaves losses that are no numbers out of the sum it tells (logging_nan_inf_filter):
    // of nothing but such ones 0.0 is left, beside a gradient that is no number either.
    const auto norm = reading.measures.grad_norm;
    if (reading.measures.loss == 0.0 && norm && !std::isfinite(*norm)) reading.measures.loss = norm;
    return reading;
  }
  if (!contains(line, "'eval_loss'") || !reading.held_out) return std::nullopt;
  reading.kind = Reading::Kind::evaluation;
  return reading;
}

// Epoch 3:  12%|█▏ | 60/500 [00:12<01:30, 4.90it/s, v_num=0, train_loss=2.31]
std::optional<Reading> lightning(std::string_view line) {
  const auto bar = read_bar(line);
  if (!bar || !bar->done) return std::nullopt;
  Reading reading = position(*bar);
  read_epoch(bar->label, reading);
  if (!reading.epoch) return reading;
  reading.kind = Reading::Kind::step;
  reading.in_epoch = true;
  add_measures(reading, bar->postfix);
  return reading;
}

// "Epoch 1/5" stands alone; then "100/938 [==>...] - ETA: 5s - loss: 0.5 - accuracy: 0.8" or
// "100/938 ━━━━ 5s 6ms/step - accuracy: 0.8 - loss: 0.5".
std::optional<Reading> keras(std::string_view line) {
  if (line.starts_with("Epoch ")) {
    std::string_view rest = line;
    Reading reading = of_kind(Reading::Kind::epoch);
    const auto field = next_field(rest);
    if (!field || field->of.empty() || !trim(rest).empty()) return std::nullopt;
    reading.epoch = whole_number(field->number);
    reading.epochs = whole_number(field->of);
    if (!reading.epoch) return std::nullopt;
    return reading;
  }
  const auto space = line.find(' ');
  const auto slash = line.find('/');
  if (slash == std::string_view::npos || slash > space || !contains(line, " - "))
    return std::nullopt;
  const std::string_view rest = line.substr(std::min(space, line.size()));
  if (!contains(rest, "/step") && !contains(rest, "ETA: ") && !contains(rest, "s - "))
    return std::nullopt;
  Reading reading = of_kind(Reading::Kind::bar);
  reading.step = whole_number(line.substr(0, slash));
  reading.total = whole_number(line.substr(slash + 1, space - slash - 1));
  if (!reading.step || !reading.total) return std::nullopt;
  reading.shape = static_cast<std::uint64_t>(*reading.total);
  add_measures(reading, rest);
  if (reading.measures.loss) {
    reading.kind = Reading::Kind::step;
    reading.in_epoch = true;
  }
  return reading;
}

// "iter 10: loss 2.3456, time 123.45ms, mfu 12.34%"; "step 250: train loss 2.1, val loss 2.2" is an
// evaluation.
std::optional<Reading> nanogpt(std::string_view line) {
  if (line.starts_with("iter ") && contains(line, ", time ")) return with_step(line);
  if (!line.starts_with("step ") || !contains(line, ": train loss ") ||
      !contains(line, ", val loss ")) {
    return std::nullopt;
  }
  auto reading = read_fields(line);
  if (!reading || !reading->held_out) return std::nullopt;
  reading->kind = Reading::Kind::evaluation;
  return reading;
}

//  iteration      100/  500000 | consumed samples: 25600 | elapsed time per iteration (ms): 1234.5
//  | learning rate: 1.500E-04 | global batch size: 256 | lm loss: 6.543E+00 | grad norm: 1.234 |
std::optional<Reading> megatron(std::string_view line) {
  if (!contains(line, "elapsed time per iteration") && !contains(line, "consumed samples") &&
      !contains(line, "validation loss at iteration")) {
    return std::nullopt;
  }
  return with_step(line);
}

// step: 10  loss:  7.1234  grad_norm:  1.2  memory:  4.21GiB(4.44%)  tps: 1,234  tflops: 5.6
std::optional<Reading> torchtitan(std::string_view line) {
  if (!contains(line, "tps:") && !contains(line, "memory:")) return std::nullopt;
  return with_step(line);
}

// 1|10|Loss: 2.31: 10%|█ | 10/100 [00:10<01:30, 1.00s/it], and in its log file
// Step 10 | loss:2.31 lr:2e-05 tokens_per_second_per_gpu:1234
std::optional<Reading> torchtune(std::string_view line) {
  if (contains(line, "tokens_per_second_per_gpu:")) return with_step(line);
  const auto bar = read_bar(line);
  const auto loss = line.find("|Loss: ");
  if (!bar || loss == std::string_view::npos) return std::nullopt;
  const auto middle = bar->label.find('|');
  if (middle >= loss || !bar->label.starts_with(line.substr(0, loss))) return std::nullopt;
  Reading reading;
  reading.epoch = whole_number(bar->label.substr(0, middle));
  reading.step = whole_number(bar->label.substr(middle + 1, loss - middle - 1));
  if (!reading.epoch || !reading.step) return std::nullopt;
  add_measures(reading, bar->label.substr(loss + 1));
  add_measures(reading, bar->postfix);
  return reading;
}

// [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)];
// of its pipelines: steps: 10 loss: 2.3456 iter time (s): 1.234 samples/sec: 12.3
std::optional<Reading> deepspeed(std::string_view line) {
  const auto step = line.find("step=");
  if (step != std::string_view::npos && contains(line, "skipped=") && contains(line, "lr=[")) {
    return read_fields(line.substr(step), false);
  }
  if (contains(line, "iter time (s):")) return with_step(line);
  return std::nullopt;
}

// I0518 16:07:39.051123 139871 logging_writer.py:48] [10] accuracy=0.43, loss=2.31
std::optional<Reading> clu(std::string_view line) {
  constexpr std::string_view mark = ".py:";
  const auto begin = line.find("] [", std::min(line.find(mark), line.size()));
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(begin + 3);
  const auto end = rest.find("] ");
  if (end == std::string_view::npos) return std::nullopt;
  Reading reading = read_measures(rest.substr(end + 2));
  reading.step = whole_number(rest.substr(0, end));
  if (!reading.step) return std::nullopt;
  if (reading.held_out && !reading.measures.loss) {
    reading.kind = Reading::Kind::evaluation;
    return reading;
  }
  if (!reading.measures.loss) return std::nullopt;
  reading.kind = Reading::Kind::step;
  return reading;
}

std::optional<Reading> with_step(std::string_view line) {
  auto reading = read_fields(line);
  if (!reading || !reading->step) return std::nullopt;
  return reading;
}

// "valid | epoch 1 | loss 2.31 | num_updates 1000" is about held-out data, though it says so apart.
std::optional<Reading> plain(std::string_view line) {
  auto reading = with_step(line);
  const bool apart =
      reading && reading->kind == Reading::Kind::step && !reading->held_out &&
      has_word(line, {"valid", "validation", "validating", "eval", "evaluation", "evaluating"});
  if (!apart) return reading;
  reading->kind = Reading::Kind::evaluation;
  reading->held_out = std::exchange(reading->measures.loss, std::nullopt);
  return reading;
}

std::optional<Reading> tqdm(std::string_view line) {
  const auto bar = read_bar(line);
  if (!bar) return std::nullopt;
  Reading reading = position(*bar);
  if (!bar->done || is_held_out(bar->label)) return reading;
  read_epoch(bar->label, reading);
  add_measures(reading, bar->label);
  add_measures(reading, bar->postfix);
  const bool trains = reading.measures.loss || reading.epoch || is_training(bar->label);
  if (!trains) return reading;
  reading.kind = Reading::Kind::step;
  reading.in_epoch = reading.epoch.has_value();
  return reading;
}

// Of a program that tells of its epochs alone, a step is an epoch.
std::optional<Reading> epochs(std::string_view line) {
  auto reading = read_fields(line);
  if (!reading || reading->step || !reading->epoch) return std::nullopt;
  reading->step = reading->epoch;
  reading->total = reading->epochs;
  reading->epoch.reset();
  return reading;
}

}  // namespace trainward::foreign::readers
