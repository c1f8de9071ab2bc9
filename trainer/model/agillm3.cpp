#include "trainer/model/agillm3.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "trainer/cpu/memory.hpp"
#include "trainer/cpu/program.hpp"
#include "trainer/model/initialise.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/programs.hpp"
#include "trainer/model/random.hpp"
#include "trainer/model/segments.hpp"
#include "trainer/model/state_views.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {
namespace {

using cpu::Memory;
using cpu::Program;

std::size_t bytes_of(const graph::Type& type) {
  const std::size_t bytes =
      static_cast<std::size_t>(graph::element_count(type.shape)) * cpu::bytes_of(type.element);
  return (bytes + cpu::alignment - 1) / cpu::alignment * cpu::alignment;
}

// The values that live from a layer's forward to its backward, and the two ends of a gradient.
struct Activations {
  Memory memory;
  std::vector<std::byte*> x;                  // layers + 1: each block's input, and the last output
  std::vector<std::vector<std::byte*>> kept;  // per layer
  std::array<std::byte*, 2> dx{};
};

Result<Activations> allocate_activations(const Segments& segments, std::size_t layers) {
  const std::size_t x_bytes = bytes_of(segments.embed.type(segments.embed.outputs[0]));
  std::size_t kept_bytes = 0;
  for (const graph::Type& type : segments.kept) kept_bytes += bytes_of(type);
  Result<Memory> memory = Memory::allocate((layers + 3) * x_bytes + layers * kept_bytes);
  if (!memory) return propagate(memory);
  Activations result{*std::move(memory), {}, std::vector<std::vector<std::byte*>>(layers), {}};
  std::byte* next = result.memory.data();
  const auto take = [&](std::size_t bytes) { return std::exchange(next, next + bytes); };
  for (std::size_t i = 0; i <= layers; ++i) result.x.push_back(take(x_bytes));
  for (std::byte*& dx : result.dx) dx = take(x_bytes);
  for (std::vector<std::byte*>& layer : result.kept) {
    for (const graph::Type& type : segments.kept) layer.push_back(take(bytes_of(type)));
  }
  return result;
}

class Agillm3 final : public Trainable {
 public:
  Agillm3(const TrainingSpec& spec, ParameterTable table, std::unique_ptr<cpu::Runtime> runtime,
          Programs programs, Activations activations, FlatMemory flat, Memory workspace,
          Communicator* peers)
      : spec_(spec),
        table_(std::move(table)),
        runtime_(std::move(runtime)),
        programs_(std::move(programs)),
        activations_(std::move(activations)),
        flat_(std::move(flat)),
        workspace_(std::move(workspace)),
        peers_(peers),
        optimizer_({spec.weight_decay, spec.beta1, spec.beta2, spec.epsilon, spec.gradient_clip,
                    spec.schedule},
                   {{0, table_.head_begin, spec.learning_rate},
                    {table_.head_begin, table_.elements, spec.head_learning_rate}},
                   table_.elements, spec.threads),
        dropout_(spec.seed, "dropout"),
        keys_(spec.dropout > 0 ? static_cast<std::size_t>(spec.model.layers) : 0) {
    for (const ParameterInfo& info : table_.infos) {
      if (!spec.initialise) break;
      initialise(info, spec.seed, flat_.parameters().subspan(info.offset, info.size()));
    }
    flat_.pack();
    embedding_ = {table_.embedding()};
    head_ = head_only_ = table_.head();
    if (table_.tied) head_only_.pop_back();  // complete only after the embedding's backward
    for (std::size_t layer = 0; layer < layers(); ++layer) blocks_.push_back(table_.block(layer));
    inputs_.reserve(64);
    outputs_.reserve(64);
  }

