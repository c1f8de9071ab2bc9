// How well two computations of the same tensors agree. Pure.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/format/tensor.hpp"

namespace trainward::trainer {

struct Agreement {
  std::string name;
  double correlation = 1;  // Pearson's; 1 where both are zero everywhere, 0 where only one is
  double difference = 0;   // norm of the difference over the norm of the expected
};

// Of f32 tensors with the same names in both lists; the worst correlation first. What is not a
// number counts as no correlation at all.
std::vector<Agreement> compare_tensors(const std::vector<checkpoint::TensorView>& expected,
                                       const std::vector<checkpoint::TensorView>& got);

}  // namespace trainward::trainer
