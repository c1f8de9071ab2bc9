// The trainer at the work of a case of the reference: the same folder, rows, adapters and rates.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/tiny.hpp"
#include "reference_answers.hpp"
#include "trainer/model/huggingface/base_model.hpp"

namespace trainward::trainer::test {

// Rows as the trainer takes them: a weight stands at the token that is predicted, and all of a
// batch are divided by their sum.
struct Rows {
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
  std::vector<std::int32_t> segments;
  [[nodiscard]] TokenBatch batch() const { return {ids, weights, segments}; }
};

class Ours {
 public:
  explicit Ours(const Answers& answers);

  TrainingSpec spec;
  std::unique_ptr<BaseModel> base;

  // The case's one batch, or batch `i` of its steps.
  [[nodiscard]] Rows rows() const;
  [[nodiscard]] Rows rows_of_step(std::int64_t i) const;

  // With the adapters' values of the reference.
  [[nodiscard]] std::unique_ptr<Trainable> make(const TrainingSpec& with) const;
  [[nodiscard]] std::unique_ptr<Trainable> make() const { return make(spec); }

  // [batch, block, vocabulary] of the model in this state, run on the executor graph by graph.
  [[nodiscard]] std::vector<double> logits(const State& trained) const;
  // Of the first batch, by name, of what is trained.
  [[nodiscard]] std::map<std::string, std::vector<double>> gradients() const;
  // The loss before each update.
  [[nodiscard]] std::vector<double> losses(Trainable& model) const;

 private:
  [[nodiscard]] Rows cut(const std::string& prefix, std::size_t first) const;
  const Answers& answers_;
};

// Of the tensor without rows that are padding.
std::vector<double> live(const std::vector<float>& values, std::size_t count);

// max |a - b| / max |b|, and the norm of the difference by that of b.
double largest_error(const std::vector<double>& a, const std::vector<double>& b);
double norm_error(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace trainward::trainer::test