  Result<StepResult> step(std::span<const std::int32_t> tokens) override {
    if (Status status = check_tokens(tokens, spec_, spec_.batch_size * spec_.accumulation);
        !status) {
      return propagate(status);
    }
    optimizer_.forget_norm();
    const std::size_t size = tokens.size() / static_cast<std::size_t>(spec_.accumulation);
    double loss = 0;
    draw_keys();
    for (std::int64_t i = 0; i < spec_.accumulation; ++i) {
      const auto batch = tokens.subspan(static_cast<std::size_t>(i) * size, size);
      place_in_step(i);
      forward(batch, Purpose::training);
      backward(batch, i == 0 ? programs_.first : *programs_.rest, i + 1 == spec_.accumulation);
      loss += static_cast<double>(loss_);
    }
    if (peers_ != nullptr) peers_->sum(std::span(&loss, 1));
    const StepResult result{loss / static_cast<double>(spec_.batches_per_step()),
                            optimizer_.norm()};
    if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm)) {
      return fail(ErrorKind::permanent,
                  fmt::format("step {}: the loss is {} and the gradient norm {}", steps_done_ + 1,
                              result.loss, result.grad_norm),
                  {}, "go back to an older checkpoint, skip this data or lower the learning rate");
    }
    ++steps_done_;
    optimizer_.step(
        {flat_.parameters(), flat_.gradients(), flat_.mean(), flat_.variance(), flat_.packed()},
        steps_done_);
    return result;
  }

  Result<double> evaluate(std::span<const std::int32_t> tokens) override {
    if (Status status = check_tokens(tokens, spec_, spec_.batch_size); !status)
      return propagate(status);
    forward(tokens, Purpose::evaluation);
    add_head_inputs(tokens, programs_.head_evaluate);
    outputs_.push_back(&loss_);
    run(programs_.head_evaluate);
    return static_cast<double>(loss_);
  }

  [[nodiscard]] std::vector<checkpoint::TensorView> model_state() const override {
    return model_views(table_, flat_);
  }
  [[nodiscard]] std::vector<checkpoint::TensorView> optimizer_state() const override {
    return optimizer_views(table_, flat_);
  }
  Status restore(const checkpoint::FillTensors& fill, std::int64_t steps_done) override {
    if (steps_done < 0) return fail(ErrorKind::usage, "the step count is negative");
    Status status = fill(model_targets(table_, flat_), optimizer_targets(table_, flat_));
    flat_.pack();
    if (status) steps_done_ = steps_done;
    return status;
  }

  [[nodiscard]] std::int64_t parameter_count() const override { return table_.count; }
  [[nodiscard]] std::size_t arena_bytes() const override {
    return workspace_.size() + activations_.memory.size() + flat_.bytes();
  }

 private:
  // As the program takes them.
  void add_parameters(const std::vector<std::size_t>& which, const Program& program) {
    for (const std::size_t i : which) {
      const std::size_t offset = table_.infos[i].offset;
      if (program.parameter_element(inputs_.size()) == graph::Element::bf16) {
        inputs_.push_back(flat_.packed().data() + offset);
      } else {
        inputs_.push_back(flat_.parameters().data() + offset);
      }
    }
  }
  void add_gradients(const std::vector<std::size_t>& which) {
    for (const std::size_t i : which) {
      outputs_.push_back(flat_.gradients().data() + table_.infos[i].offset);
    }
  }
  // Runs what inputs_ and outputs_ name, and clears them.
  void run(Program& program) {
    program.run(inputs_, outputs_, workspace_.data());
    inputs_.clear();
    outputs_.clear();
  }
  // The gradients of these parameters, which lie one after another, are complete on this rank.
  void finish_gradients(const std::vector<std::size_t>& which) {
    const std::size_t begin = table_.infos[which.front()].offset;
    const ParameterInfo& last = table_.infos[which.back()];
    const auto piece = flat_.gradients().subspan(begin, last.offset + last.size() - begin);
    if (peers_ != nullptr) peers_->sum(piece);
    optimizer_.add_to_norm(piece);
  }

  [[nodiscard]] std::size_t layers() const { return activations_.kept.size(); }

  // What is dropped: another key for every step and layer, the same when a run is resumed.
  void draw_keys() {
    for (std::size_t layer = 0; layer < keys_.size(); ++layer) {
      const std::uint64_t bits =
          dropout_.bits(static_cast<std::uint64_t>(steps_done_) * keys_.size() + layer);
      keys_[layer] = {static_cast<std::int32_t>(bits), static_cast<std::int32_t>(bits >> 32), 0};
    }
  }
  // By the place in the whole step, however that is cut into batches and ranks.
  void place_in_step(std::int64_t batch) {
    const std::int64_t rank = peers_ == nullptr ? 0 : peers_->rank();
    const std::int64_t row = (rank * spec_.accumulation + batch) * spec_.batch_size;
    for (auto& key : keys_) {
      key[2] = static_cast<std::int32_t>(row * spec_.block_size * spec_.model.width);
    }
  }
  void add_key(std::size_t layer) {
    if (!keys_.empty()) inputs_.push_back(keys_[layer].data());
  }

  // Only training drops anything and keeps what its backward needs.
  enum class Purpose { training, evaluation };
  void forward(std::span<const std::int32_t> tokens, Purpose purpose) {
    const bool training = purpose == Purpose::training;
    Program& block = training ? programs_.block : programs_.block_evaluate;
    inputs_.push_back(tokens.data());
    add_parameters(embedding_, programs_.embed);
    outputs_.push_back(activations_.x[0]);
    run(programs_.embed);
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      inputs_.push_back(activations_.x[layer]);
      if (training) add_key(layer);
      add_parameters(blocks_[layer], block);
      outputs_.push_back(activations_.x[layer + 1]);
      if (training) {
        for (std::byte* kept : activations_.kept[layer]) outputs_.push_back(kept);
      }
      run(block);
    }
  }

  void add_head_inputs(std::span<const std::int32_t> tokens, const Program& head) {
    inputs_.push_back(tokens.data());
    inputs_.push_back(activations_.x[layers()]);
    add_parameters(head_, head);
  }

  void backward(std::span<const std::int32_t> tokens, BackwardPrograms& programs, bool last) {
    auto [dy, dx] = activations_.dx;
    add_head_inputs(tokens, programs.head);
    outputs_.push_back(&loss_);
    outputs_.push_back(dy);
    add_gradients(head_);
    run(programs.head);
    if (last) finish_gradients(head_only_);
    for (std::size_t layer = layers(); layer-- > 0;) {
      inputs_.push_back(activations_.x[layer]);
      add_key(layer);
      add_parameters(blocks_[layer], programs.block);
      for (const std::byte* kept : activations_.kept[layer]) inputs_.push_back(kept);
      inputs_.push_back(dy);
      outputs_.push_back(dx);
      add_gradients(blocks_[layer]);
      run(programs.block);
      if (last) finish_gradients(blocks_[layer]);
      std::swap(dx, dy);
    }
    inputs_.push_back(tokens.data());
    inputs_.push_back(dy);
    add_gradients(embedding_);
    run(programs.embed);
    if (last) finish_gradients(embedding_);
  }

  TrainingSpec spec_;
  ParameterTable table_;
  std::unique_ptr<cpu::Runtime> runtime_;
  Programs programs_;
  Activations activations_;
  FlatMemory flat_;
  Memory workspace_;
  Communicator* peers_;  // nullptr: alone
  optim::AdamW optimizer_;
  RandomStream dropout_;
  std::vector<std::array<std::int32_t, 3>> keys_;  // per layer; empty when nothing is dropped
  // Places of the parameters, made once.
  std::vector<std::size_t> embedding_, head_, head_only_;
  std::vector<std::vector<std::size_t>> blocks_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  float loss_ = 0;
  std::int64_t steps_done_ = 0;
};

