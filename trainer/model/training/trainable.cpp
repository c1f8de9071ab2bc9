#include "trainer/model/training/trainable.hpp"

#include <cmath>

namespace trainward::trainer {

Status check_finite(const StepResult& result, std::int64_t step) {
  if (std::isfinite(result.loss) && std::isfinite(result.grad_norm)) return {};
  return fail(ErrorKind::permanent,
              fmt::format("step {}: the loss is {} and the gradient norm {}", step, result.loss,
                          result.grad_norm),
              {}, "go back to an older checkpoint, skip this data or lower the learning rate");
}

}  // namespace trainward::trainer
