// Models on the simulated N300, and what comes of a few steps, for the tests of device models.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "model/tiny.hpp"
#include "trainer/device/device_model.hpp"

namespace trainward::trainer::test {

inline DeviceConfig simulated(Placement placement, std::int64_t devices = 1) {
  DeviceConfig config;
  config.device.plugin = SIM_N300_PLUGIN;
  config.device.options = {{"threads", std::int64_t{1}}};
  config.devices = devices;
  config.placement = placement;
  return config;
}

inline std::unique_ptr<Trainable> make_on_device(const TrainingSpec& spec,
                                                 const DeviceConfig& config,
                                                 const BaseWeights* base = nullptr) {
  auto model = make_device_model(spec, config, base);
  EXPECT_TRUE(model) << model.error().message();
  return model ? std::move(*model) : nullptr;
}

inline State state_of(Trainable& model) {
  EXPECT_TRUE(model.gather_state());
  State all = copy_of(model.model_state());
  for (auto& [name, values] : copy_of(model.optimizer_state())) all[name] = values;
  return all;
}

inline checkpoint::FillTensors fill_from(const State& state) {
  return [&state](const std::vector<checkpoint::TensorTarget>& model,
                  const std::vector<checkpoint::TensorTarget>& optimizer) -> Status {
    for (const auto* targets : {&model, &optimizer}) {
      for (const checkpoint::TensorTarget& target : *targets) {
        const std::vector<float>& values = state.at(target.info.name);
        std::memcpy(target.bytes.data(), values.data(), target.bytes.size());
      }
    }
    return {};
  };
}

struct Course {
  std::vector<double> losses, norms;
  double evaluation = 0;
};

// `batch_of`: the tokens of a step; `held_out`: of one batch.
inline Course train_course(Trainable& model, std::uint64_t steps,
                           const std::function<TokenBatch(std::uint64_t)>& batch_of,
                           const TokenBatch& held_out) {
  Course course;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    const auto done = model.step(batch_of(step));
    EXPECT_TRUE(done) << done.error().message();
    if (!done) return course;
    course.losses.push_back(done->loss);
    course.norms.push_back(done->grad_norm);
  }
  const auto loss = model.evaluate(held_out);
  EXPECT_TRUE(loss) << loss.error().message();
  course.evaluation = loss ? *loss : NAN;
  return course;
}

inline void expect_same_course(const Course& a, const Course& b, double slack) {
  ASSERT_EQ(a.losses.size(), b.losses.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) {
    EXPECT_NEAR(a.losses[i], b.losses[i], slack) << "step " << i + 1;
    EXPECT_NEAR(a.norms[i], b.norms[i], slack * (1 + a.norms[i])) << "step " << i + 1;
  }
  EXPECT_NEAR(a.evaluation, b.evaluation, slack);
}

// One thread: the host's part and the device's would get in each other's way.
inline TrainingSpec on_one_thread(TrainingSpec spec) {
  spec.threads = 1;
  return spec;
}

}  // namespace trainward::trainer::test
