#include "trainer/device/device_model.hpp"

#include "trainer/device/backward_programs.hpp"
#include "trainer/device/fixed_parameters.hpp"
#include "trainer/device/outer_layers.hpp"
#include "trainer/device/parameter_group.hpp"
#include "trainer/device/platforms.hpp"
#include "trainer/device/update_factors.hpp"
#include "trainer/model/cpu/parallel_model.hpp"
#include "trainer/model/training/dropout_keys.hpp"
#include "trainer/model/training/stepper.hpp"

namespace trainward::trainer {
namespace {

using Arguments = std::vector<const Shards*>;

struct BlockPrograms {
  DeviceProgram forward;
  std::optional<DeviceProgram> evaluate;
  BackwardDevicePrograms backward;
  GroupPrograms group;
  std::optional<DeviceProgram> join_squares;
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
  auto join_squares = device.make(modules.join_squares, Work::after_exchange);
  if (!join_squares) return propagate(join_squares);
  return BlockPrograms{std::move(*forward), std::move(*evaluate), std::move(*backward),
                       std::move(*group), std::move(*join_squares)};
}

// What lives from a block's forward to its backward.
struct Activations {
  Shards x;
  std::vector<Shards> key;  // none, or one
  std::vector<Shards> kept;
};

class DeviceExecutor final : public StepExecutor {
 public:
  DeviceExecutor(const TrainingSpec& part, const DeviceUse& use, const ModelState& state,
                 std::unique_ptr<Device> device, BlockPrograms programs,
                 std::unique_ptr<OuterLayers> outer)
      : use_(use),
        part_(part),
        table_(state.table),
        flat_(state.flat),
        device_(std::move(device)),
        programs_(std::move(programs)),
        optimizer_({part.weight_decay, part.beta1, part.beta2, part.epsilon, part.gradient_clip,
                    part.schedule},
                   use.placement == Placement::host ? rate_runs(state.table, part, RunsOf::outer)
                                                    : std::vector<optim::Group>(),
                   state.table.elements, part.threads),
        dropout_(part),
        fixed_(state, part.columns),
        outer_(std::move(outer)) {
    for (std::int64_t layer = 0; layer < part.model.layers; ++layer) {
      places_.push_back(table_.block(static_cast<std::size_t>(layer)));
      blocks_.emplace_back(table_, part_.columns, table_.trained(places_.back()), programs_.group);
    }
    activations_.resize(blocks_.size());
  }

  [[nodiscard]] std::size_t parts() const override { return device_->count() / columns(); }
  [[nodiscard]] bool evaluates() const override { return programs_.evaluate.has_value(); }

  void begin(std::int64_t steps_done) override {
    optimizer_.forget_norm();
    dropout_.draw(steps_done);
  }

  Status embed(const BatchTokens& tokens) override {
    if (auto ok = upload_segments(tokens); !ok) return ok;
    auto x = outer_->embed(tokens);
    if (!x) return propagate(x);
    x_ = std::move(*x);
    return {};
  }

  Status forward(std::size_t layer, const BatchOfStep& batch, Purpose purpose) override {
    if (purpose == Purpose::evaluation) return evaluate_block(layer);
    Activations& kept = activations_[layer];
    kept.x = std::move(x_);
    if (auto ok = upload_key(layer, batch.number, kept.key); !ok) return ok;
    Arguments arguments = block_arguments(layer);
    auto results = programs_.forward.run(arguments);
    if (!results) return propagate(results);
    x_ = std::move(results->front());
    results->erase(results->begin());
    kept.kept = std::move(*results);
    return {};
  }

  Status head(const BatchTokens& tokens, const BatchOfStep& batch) override {
    auto dx = outer_->head(tokens, x_, batch);
    if (!dx) return propagate(dx);
    dx_ = std::move(*dx);
    x_.clear();
    return {};
  }

  Status backward(std::size_t layer, const BatchOfStep& batch) override {
    Activations& kept = activations_[layer];
    ParameterGroup& block = blocks_[layer];
    Arguments arguments = block_arguments(layer);
    for (const Shards& value : kept.kept) arguments.push_back(&value);
    arguments.push_back(&dx_);
    std::vector<Shards*> sums;
    for (std::size_t i = 0; i < block.size(); ++i) sums.push_back(&block.gradient(i));
    auto results = run_backward(programs_.backward, batch.first, std::move(arguments), sums);
    if (!results) return propagate(results);
    dx_ = std::move(results->front());
    kept = {};
    // At once, so that it goes on beside the backward pass of the blocks below. A block is a
    // bucket: those of models worth a mesh have the 4 MiB or more from which on links are well
    // used, and smaller ones have little to exchange.
    if (batch.last) return block.exchange();
    return {};
  }

