// A model of four numbers that notes how it was used.
//
// Its numbers after a step depend on all of its numbers before it and on every token, so a resumed
// run equals a straight one only if state and data were both restored exactly.
#pragma once

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

// Shared with the test, which outlives the model.
struct FakeRecord {
  int made = 0;
  int steps = 0;
  int evaluations = 0;                 // batches
  std::vector<double> losses;          // of evaluations after so many steps; then they are made up
  std::vector<std::int64_t> restored;  // the step counts restore() was given
  std::int64_t nan_at = -1;            // the optimizer step that yields it
  std::int64_t fail_at = -1;
  std::optional<DeviceMemory> memory;
  std::optional<double> peak_flops;
  std::int64_t communication_us = 0;  // of each step
  // Of each copy after so many steps; else two that are alike.
  std::map<std::int64_t, std::vector<std::uint64_t>> checksums;
  std::vector<PartUse> use;  // whenever it is asked
  int use_asked = 0;         // times
};

class FakeTrainable final : public Trainable {
 public:
  explicit FakeTrainable(FakeRecord& record) : record_(record) { ++record_.made; }

  Result<StepResult> step(const TokenBatch& batch) override {
    const auto tokens = batch.ids;
    ++record_.steps;
    ++steps_done_;
    if (steps_done_ == record_.fail_at) return fail(ErrorKind::permanent, "the model broke");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      float& weight = weights_[i % weights_.size()];
      weight = 0.9F * weight + 0.001F * static_cast<float>(tokens[i]) + 0.01F * moments_[0];
    }
    for (std::size_t i = 0; i < 4; ++i) moments_[i] = 0.5F * moments_[i] + weights_[i];
    const double loss = steps_done_ == record_.nan_at ? std::nan("") : weights_[0];
    return StepResult{loss, 1.0, record_.communication_us};
  }
  Result<double> evaluate(const TokenBatch& tokens) override {
    ++record_.evaluations;
    if (const auto at = static_cast<std::size_t>(steps_done_); at < record_.losses.size()) {
      return record_.losses[at];
    }
    return weights_[0] + static_cast<double>(tokens.ids[0]);
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> model_state() const override {
    return {view("w", weights_)};
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> optimizer_state() const override {
    return {view("w.exp_avg", moments_)};
  }
  Status restore(const checkpoint::FillTensors& fill, std::int64_t steps_done) override {
    auto filled = fill({{info("w"), std::as_writable_bytes(std::span(weights_))}},
                       {{info("w.exp_avg"), std::as_writable_bytes(std::span(moments_))}});
    if (!filled) return filled;
    steps_done_ = steps_done;
    record_.restored.push_back(steps_done);
    return {};
  }
  Result<std::vector<PartUse>> take_use() override {
    ++record_.use_asked;
    return record_.use;
  }
  Result<std::vector<std::uint64_t>> checksums() override {
    const auto at = record_.checksums.find(steps_done_);
    return at == record_.checksums.end() ? std::vector<std::uint64_t>{1, 1} : at->second;
  }
  [[nodiscard]] std::int64_t parameter_count() const override { return 4; }
  [[nodiscard]] std::int64_t total_parameters() const override { return 4; }
  [[nodiscard]] std::size_t arena_bytes() const override { return 32; }
  [[nodiscard]] std::optional<DeviceMemory> device_memory() const override {
    return record_.memory;
  }
  [[nodiscard]] std::optional<double> peak_flops() const override { return record_.peak_flops; }

 private:
  static checkpoint::TensorView view(std::string name, const std::array<float, 4>& values) {
    return {info(std::move(name)), std::as_bytes(std::span(values))};
  }
  static checkpoint::TensorInfo info(std::string name) {
    return {std::move(name), checkpoint::DType::f32, {4}};
  }

  FakeRecord& record_;
  std::int64_t steps_done_ = 0;
  std::array<float, 4> weights_{};
  std::array<float, 4> moments_{};
};

}  // namespace trainward::trainer
