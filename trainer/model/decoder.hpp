// A trained AGILLM-3 that predicts the next token, on the CPU.
//
// Takes the weights from a checkpoint; the model's sizes are read off the shapes. Keys and values
// of the tokens it has seen are kept, so each new one costs one row. All memory is taken when it is
// made: the weights, `context` keys and values a layer, and a workspace. One thread uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "checkpoint/reader.hpp"
#include "common/error.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// The sizes of the model that these tensors are of. Error usage, naming what is missing or odd,
// when they are of no AGILLM-3, or `vocabulary` has no place in it.
Result<ModelSpec> model_of(const std::vector<checkpoint::TensorInfo>& tensors,
                           std::int64_t vocabulary);

class Decoder {
 public:
  // `context`: most tokens it will be given in all.
  static Result<std::unique_ptr<Decoder>> make(const checkpoint::Reader& checkpoint,
                                               const ModelSpec& model, std::int64_t context,
                                               int threads);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder(Decoder&&) = delete;
  Decoder& operator=(Decoder&&) = delete;
  ~Decoder();

  // Logits of the token after these, one for each id of the vocabulary; valid until the next call.
  // Errors: usage for no tokens, ids outside the vocabulary, and more tokens than the context.
  Result<std::span<const float>> advance(std::span<const std::int32_t> tokens);

 private:
  struct State;
  explicit Decoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace trainward::trainer
