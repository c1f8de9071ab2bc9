// A trained model that predicts the next token, on the CPU.
//
// Takes the weights from a checkpoint; architecture and sizes are read off names and shapes. Keys
// and values of the tokens it has seen are kept, so each new one costs one row. All memory is taken
// when it is made: the weights, `context` keys and values a layer, and a workspace. One thread uses
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "checkpoint/reader.hpp"
#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// The model that this checkpoint holds. Error usage, naming what is missing or odd, when it is of
// no architecture known here, or `vocabulary` has no place in it.
Result<ModelSpec> model_of(const checkpoint::Reader& checkpoint, std::int64_t vocabulary);
Result<ModelSpec> model_of(const std::vector<checkpoint::TensorInfo>& tensors,
                           const json::object& facts, std::int64_t vocabulary);

class Decoder {
 public:
  // `context`: most tokens it will be given in all; error usage, where the model has fewer
  // positions.
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
