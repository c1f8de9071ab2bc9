#include "trainer/device/device_model.hpp"

#include "trainer/device/backward_programs.hpp"
#include "trainer/device/device_outer_layers.hpp"
#include "trainer/device/host_outer_layers.hpp"
#include "trainer/device/parameter_group.hpp"
#include "trainer/device/update_factors.hpp"
#include "trainer/model/dropout_keys.hpp"
#include "trainer/model/initialise.hpp"
#include "trainer/model/parallel_model.hpp"

namespace trainward::trainer {
namespace {

using Arguments = std::vector<const Shards*>;

struct BlockPrograms {
  DeviceProgram forward;
  std::optional<DeviceProgram> evaluate;
  BackwardDevicePrograms backward;
  GroupPrograms group;
};

Result<BlockPrograms> make_programs(Device& device, const DeviceModules& modules) {
  auto forward = device.make(modules.block_forward);
  if (!forward) return propagate(forward);
  auto evaluate = device.make(modules.block_evaluate);
  if (!evaluate) return propagate(evaluate);
  auto backward = make_programs(device, modules.block_backward);
  if (!backward) return propagate(backward);
  auto group = make_programs(device, modules.block_group);
  if (!group) return propagate(group);
  return BlockPrograms{std::move(*forward), std::move(*evaluate), std::move(*backward),
                       std::move(*group)};
}

// What lives from a block's forward to its backward.
struct Activations {
  Shards x;
  std::vector<Shards> key;  // none, or one
  std::vector<Shards> kept;
};

class DeviceModel final : public Trainable {
 public:
  DeviceModel(const TrainingSpec& part, const DeviceUse& use, ParameterTable table, FlatMemory flat,
              std::unique_ptr<Device> device, BlockPrograms programs)
      : use_(use),
        part_(part),
        table_(std::move(table)),
        flat_(std::move(flat)),
        device_(std::move(device)),
        programs_(std::move(programs)),
        dropout_(part) {
    for (std::int64_t layer = 0; layer < part.model.layers; ++layer) {
      blocks_.emplace_back(table_, table_.block(static_cast<std::size_t>(layer)), programs_.group);
    }
    activations_.resize(blocks_.size());
  }

  // After the constructor, since the table and the arrays must not move any more.
  Status begin(const DeviceModules& modules) {
    auto outer = use_.placement == Placement::host
                     ? make_host_outer_layers(*device_, part_, table_, flat_)
                     : make_device_outer_layers(*device_, *modules.outer, part_, table_, flat_);
    if (!outer) return propagate(outer);
    outer_ = std::move(*outer);
    std::vector<optim::Group> groups;
    if (use_.placement == Placement::host) groups = host_groups(part_, table_);
    optimizer_.emplace(optim::AdamWOptions{part_.weight_decay, part_.beta1, part_.beta2,
                                           part_.epsilon, part_.gradient_clip, part_.schedule},
                       std::move(groups), table_.elements, part_.threads);
    if (!part_.initialise) return {};  // restore() comes
    for (const ParameterInfo& info : table_.infos) {
      initialise(info, part_.seed, flat_.parameters().subspan(info.offset, info.size()));
    }
    return upload();
  }

  Result<StepResult> step(std::span<const std::int32_t> tokens) override {
    if (auto ok = check_tokens(tokens, part_, part_.sequences_per_step()); !ok) {
      return propagate(ok);
    }
    optimizer_->forget_norm();
    dropout_.draw(steps_done_);
    for (std::int64_t i = 0; i < part_.accumulation; ++i) {
      if (auto ok = train_on(batch_of(tokens, i), i); !ok) return propagate(ok);
    }
    auto squares = sum_squares();
    if (!squares) return propagate(squares);
    auto clip = outer_->clip(*squares);
    if (!clip) return propagate(clip);
    in_flat_ = false;
    if (!*clip) return update_by_norm(*squares);
    // The devices go on while the host hears what came of the step.
    if (auto ok = update(&**clip); !ok) return propagate(ok);
    auto result = read_result(*squares);
    if (result) ++steps_done_;
    return result;
  }

  Result<double> evaluate(std::span<const std::int32_t> tokens) override {
    if (!programs_.evaluate) {
      return fail(ErrorKind::usage, "the model was made without evaluation");
    }
    // A batch that was not split is the same work for each device.
    const std::int64_t one = part_.batch_size * part_.block_size;
    const bool split = static_cast<std::int64_t>(tokens.size()) != one;
    const std::int64_t sequences = part_.batch_size * (split ? part_.ranks : 1);
    if (auto ok = check_tokens(tokens, part_, sequences); !ok) return propagate(ok);
    const BatchTokens batch = cut(tokens, 0, split ? 1 : 0);
    auto x = outer_->embed(batch);
    if (!x) return propagate(x);
    for (const ParameterGroup& block : blocks_) {
      Arguments arguments{&*x};
      add_parameters(block, arguments);
      auto results = programs_.evaluate->run(arguments);
      if (!results) return propagate(results);
      *x = std::move(results->front());
    }
    return outer_->evaluate(batch, *x);
  }

