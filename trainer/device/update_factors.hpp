// The factors of one step's update on the devices, as their programs take them.
#pragma once

#include <vector>

#include "trainer/device/device.hpp"
#include "trainer/device/optimizer_graphs.hpp"

namespace trainward::trainer {

inline Result<std::vector<Shards>> upload_factors(Device& device,
                                                  const optim::AdamWFactors& factors) {
  std::vector<Shards> uploaded;
  for (const float factor : values_of(factors)) {
    auto value = device.upload({graph::Element::f32, {1}}, &factor);
    if (!value) return propagate(value);
    uploaded.push_back(std::move(*value));
  }
  return uploaded;
}

}  // namespace trainward::trainer