Result<std::unique_ptr<Trainable>> make_model(const TrainingSpec& spec, Communicator* peers) {
  if (const Status status = check_spec(spec); !status) {
    return tl::unexpected<Error>(status.error());
  }
  Result<std::unique_ptr<cpu::Runtime>> runtime = cpu::Runtime::create(spec.threads);
  if (!runtime) return propagate(runtime);
  Result<Segments> segments = make_segments(spec);
  if (!segments) return propagate(segments);
  Result<Programs> programs = compile(*segments, spec, **runtime);
  if (!programs) return propagate(programs);
  ParameterTable table = make_parameter_table(spec.model);
  Result<Activations> activations =
      allocate_activations(*segments, static_cast<std::size_t>(spec.model.layers));
  if (!activations) return propagate(activations);
  Result<FlatMemory> flat =
      FlatMemory::allocate(table.elements, spec.precision == graph::Precision::bf16);
  if (!flat) return propagate(flat);
  Result<Memory> workspace = Memory::allocate(programs->workspace_bytes());
  if (!workspace) return propagate(workspace);
  return std::make_unique<Agillm3>(spec, std::move(table), *std::move(runtime),
                                   *std::move(programs), *std::move(activations), *std::move(flat),
                                   *std::move(workspace), peers);
}

}  // namespace

Result<std::unique_ptr<Trainable>> make_agillm3(const TrainingSpec& spec) {
  return make_model(spec, nullptr);
}

Result<std::unique_ptr<Trainable>> make_agillm3_part(const TrainingSpec& spec,
                                                     Communicator& peers) {
  return make_model(spec, &peers);
}

}  // namespace trainward::trainer