  Status gather_state() override {
    if (in_flat_) return {};
    for (const ParameterGroup& block : blocks_) {
      if (auto ok = block.download(flat_); !ok) return ok;
    }
    auto ok = outer_->download();
    in_flat_ = ok.has_value();
    return ok;
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> model_state() const override {
    return model_views(table_, flat_);
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> optimizer_state() const override {
    return optimizer_views(table_, flat_);
  }
  Status restore(const checkpoint::FillTensors& fill, std::int64_t steps_done) override {
    if (steps_done < 0) return fail(ErrorKind::usage, "the step count is negative");
    auto ok = fill(model_targets(table_, flat_), optimizer_targets(table_, flat_));
    if (ok) ok = upload();
    if (ok) steps_done_ = steps_done;
    return ok;
  }

  [[nodiscard]] std::int64_t parameter_count() const override { return table_.count; }
  [[nodiscard]] std::size_t arena_bytes() const override {
    return flat_.bytes() + outer_->arena_bytes();
  }

 private:
  // A batch of one device's size for each of them, `apart` such batches from each other.
  [[nodiscard]] BatchTokens cut(std::span<const std::int32_t> tokens, std::size_t first,
                                std::size_t apart) const {
    const auto size = static_cast<std::size_t>(part_.batch_size * part_.block_size);
    BatchTokens batch;
    for (std::size_t d = 0; d < device_->count(); ++d) {
      batch.push_back(tokens.subspan((d * apart + first) * size, size));
    }
    return batch;
  }
  // Each device has its batches one after another, as ranks have.
  [[nodiscard]] BatchTokens batch_of(std::span<const std::int32_t> tokens, std::int64_t i) const {
    return cut(tokens, static_cast<std::size_t>(i), static_cast<std::size_t>(part_.accumulation));
  }

  static void add_parameters(const ParameterGroup& group, Arguments& arguments) {
    for (std::size_t i = 0; i < group.size(); ++i) arguments.push_back(&group.argument(i));
  }

  Status train_on(const BatchTokens& batch, std::int64_t i) {
    const bool first = i == 0;
    auto x = outer_->embed(batch);
    if (!x) return propagate(x);
    if (auto ok = forward(*x, i); !ok) return ok;
    auto dx = outer_->head(batch, *x, first);
    if (!dx) return propagate(dx);
    x->clear();
    if (auto ok = backward(*dx, first); !ok) return ok;
    return outer_->embed_backward(batch, *dx, first);
  }

  Status forward(Shards& x, std::int64_t batch) {
    for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
      Activations& kept = activations_[layer];
      kept.x = std::move(x);
      if (auto ok = upload_key(layer, batch, kept.key); !ok) return ok;
      Arguments arguments{&kept.x};
      for (const Shards& key : kept.key) arguments.push_back(&key);
      add_parameters(blocks_[layer], arguments);
      auto results = programs_.forward.run(arguments);
      if (!results) return propagate(results);
      x = std::move(results->front());
      results->erase(results->begin());
      kept.kept = std::move(*results);
    }
    return {};
  }

  // From the gradient of the last block's output to that of the first block's input.
  Status backward(Shards& dx, bool first) {
    for (std::size_t layer = blocks_.size(); layer-- > 0;) {
      Activations& kept = activations_[layer];
      ParameterGroup& block = blocks_[layer];
      Arguments arguments{&kept.x};
      for (const Shards& key : kept.key) arguments.push_back(&key);
      add_parameters(block, arguments);
      for (const Shards& value : kept.kept) arguments.push_back(&value);
      arguments.push_back(&dx);
      std::vector<Shards*> sums;
      for (std::size_t i = 0; i < block.size(); ++i) sums.push_back(&block.gradient(i));
      auto results = run_backward(programs_.backward, std::move(arguments), sums, 1, !first);
      if (!results) return propagate(results);
      dx = std::move(results->front());
      kept = {};
    }
    return {};
  }

  Status upload_key(std::size_t layer, std::int64_t batch, std::vector<Shards>& into) {
    if (!dropout_.used()) return {};
    std::vector<DropoutKey> keys;
    std::vector<const void*> data;
    keys.reserve(device_->count());
    for (std::size_t d = 0; d < device_->count(); ++d) {
      dropout_.place(static_cast<std::int64_t>(d), batch);
      keys.push_back(dropout_.of(layer));
      data.push_back(keys.back().data());
    }
    auto key = device_->upload({graph::Element::i32, {3}}, data);
    if (!key) return propagate(key);
    into.clear();
    into.push_back(std::move(*key));
    return {};
  }

  // Of all gradients that are on the devices; those of the host are in the optimizer already.
  Result<Shards> sum_squares() {
    const float zero = 0;
    auto squares = device_->upload({graph::Element::f32, {1}}, &zero);
    if (!squares) return propagate(squares);
    for (ParameterGroup& block : blocks_) {
      if (auto ok = block.finish(*squares); !ok) return propagate(ok);
    }
    if (auto ok = outer_->finish(*squares, *optimizer_); !ok) return propagate(ok);
    return squares;
  }

  // Waits for the gradients. Error: a number that is none.
  Result<StepResult> read_result(const Shards& squares) {
    float sum = 0;
    if (auto ok = download(squares, std::as_writable_bytes(std::span(&sum, 1))); !ok) {
      return propagate(ok);
    }
    optimizer_->add_squares(static_cast<double>(sum));
    auto loss = outer_->take_loss();
    if (!loss) return propagate(loss);
    const StepResult result{*loss / static_cast<double>(part_.accumulation), optimizer_->norm()};
    if (auto ok = check_finite(result, steps_done_ + 1); !ok) return propagate(ok);
    return result;
  }

  Result<StepResult> update_by_norm(const Shards& squares) {
    auto result = read_result(squares);
    if (!result) return result;
    if (auto ok = update(nullptr); !ok) return propagate(ok);
    ++steps_done_;
    return result;
  }

  Status update(const Shards* clip) {
    const std::int64_t t = steps_done_ + 1;
    auto factors = upload_factors(*device_, optimizer_->factors(part_.learning_rate, t));
    if (!factors) return propagate(factors);
    if (auto ok = outer_->begin_update(*optimizer_, t, clip); !ok) return ok;
    Status updated;
    for (std::size_t i = 0; i < blocks_.size() && updated; ++i) {
      updated = blocks_[i].update(*factors, clip);
    }
    auto ended = outer_->end_update();
    return updated ? ended : updated;
  }

  // What is uploaded at a start, and downloaded at each save. All of it is touched then anyway.
  void map_memory() {
    if (std::exchange(mapped_, true)) return;
    device_->map(std::as_writable_bytes(flat_.parameters()));
    device_->map(std::as_writable_bytes(flat_.moments()));
  }

  Status upload() {
    if (use_.placement == Placement::device) map_memory();
    auto ok = outer_->upload();
    for (ParameterGroup& block : blocks_) {
      if (ok) ok = block.upload(*device_, flat_);
    }
    auto arrived = device_->finish_uploads();
    in_flat_ = ok && arrived;
    return ok ? arrived : ok;
  }

  DeviceUse use_;
  TrainingSpec part_;  // ranks: how many devices share a step
  ParameterTable table_;
  FlatMemory flat_;
  std::unique_ptr<Device> device_;
  BlockPrograms programs_;
  std::optional<optim::AdamW> optimizer_;
  DropoutKeys dropout_;
  std::vector<ParameterGroup> blocks_;
  std::vector<Activations> activations_;
  std::unique_ptr<OuterLayers> outer_;
  std::int64_t steps_done_ = 0;
  bool mapped_ = false;
  bool in_flat_ = false;  // what the devices hold is in the host's arrays too
};

}  // namespace

Result<std::unique_ptr<Trainable>> make_device_model(const TrainingSpec& spec,
                                                     const DeviceConfig& config) {
  if (auto ok = check_spec(spec); !ok) return propagate(ok);
  auto part = split_over(spec, config.devices);
  if (!part) return propagate(part);
  auto device = Device::open(config.device, config.devices);
  if (!device) return propagate(device);
  const DeviceUse use{config.devices, config.placement, config.evaluates,
                      config.attention.value_or(attention_of((*device)->client().platform_name())),
                      (*device)->target()};
  auto modules = make_modules(*part, use);
  if (!modules) return propagate(modules);
  auto programs = make_programs(**device, *modules);
  if (!programs) return propagate(programs);
  ParameterTable table = make_parameter_table(spec.model);
  const bool packs =
      spec.precision == graph::Precision::bf16 && config.placement == Placement::host;
  auto flat = FlatMemory::allocate(table.elements, packs);
  if (!flat) return propagate(flat);
  auto model = std::make_unique<DeviceModel>(*part, use, std::move(table), std::move(*flat),
                                             std::move(*device), std::move(*programs));
  if (auto ok = model->begin(*modules); !ok) return propagate(ok);
  return model;
}

}  // namespace trainward::trainer
