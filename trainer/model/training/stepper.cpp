#include "trainer/model/training/stepper.hpp"

#include "trainer/model/training/initialise.hpp"

namespace trainward::trainer {
namespace {

class Stepper final : public Trainable {
 public:
  Stepper(const TrainingSpec& spec, std::unique_ptr<ModelState> state,
          std::unique_ptr<StepExecutor> executor)
      : spec_(spec),
        layers_(static_cast<std::size_t>(spec.model.layers)),
        state_(std::move(state)),
        executor_(std::move(executor)),
        tokens_(executor_->parts()) {}

  Status initialise(const BaseWeights* base) {
    if (!spec_.initialise) return {};
    // With a base, adapters are what it has not.
    const bool from_base = base != nullptr && !spec_.model.lora.used();
    for (const ParameterInfo& info : state_->table.infos) {
      if (!info.trained()) continue;
      const auto values = state_->flat.parameters().subspan(info.offset, info.size());
      if (!from_base) {
        trainer::initialise(info, spec_.seed, values);
      } else if (auto ok = fill_from(*base, info, values); !ok) {
        return ok;
      }
    }
    return executor_->upload();
  }

  Result<StepResult> step(const TokenBatch& tokens) override {
    const std::int64_t batches = spec_.accumulation * parts();
    if (auto ok = check_tokens(tokens, spec_, spec_.batch_size * batches); !ok) {
      return propagate(ok);
    }
    executor_->begin(steps_done_);
    for (std::int64_t i = 0; i < spec_.accumulation; ++i) {
      // Each part has its batches one after another, as ranks have.
      cut(tokens, i, spec_.accumulation);
      if (auto ok = train_on({i, i == 0, i + 1 == spec_.accumulation}); !ok) return propagate(ok);
    }
    if (settle_) settle_();
    auto result = executor_->update(steps_done_ + 1);
    if (result) ++steps_done_;
    return result;
  }

  bool before_update(std::function<void()> settle) override {
    settle_ = std::move(settle);
    return true;
  }

  Result<double> evaluate(const TokenBatch& tokens) override {
    if (!executor_->evaluates()) {
      return fail(ErrorKind::usage, "the model was made without evaluation");
    }
    // A batch that was not split is the same work for each part.
    const std::int64_t one = spec_.batch_size * spec_.block_size;
    const bool split = static_cast<std::int64_t>(tokens.ids.size()) != one;
    if (auto ok = check_tokens(tokens, spec_, spec_.batch_size * (split ? parts() : 1)); !ok) {
      return propagate(ok);
    }
    cut(tokens, 0, split ? 1 : 0);
    if (auto ok = forward({}, Purpose::evaluation); !ok) return propagate(ok);
    auto loss = executor_->evaluate(tokens_);
    // Each part had all of it, and their losses have been added up.
    if (loss && spec_.weighted && !split) *loss /= static_cast<double>(parts());
    return loss;
  }

  Status gather_state() override { return executor_->download(); }
  [[nodiscard]] std::vector<checkpoint::TensorView> model_state() const override {
    return model_views(state_->table, state_->flat);
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> optimizer_state() const override {
    return optimizer_views(state_->table, state_->flat);
  }
  [[nodiscard]] std::vector<const void*> weights() const override {
    std::vector<const void*> places;
    for (std::size_t i = 0; i < state_->table.infos.size(); ++i) {
      const ParameterInfo& info = state_->table.infos[i];
      places.push_back(info.trained() ? state_->flat.parameters().data() + info.offset
                                      : state_->fixed.of(i));
    }
    return places;
  }
  Status restore(const checkpoint::FillTensors& fill, std::int64_t steps_done) override {
    if (steps_done < 0) return fail(ErrorKind::usage, "the step count is negative");
    auto ok = fill(model_targets(state_->table, state_->flat),
                   optimizer_targets(state_->table, state_->flat));
    if (ok) ok = executor_->upload();
    if (ok) steps_done_ = steps_done;
    return ok;
  }

  [[nodiscard]] std::int64_t parameter_count() const override { return state_->table.count; }
  [[nodiscard]] std::int64_t total_parameters() const override { return state_->table.total; }
  [[nodiscard]] std::size_t arena_bytes() const override {
    return state_->flat.bytes() + state_->fixed.bytes() + executor_->arena_bytes();
  }
  Result<std::vector<std::uint64_t>> checksums() override { return executor_->checksums(); }
  Result<std::vector<PartUse>> take_use() override { return executor_->take_use(); }
  [[nodiscard]] std::optional<DeviceMemory> device_memory() const override {
    return executor_->device_memory();
  }
  [[nodiscard]] std::optional<double> peak_flops() const override {
    return executor_->peak_flops();
  }

 private:
  [[nodiscard]] std::int64_t parts() const { return static_cast<std::int64_t>(tokens_.size()); }

  // A batch for each part, `apart` batches from each other. Into the same memory each time.
  void cut(const TokenBatch& tokens, std::int64_t first, std::int64_t apart) {
    const auto size = static_cast<std::size_t>(spec_.batch_size * spec_.block_size);
    for (std::size_t part = 0; part < tokens_.size(); ++part) {
      const auto batch = part * static_cast<std::size_t>(apart) + static_cast<std::size_t>(first);
      tokens_[part] = tokens.part(batch * size, size);
    }
  }

  Status forward(const BatchOfStep& batch, Purpose purpose) {
    auto ok = executor_->embed(tokens_);
    for (std::size_t layer = 0; ok && layer < layers_; ++layer) {
      ok = executor_->forward(layer, batch, purpose);
    }
    return ok;
  }

  Status train_on(const BatchOfStep& batch) {
    auto ok = forward(batch, Purpose::training);
    if (ok) ok = executor_->head(tokens_, batch);
    for (std::size_t layer = layers_; ok && layer-- > 0;) ok = executor_->backward(layer, batch);
    if (ok) ok = executor_->embed_backward(tokens_, batch);
    return ok;
  }

  TrainingSpec spec_;
  std::size_t layers_;
  std::unique_ptr<ModelState> state_;
  std::unique_ptr<StepExecutor> executor_;  // before the state it borrows
  BatchTokens tokens_;
  std::int64_t steps_done_ = 0;
  std::function<void()> settle_;  // may be empty
};

}  // namespace

Result<std::unique_ptr<Trainable>> make_stepper(const TrainingSpec& spec,
                                                std::unique_ptr<ModelState> state,
                                                std::unique_ptr<StepExecutor> executor,
                                                const BaseWeights* base) {
  auto stepper = std::make_unique<Stepper>(spec, std::move(state), std::move(executor));
  if (auto ok = stepper->initialise(base); !ok) return propagate(ok);
  return stepper;
}

}  // namespace trainward::trainer