  Status embed_backward(const BatchTokens& tokens, const BatchOfStep& batch) override {
    auto ok = outer_->embed_backward(tokens, dx_, batch);
    dx_.clear();
    return ok;
  }

  Result<StepResult> update(std::int64_t t) override {
    auto squares = sum_squares();
    if (!squares) return propagate(squares);
    auto clip = outer_->clip(*squares);
    if (!clip) return propagate(clip);
    in_flat_ = false;
    if (!*clip) return update_by_norm(*squares, t);
    // The devices go on while the host hears what came of the step.
    if (auto ok = update_all(&**clip, t); !ok) return propagate(ok);
    return read_result(*squares, t);
  }

  Result<double> evaluate(const BatchTokens& tokens) override {
    auto loss = outer_->evaluate(tokens, x_);
    x_.clear();
    return loss;
  }

  Status upload() override {
    if (use_.placement == Placement::device) map_memory();
    auto ok = outer_->upload();
    for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
      if (ok) ok = fixed_.upload(*device_, places_[layer]);
      if (ok) ok = blocks_[layer].upload(*device_, flat_);
    }
    auto arrived = device_->finish_uploads();
    in_flat_ = ok && arrived;
    return ok ? arrived : ok;
  }
  Status download() override {
    if (in_flat_) return {};
    for (const ParameterGroup& block : blocks_) {
      if (auto ok = block.download(flat_); !ok) return ok;
    }
    auto ok = outer_->download();
    in_flat_ = ok.has_value();
    return ok;
  }

  Result<std::vector<std::uint64_t>> checksums() override {
    std::vector<std::uint64_t> all;
    for (std::size_t d = 0; d < device_->count(); ++d) {
      std::uint64_t& sum = all.emplace_back(0);
      for (const ParameterGroup& block : blocks_) {
        if (auto ok = block.add_checksum(d, scratch_, sum); !ok) return propagate(ok);
      }
      if (auto ok = outer_->add_checksum(d, scratch_, sum); !ok) return propagate(ok);
    }
    return all;
  }

  [[nodiscard]] std::size_t arena_bytes() const override { return outer_->arena_bytes(); }

  std::vector<PartUse> take_use() override {
    const auto times = device_->take_times();
    const auto losses = outer_->take_own_losses();
    std::vector<PartUse> uses;
    for (std::size_t d = 0; d < times.size(); ++d) {
      PartUse use{{}, times[d].compute, times[d].exchange, memory_of(d)};
      if (d < losses.size()) use.loss = losses[d];
      uses.push_back(use);
    }
    return uses;
  }

  [[nodiscard]] std::optional<DeviceMemory> device_memory() const override {
    std::optional<DeviceMemory> fullest;
    for (std::size_t d = 0; d < device_->count(); ++d) {
      const auto memory = memory_of(d);
      if (!memory) return std::nullopt;
      if (!fullest || memory->most > fullest->most) fullest = memory;
    }
    return fullest;
  }
  [[nodiscard]] std::optional<double> peak_flops() const override {
    return trainer::peak_flops(device_->client().device_kind(), part_.precision);
  }

 private:
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(part_.columns); }

  [[nodiscard]] std::optional<DeviceMemory> memory_of(std::size_t device) const {
    const auto stats = device_->client().memory(device);
    if (!stats) return std::nullopt;
    return DeviceMemory{stats->peak.value_or(stats->in_use), stats->limit};
  }

  // What both directions take: (x, key?, segments?, block parameters…).
  Arguments block_arguments(std::size_t layer) {
    const Activations& kept = activations_[layer];
    Arguments arguments{&kept.x};
    for (const Shards& key : kept.key) arguments.push_back(&key);
    add_parameters(layer, arguments);
    return arguments;
  }
  void add_parameters(std::size_t layer, Arguments& arguments) const {
    for (const Shards& segments : segments_) arguments.push_back(&segments);
    std::size_t next = 0;  // of those that are trained
    for (const std::size_t place : places_[layer]) {
      const bool trained = table_.infos[place].trained();
      arguments.push_back(trained ? &blocks_[layer].argument(next++) : &fixed_[place]);
    }
  }

  Status evaluate_block(std::size_t layer) {
    Arguments arguments{&x_};
    add_parameters(layer, arguments);
    auto results = programs_.evaluate->run(arguments);
    if (!results) return propagate(results);
    x_ = std::move(results->front());
    return {};
  }

