#include "trainer/model/training/dropout_keys.hpp"

#include "trainer/model/architecture.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {

DropoutKeys::DropoutKeys(const TrainingSpec& spec)
    : stream_(spec.seed, "dropout"),
      keys_(drops(spec) ? static_cast<std::size_t>(spec.model.layers) : 0),
      batches_(spec.accumulation),
      elements_(spec.batch_size * spec.block_size *
                (architecture_of(spec.model).drops_by_token() ? 1 : spec.model.width)) {}

void DropoutKeys::draw(std::int64_t steps_done) {
  for (std::size_t layer = 0; layer < keys_.size(); ++layer) {
    const std::uint64_t bits =
        stream_.bits(static_cast<std::uint64_t>(steps_done) * keys_.size() + layer);
    keys_[layer] = {static_cast<std::int32_t>(bits), static_cast<std::int32_t>(bits >> 32), 0};
  }
}

void DropoutKeys::place(std::int64_t rank, std::int64_t batch) {
  for (DropoutKey& key : keys_) {
    key[2] = static_cast<std::int32_t>((rank * batches_ + batch) * elements_);
  }
}

}  // namespace trainward::trainer
