// A small Llama and rows of made-up examples for it, with weights and segments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "model/tiny.hpp"
#include "trainer/model/llama/llama.hpp"
#include "trainer/model/llama/llama_spec.hpp"

namespace trainward::trainer::test {

// Grouped heads, two layers, a vocabulary that is padded; rows with weights and segments.
inline TrainingSpec llama_spec() {
  TrainingSpec spec = tiny_spec(llama());
  spec.model.heads = 4;
  llama_part(spec.model).kv_heads = 2;
  spec.model.own_head_width = 6;  // not the width by the heads
  spec.model.rank = 6;
  spec.model.vocabulary = 37;
  spec.block_size = 24;
  spec.threads = 1;
  spec.weighted = spec.segmented = true;
  return spec;
}

inline TrainingSpec with_lora(TrainingSpec spec, double dropout = 0) {
  spec.model.lora = {.rank = 3, .alpha = 6, .dropout = dropout, .targets = 127};
  return spec;
}

struct Rows {
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
  std::vector<std::int32_t> segments;

  [[nodiscard]] TokenBatch batch() const { return {ids, weights, segments}; }
};

// Divides the weights by their sum, as a training step does.
inline void normalise(Rows& rows) {
  const double sum = std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0);
  for (float& weight : rows.weights) weight = static_cast<float>(weight / sum);
}

// Of a whole step: rows of examples of drawn lengths, of which a drawn part is a prompt. Rows have
// unequal numbers of targets, and the last of several has none.
inline Rows packed_rows(const TrainingSpec& spec, std::uint64_t step) {
  graph::test::Draw draw(step * 104729 + 5);
  Rows rows;
  const std::int64_t count = spec.sequences_per_step();
  for (std::int64_t row = 0; row < count; ++row) {
    std::int64_t left = spec.block_size;
    for (std::int32_t segment = 1; left > 0; ++segment) {
      const std::int64_t length = std::min(left, draw.size(4, 12));
      const std::int64_t prompt = draw.size(1, length);
      for (std::int64_t i = 0; i < length; ++i) {
        rows.ids.push_back(static_cast<std::int32_t>(draw.size(0, spec.model.vocabulary - 1)));
        const bool silent = count > 1 && row + 1 == count;
        rows.weights.push_back(i >= prompt && !silent ? 1.0F : 0.0F);
        rows.segments.push_back(segment);
      }
      left -= length;
    }
  }
  normalise(rows);
  return rows;
}

// Every parameter moved, so that adapters and biases do something.
inline State stirred(const TrainingSpec& spec, const BaseWeights* base = nullptr) {
  auto model = make_cpu_model(spec, base);
  EXPECT_TRUE(model) << model.error().message();
  graph::test::Draw draw(99);
  State state = copy_of((*model)->model_state());
  for (auto& [name, values] : state) {
    for (float& value : values) {
      if (value != 0 || name.find("lora_B") != std::string::npos) {
        value += static_cast<float>(draw.number(-0.2, 0.2));
      }
    }
  }
  return state;
}

inline std::unique_ptr<Trainable> make_from(const TrainingSpec& spec, const State& state,
                                            const BaseWeights* base = nullptr) {
  auto model = make_cpu_model(spec, base);
  EXPECT_TRUE(model) << model.error().message();
  std::vector<checkpoint::TensorView> views = (*model)->model_state();
  for (checkpoint::TensorView& view : views) {
    view.bytes = std::as_bytes(std::span(state.at(view.info.name)));
  }
  EXPECT_TRUE((*model)->restore(fill_from(views, (*model)->optimizer_state()), 0));
  return *std::move(model);
}

inline StepResult step(Trainable& model, const TokenBatch& batch) {
  const auto done = model.step(batch);
  EXPECT_TRUE(done) << done.error().message();
  return done ? *done : StepResult{NAN, NAN};
}

inline double evaluated(Trainable& model, const TokenBatch& batch) {
  const auto loss = model.evaluate(batch);
  EXPECT_TRUE(loss) << loss.error().message();
  return loss ? *loss : NAN;
}

// The norm of the difference by that of b, over all tensors together.
inline double apart(const State& a, const State& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0;
  double whole = 0;
  for (const auto& [name, values] : b) {
    const std::vector<float>& others = a.at(name);
    EXPECT_EQ(others.size(), values.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(static_cast<double>(others[i]) - values[i], 2);
      whole += std::pow(static_cast<double>(values[i]), 2);
    }
  }
  return std::sqrt(difference / whole);
}

// The first moments after one step, which are the gradients times 1 - beta1.
inline State gradients(TrainingSpec spec, const State& at, const TokenBatch& batch) {
  spec.gradient_clip = 0;
  spec.beta1 = 0.5;
  const auto model = make_from(spec, at);
  step(*model, batch);
  State found = copy_of(model->optimizer_state());
  std::erase_if(found, [](const auto& entry) { return entry.first.ends_with("_sq"); });
  return found;
}

}  // namespace trainward::trainer::test
