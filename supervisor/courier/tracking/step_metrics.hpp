// A step as trackers show it: the one list of tags and what stands behind them. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "supervisor/record/store/rows/rows.hpp"

namespace trainward::tracking {

// Calls take(tag, value) for each; nothing where nobody told it. A loss or norm that is no number
// is infinite, as the database keeps it.
template <typename Take>
void each_metric(const store::StepRow& row, const Take& take) {
  const auto count = [&](const char* tag, const std::optional<std::int64_t>& value) {
    take(tag, value ? std::optional(static_cast<double>(*value)) : std::nullopt);
  };
  take("train/loss", row.loss);
  take("train/grad_norm", row.grad_norm);
  take("train/learning_rate", row.learning_rate);
  take("train/tokens_per_second", row.tokens_per_second);
  take("train/mfu", row.mfu);
  take("train/communication_share", row.communication);
  count("train/device_memory_bytes", row.device_memory);
  count("train/tokens", row.tokens);
}

}  // namespace trainward::tracking
