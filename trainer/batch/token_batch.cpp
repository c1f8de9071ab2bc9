#include "trainer/batch/token_batch.hpp"

namespace trainward::trainer {

TokenBatch TokenBatch::part(std::size_t first, std::size_t count) const {
  const auto of = [&](auto all) { return all.empty() ? all : all.subspan(first, count); };
  return {of(ids), of(weights), of(segments)};
}

}  // namespace trainward::trainer