  // Once for all blocks.
  Status upload_segments(const BatchTokens& tokens) {
    if (!part_.segmented) return {};
    std::vector<const void*> data;
    for (std::size_t d = 0; d < device_->count(); ++d) {
      data.push_back(tokens[d / columns()].segments.data());
    }
    segments_.clear();
    auto segments =
        device_->upload({graph::Element::i32, {part_.batch_size, part_.block_size}}, data);
    if (!segments) return propagate(segments);
    segments_.push_back(*std::move(segments));
    return {};
  }

  Status upload_key(std::size_t layer, std::int64_t batch, std::vector<Shards>& into) {
    if (!dropout_.used()) return {};
    std::vector<DropoutKey> keys;
    std::vector<const void*> data;
    keys.reserve(device_->count());
    for (std::size_t d = 0; d < device_->count(); ++d) {
      dropout_.place(static_cast<std::int64_t>(d / columns()), batch);
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
    if (auto ok = outer_->finish(*squares, optimizer_); !ok) return propagate(ok);
    if (!programs_.join_squares) return squares;
    auto joined = programs_.join_squares->run(Arguments{&*squares});
    if (!joined) return propagate(joined);
    return std::move(joined->front());
  }

  // Waits for the gradients. Error: a number that is not finite.
  Result<StepResult> read_result(const Shards& squares, std::int64_t t) {
    float sum = 0;
    if (auto ok = trainer::download(squares, std::as_writable_bytes(std::span(&sum, 1))); !ok) {
      return propagate(ok);
    }
    optimizer_.add_squares(static_cast<double>(sum));
    auto loss = outer_->take_loss();
    if (!loss) return propagate(loss);
    const double batches = part_.weighted ? 1 : static_cast<double>(part_.accumulation);
    const StepResult result{*loss / batches, optimizer_.norm()};
    if (auto ok = check_finite(result, t); !ok) return propagate(ok);
    return result;
  }

  Result<StepResult> update_by_norm(const Shards& squares, std::int64_t t) {
    auto result = read_result(squares, t);
    if (!result) return result;
    if (auto ok = update_all(nullptr, t); !ok) return propagate(ok);
    return result;
  }

  Status update_all(const Shards* clip, std::int64_t t) {
    auto factors = upload_factors(*device_, optimizer_.factors(part_.learning_rate, t));
    if (!factors) return propagate(factors);
    if (auto ok = outer_->begin_update(optimizer_, t, clip); !ok) return ok;
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

  DeviceUse use_;
  TrainingSpec part_;  // of a row of devices
  const ParameterTable& table_;
  const FlatMemory& flat_;
  std::unique_ptr<Device> device_;
  BlockPrograms programs_;
  optim::AdamW optimizer_;
  DropoutKeys dropout_;
  FixedParameters fixed_;
  std::vector<Places> places_;          // of each block's parameters
  std::vector<ParameterGroup> blocks_;  // of those what is trained
  std::vector<Activations> activations_;
  std::unique_ptr<OuterLayers> outer_;
  std::vector<Shards> segments_;    // of the batch: none, or one
  std::vector<std::byte> scratch_;  // of a parameter that is looked at
  Shards x_;                        // what the last part gave
  Shards dx_;                       // its gradient
  bool mapped_ = false;
  bool in_flat_ = false;  // what the devices hold is in the host's arrays too
};

}  // namespace

Result<std::unique_ptr<Trainable>> make_device_model(const TrainingSpec& spec,
                                                     const DeviceConfig& config,
                                                     const BaseWeights* base) {
  if (auto ok = check_spec(spec); !ok) return propagate(ok);
  auto part = split_over(spec, config.devices / spec.columns);
  if (!part) return propagate(part);
  auto device = Device::open(config.device, config.devices);
  if (!device) return propagate(device);
  const DeviceUse use{
      config.devices, config.placement, config.evaluates,
      config.attention.value_or(platform_of((*device)->client().platform_name()).attention),
      (*device)->target()};
  auto modules = make_modules(*part, use);
  if (!modules) return propagate(modules);
  auto programs = make_programs(**device, *modules);
  if (!programs) return propagate(programs);
  const bool host = config.placement == Placement::host;
  auto state = ModelState::allocate(spec, host && spec.precision == graph::Precision::bf16, base);
  if (!state) return propagate(state);
  auto outer = host ? make_host_outer_layers(**device, *part, **state)
                    : make_device_outer_layers(**device, *modules->outer, *part, **state);
  if (!outer) return propagate(outer);
  auto executor = std::make_unique<DeviceExecutor>(*part, use, **state, std::move(*device),
                                                   std::move(*programs), std::move(*outer));
  return make_stepper(*part, std::move(*state), std::move(executor), base);
}

}  // namespace trainward::trainer
