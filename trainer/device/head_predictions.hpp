// What a head on the devices is given beside x (head_inputs() in segments.hpp), of one batch after
// another.
//
// Borrows the device. Its thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/device/device.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/step_executor.hpp"

namespace trainward::trainer {

class HeadPredictions {
 public:
  HeadPredictions(Device& device, const TrainingSpec& part);

  void set(const BatchTokens& tokens);  // one batch for each row of devices, borrowed
  [[nodiscard]] std::size_t pieces() const { return pieces_; }
  // Of the batch that was set: its ids; or of a piece what it predicts, and the weights of that.
  Result<std::vector<Shards>> upload(std::size_t piece);

 private:
  Device& device_;
  bool weighted_;
  std::int64_t block_size_;
  std::size_t pieces_;
  std::size_t each_;  // positions of a row's batch
  std::size_t columns_;
  graph::Shape shape_;  // of a piece
  std::vector<const void*> ids_;
  // Of all rows, one after another.
  std::vector<std::int32_t> targets_;
  std::vector<float> weights_;
};

}  // namespace trainward::trainer
