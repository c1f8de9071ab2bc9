// How devices that share each step will sum their gradients, and what share of a step that takes,
// by the published rates of Tenstorrent's machines (docs/scaling.md).
//
// Which machine is told from the number of devices: up to 2 an N300, up to 8 a T3K, more a Galaxy.
// A prediction for the mesh as it is on such hardware, whatever plugin is configured. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/mesh/all_reduce.hpp"
#include "trainer/mesh/row_sums.hpp"
#include "trainer/mesh/step_share.hpp"

namespace trainward::trainer {

// Where the devices of a row share the weights.
struct DividedPlan {
  mesh::RowWork work;
  mesh::RowSums sums;
  std::int64_t weights_bytes = 0;  // of the model that is trained
};

struct ExchangePlan {
  mesh::Mesh mesh;
  std::string_view machine;  // whose links are assumed
  std::optional<DividedPlan> divided;
  std::int64_t gradient_bytes = 0;  // of each device
  mesh::AllReduceChoice choice;
  double compute_seconds = 0;  // of a step, on each device
  double reached_flops = 0;    // that this assumes of each, a second
  mesh::StepShare alone;       // after the backward pass
  mesh::StepShare beside;      // beside that of the last batch

  // Of the shares of weights; without any there is nothing to help.
  [[nodiscard]] bool helps() const { return !divided || divided->sums.helps(); }
};

// Errors: usage, for sizes that cannot be.
Result<ExchangePlan> exchange_of(const WorkerConfig& config);

std::string to_text(const ExchangePlan& plan);
json::object to_json(const ExchangePlan& plan);

}  // namespace trainward::trainer
