// A model that predicts the next token, on the CPU.
//
// Keys and values of the tokens it has seen are kept, so each new one costs one row. Weights are
// read where they lie, bf16 ones as bf16: one row reads every weight once and does little else, so
// a wide copy would cost its time twice. All memory of its own is taken when it is made: `context`
// keys and values a layer, tables, a workspace. One thread uses it; the weights must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/base/error.hpp"
#include "trainer/generate/model_weights.hpp"

namespace trainward::trainer {

// The longest text such a model can continue; 0: any.
std::int64_t longest_text(const ModelSpec& model);

class Decoder {
 public:
  // `context`: most tokens it will be given in all; error usage, where the model has fewer
  // positions.
  static Result<std::unique_ptr<Decoder>> make(const ModelWeights& weights, std::int64_t context,
                                               int threads);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder(Decoder&&) = delete;
  Decoder& operator=(Decoder&&) = delete;
  ~Decoder();

  // Logits of the token after these, one for each id of the vocabulary; valid until the next call.
  // Errors: usage for no tokens, ids outside the vocabulary, and more tokens than the context.
  Result<std::span<const float>> advance(std::span<const std::int32_t> tokens);

  // How many tokens it has seen.
  [[nodiscard]] std::int64_t seen() const;
  // Goes back to where it had seen as many; no more than it has.
  void go_back_to(std::int64_t tokens);
  [[nodiscard]] std::int64_t context() const;
  [[nodiscard]] std::int64_t vocabulary() const;
  [[nodiscard]] std::size_t bytes() const;  // of its own

 private:
  struct State;
  explicit Decoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainward::trainer
