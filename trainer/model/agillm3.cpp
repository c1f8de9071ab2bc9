#include "trainer/model/agillm3.hpp"

#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "trainer/cpu/memory.hpp"
#include "trainer/cpu/program.hpp"
#include "trainer/model/dropout_keys.hpp"
#include "trainer/model/initialise.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/program_call.hpp"
#include "trainer/model/programs.hpp"
#include "trainer/model/segments.hpp"
#include "trainer/model/state_views.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {
namespace {

using cpu::Memory;
using cpu::Program;

// The values that live from a layer's forward to its backward, and the two ends of a gradient.
struct Activations {
  Memory memory;
  std::vector<std::byte*> x;                  // layers + 1: each block's input, and the last output
  std::vector<std::vector<std::byte*>> kept;  // per layer
  std::array<std::byte*, 2> dx{};
};

Result<Activations> allocate_activations(const Segments& segments, std::size_t layers) {
  const std::size_t x_bytes = cpu::buffer_bytes(segments.embed.type(segments.embed.outputs[0]));
  std::size_t kept_bytes = 0;
  for (const graph::Type& type : segments.kept) kept_bytes += cpu::buffer_bytes(type);
  Result<Memory> memory = Memory::allocate((layers + 3) * x_bytes + layers * kept_bytes);
  if (!memory) return propagate(memory);
  Activations result{*std::move(memory), {}, std::vector<std::vector<std::byte*>>(layers), {}};
  std::byte* next = result.memory.data();
  const auto take = [&](std::size_t bytes) { return std::exchange(next, next + bytes); };
  for (std::size_t i = 0; i <= layers; ++i) result.x.push_back(take(x_bytes));
  for (std::byte*& dx : result.dx) dx = take(x_bytes);
  for (std::vector<std::byte*>& layer : result.kept) {
    for (const graph::Type& type : segments.kept) layer.push_back(take(cpu::buffer_bytes(type)));
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
        dropout_(spec),
        call_(table_, flat_, workspace_.data()) {
    for (const ParameterInfo& info : table_.infos) {
      if (!spec.initialise) break;
      initialise(info, spec.seed, flat_.parameters().subspan(info.offset, info.size()));
    }
    flat_.pack();
    embedding_ = {table_.embedding()};
    head_ = head_only_ = table_.head();
    if (table_.tied) head_only_.pop_back();  // complete only after the embedding's backward
    for (std::size_t layer = 0; layer < layers(); ++layer) blocks_.push_back(table_.block(layer));
  }

  Result<StepResult> step(std::span<const std::int32_t> tokens) override {
    if (Status status = check_tokens(tokens, spec_, spec_.batch_size * spec_.accumulation);
        !status) {
      return propagate(status);
    }
    optimizer_.forget_norm();
    const std::size_t size = tokens.size() / static_cast<std::size_t>(spec_.accumulation);
    double loss = 0;
    dropout_.draw(steps_done_);
    for (std::int64_t i = 0; i < spec_.accumulation; ++i) {
      const auto batch = tokens.subspan(static_cast<std::size_t>(i) * size, size);
      dropout_.place(peers_ == nullptr ? 0 : peers_->rank(), i);
      forward(batch, Purpose::training);
      backward(batch, i == 0 ? programs_.first : *programs_.rest, i + 1 == spec_.accumulation);
      loss += static_cast<double>(loss_);
    }
    if (peers_ != nullptr) peers_->sum(std::span(&loss, 1));
    const StepResult result{loss / static_cast<double>(spec_.batches_per_step()),
                            optimizer_.norm()};
    if (auto ok = check_finite(result, steps_done_ + 1); !ok) return propagate(ok);
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
    call_.out(&loss_);
    call_.run(programs_.head_evaluate);
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
  // The gradients of these parameters, which lie one after another, are complete on this rank.
  void finish_gradients(const std::vector<std::size_t>& which) {
    const std::size_t begin = table_.infos[which.front()].offset;
    const ParameterInfo& last = table_.infos[which.back()];
    const auto piece = flat_.gradients().subspan(begin, last.offset + last.size() - begin);
    if (peers_ != nullptr) peers_->sum(piece);
    optimizer_.add_to_norm(piece);
  }

  [[nodiscard]] std::size_t layers() const { return activations_.kept.size(); }

  void add_key(std::size_t layer) {
    if (dropout_.used()) call_.in(dropout_.of(layer).data());
  }

  // Only training drops anything and keeps what its backward needs.
  enum class Purpose { training, evaluation };
  void forward(std::span<const std::int32_t> tokens, Purpose purpose) {
    const bool training = purpose == Purpose::training;
    Program& block = training ? programs_.block : programs_.block_evaluate;
    call_.in(tokens.data());
    call_.in_parameters(embedding_, programs_.embed);
    call_.out(activations_.x[0]);
    call_.run(programs_.embed);
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      call_.in(activations_.x[layer]);
      if (training) add_key(layer);
      call_.in_parameters(blocks_[layer], block);
      call_.out(activations_.x[layer + 1]);
      if (training) {
        for (std::byte* kept : activations_.kept[layer]) call_.out(kept);
      }
      call_.run(block);
    }
  }

  void add_head_inputs(std::span<const std::int32_t> tokens, const Program& head) {
    call_.in(tokens.data());
    call_.in(activations_.x[layers()]);
    call_.in_parameters(head_, head);
  }

  void backward(std::span<const std::int32_t> tokens, BackwardPrograms& programs, bool last) {
    auto [dy, dx] = activations_.dx;
    add_head_inputs(tokens, programs.head);
    call_.out(&loss_);
    call_.out(dy);
    call_.out_gradients(head_);
    call_.run(programs.head);
    if (last) finish_gradients(head_only_);
    for (std::size_t layer = layers(); layer-- > 0;) {
      call_.in(activations_.x[layer]);
      add_key(layer);
      call_.in_parameters(blocks_[layer], programs.block);
      for (const std::byte* kept : activations_.kept[layer]) call_.in(kept);
      call_.in(dy);
      call_.out(dx);
      call_.out_gradients(blocks_[layer]);
      call_.run(programs.block);
      if (last) finish_gradients(blocks_[layer]);
      std::swap(dx, dy);
    }
    call_.in(tokens.data());
    call_.in(dy);
    call_.out_gradients(embedding_);
    call_.run(programs.embed);
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
  DropoutKeys dropout_;
  ProgramCall call_;
  // Places of the parameters, made once.
  std::vector<std::size_t> embedding_, head_, head_only_;
  std::vector<std::vector<std::size_t>> blocks_;
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
