#include "trainer/model/cpu/cpu_model.hpp"

#include <algorithm>
#include <utility>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/model/cpu/activations.hpp"
#include "trainer/model/cpu/batch_inputs.hpp"
#include "trainer/model/cpu/program_call.hpp"
#include "trainer/model/cpu/programs.hpp"
#include "trainer/model/training/checksum.hpp"
#include "trainer/model/training/dropout_keys.hpp"
#include "trainer/model/training/stepper.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {
namespace {

using cpu::Memory;
using cpu::Program;

class CpuExecutor final : public StepExecutor {
 public:
  CpuExecutor(const TrainingSpec& spec, const ModelState& state,
              std::unique_ptr<cpu::Runtime> runtime, std::vector<WidthPrograms> widths,
              Activations activations, Memory workspace, Communicator* peers)
      : spec_(spec),
        table_(state.table),
        flat_(state.flat),
        runtime_(std::move(runtime)),
        widths_(std::move(widths)),
        width_(widths_.data()),
        inputs_(spec),
        activations_(std::move(activations)),
        workspace_(std::move(workspace)),
        peers_(peers),
        optimizer_({spec.weight_decay, spec.beta1, spec.beta2, spec.epsilon, spec.gradient_clip,
                    spec.schedule},
                   rate_runs(table_, spec, RunsOf::everything), table_.elements, spec.threads),
        dropout_(spec),
        call_(state, workspace_.data()),
        own_head_(table_.trained(table_.own_head())),
        embedding_(table_.trained(table_.embedding)) {
    std::sort(embedding_.begin(), embedding_.end());  // as they lie
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      blocks_.push_back(table_.block(layer));
      trained_.push_back(table_.trained(blocks_.back()));
    }
  }

  void begin(std::int64_t steps_done) override {
    optimizer_.forget_norm();
    losses_ = 0;
    dropout_.draw(steps_done);
  }

  Status embed(const BatchTokens& tokens) override {
    choose_width(tokens.front());
    inputs_.take(tokens.front(), width_->spec.block_size);
    call_.in(inputs_.ids());
    call_.in_parameters(table_.embedding, programs().embed);
    call_.out(activations_.x[0]);
    call_.run(programs().embed);
    return {};
  }

  Status forward(std::size_t layer, const BatchOfStep& batch, Purpose purpose) override {
    const bool training = purpose == Purpose::training;
    Program& block = training ? programs().block : programs().block_evaluate;
    call_.in(activations_.x[layer]);
    if (training) add_key(layer, batch);
    if (spec_.segmented) call_.in(inputs_.segments());
    call_.in_parameters(blocks_[layer], block);
    call_.out(activations_.x[layer + 1]);
    if (training) {
      for (std::byte* kept : activations_.kept[layer]) call_.out(kept);
    }
    call_.run(block);
    return {};
  }

  Status head(const BatchTokens& /*tokens*/, const BatchOfStep& batch) override {
    for (std::int64_t piece = 0; piece < pieces(); ++piece) {
      Program& head = batch.first && piece == 0 ? programs().first.head : programs().rest->head;
      add_head_inputs(head, piece);
      call_.out(&loss_);
      call_.out(dy() + piece * piece_bytes());
      call_.out_gradients(table_.head);
      call_.run(head);
      losses_ += static_cast<double>(loss_);
    }
    if (batch.last) finish_gradients(own_head_);  // what it shares the embedding completes
    return {};
  }

  Status backward(std::size_t layer, const BatchOfStep& batch) override {
    Program& block = programs_of(batch).block;
    call_.in(activations_.x[layer]);
    add_key(layer, batch);
    if (spec_.segmented) call_.in(inputs_.segments());
    call_.in_parameters(blocks_[layer], block);
    for (const std::byte* kept : activations_.kept[layer]) call_.in(kept);
    call_.in(dy());
    call_.out(activations_.dx[1]);
    call_.out_gradients(blocks_[layer]);
    call_.run(block);
    if (batch.last) finish_gradients(trained_[layer]);
    std::swap(activations_.dx[0], activations_.dx[1]);
    return {};
  }

  Status embed_backward(const BatchTokens& /*tokens*/, const BatchOfStep& batch) override {
    if (embedding_.empty()) return {};
    Program& embed = programs_of(batch).embed;
    call_.in(inputs_.ids());
    call_.in(dy());
    call_.out_gradients(table_.embedding);
    call_.run(embed);
    if (batch.last) finish_gradients(embedding_);
    return {};
  }

  Result<StepResult> update(std::int64_t t) override {
    const double own = spec_.weighted ? losses_ * static_cast<double>(spec_.ranks)
                                      : losses_ / static_cast<double>(spec_.accumulation);
    if (peers_ != nullptr) peers_->sum(std::span(&losses_, 1));
    const double batches = spec_.weighted ? 1 : static_cast<double>(spec_.batches_per_step());
    const StepResult result{losses_ / batches, optimizer_.norm(), 0, own};
    if (auto ok = check_finite(result, t); !ok) return propagate(ok);
    optimizer_.step(
        {flat_.parameters(), flat_.gradients(), flat_.mean(), flat_.variance(), flat_.packed()}, t);
    return result;
  }

  Result<double> evaluate(const BatchTokens& /*tokens*/) override {
    double sum = 0;
    for (std::int64_t piece = 0; piece < pieces(); ++piece) {
      add_head_inputs(programs().head_evaluate, piece);
      call_.out(&loss_);
      call_.run(programs().head_evaluate);
      sum += static_cast<double>(loss_);
    }
    return sum;
  }

  // It works on the host's arrays themselves.
  Status upload() override {
    flat_.pack();
    return {};
  }
  Status download() override { return {}; }

  Result<std::vector<std::uint64_t>> checksums() override {
    return std::vector{add_checksum(0, std::as_bytes(flat_.parameters()))};
  }

  [[nodiscard]] std::size_t arena_bytes() const override {
    return workspace_.size() + activations_.memory.size();
  }

 private:
  [[nodiscard]] std::size_t layers() const { return activations_.kept.size(); }
  // The gradient of what the last part gave.
  [[nodiscard]] std::byte* dy() const { return activations_.dx[0]; }
  BackwardPrograms& programs_of(const BatchOfStep& batch) {
    return batch.first ? programs().first : *programs().rest;
  }

  // The gradients of these parameters, which lie one after another, are complete on this rank.
  void finish_gradients(const Places& which) {
    if (which.empty()) return;
    const std::size_t begin = table_.infos[which.front()].offset;
    const ParameterInfo& last = table_.infos[which.back()];
    const auto piece = flat_.gradients().subspan(begin, last.offset + last.size() - begin);
    if (peers_ != nullptr) peers_->sum(piece);
    optimizer_.add_to_norm(piece);
  }

  void add_key(std::size_t layer, const BatchOfStep& batch) {
    if (!dropout_.used()) return;
    dropout_.place(peers_ == nullptr ? 0 : peers_->rank(), batch.number);
    call_.in(dropout_.of(layer).data());
  }

  [[nodiscard]] Programs& programs() const { return width_->programs; }

  // The narrowest that the batch fits into.
  void choose_width(const TokenBatch& batch) {
    width_ = widths_.data();
    if (widths_.size() == 1) return;
    const std::int64_t needed = width_needed(batch, spec_.block_size);
    for (WidthPrograms& width : widths_) {
      if (width.spec.block_size >= needed) width_ = &width;
    }
  }

  // A batch's positions go through the head all at once, or in so many pieces.
  [[nodiscard]] std::int64_t positions() const {
    return width_->spec.batch_size * width_->spec.block_size;
  }
  [[nodiscard]] std::int64_t pieces() const { return head_pieces(width_->spec); }
  // Of x in one of them.
  [[nodiscard]] std::int64_t piece_bytes() const {
    return positions() / pieces() * spec_.model.width * static_cast<std::int64_t>(sizeof(float));
  }

  void add_head_inputs(const Program& head, std::int64_t piece) {
    if (spec_.weighted) {
      const std::int64_t first = piece * head_rows(width_->spec);
      call_.in(inputs_.targets() + first);
      call_.in(inputs_.weights() + first);
    } else {
      call_.in(inputs_.ids());
    }
    call_.in(activations_.x[layers()] + piece * piece_bytes());
    call_.in_parameters(table_.head, head);
  }

  TrainingSpec spec_;
  const ParameterTable& table_;
  const FlatMemory& flat_;
  std::unique_ptr<cpu::Runtime> runtime_;
  std::vector<WidthPrograms> widths_;  // the widest first
  WidthPrograms* width_;               // of the batch that is worked on
  BatchInputs inputs_;
  Activations activations_;
  Memory workspace_;
  Communicator* peers_;  // nullptr: alone
  optim::AdamW optimizer_;
  DropoutKeys dropout_;
  ProgramCall call_;
  // Places of the parameters, made once.
  Places own_head_, embedding_;
  std::vector<Places> blocks_, trained_;
  float loss_ = 0;     // of the last batch
  double losses_ = 0;  // of the step's batches
};

Result<std::unique_ptr<Trainable>> make_model(const TrainingSpec& asked, Communicator* peers,
                                              const BaseWeights* base) {
  if (auto ok = check_spec(asked); !ok) return propagate(ok);
  auto runtime = cpu::Runtime::create(asked.threads);
  if (!runtime) return propagate(runtime);
  auto step = compile_step(asked, **runtime);
  if (!step) return propagate(step);
  const TrainingSpec& spec = step->spec;
  auto activations = Activations::allocate(step->segments, layers_of(spec));
  if (!activations) return propagate(activations);
  auto state = ModelState::allocate(spec, spec.precision == graph::Precision::bf16, base);
  if (!state) return propagate(state);
  auto workspace = Memory::allocate(workspace_bytes(step->widths));
  if (!workspace) return propagate(workspace);
  auto executor =
      std::make_unique<CpuExecutor>(spec, **state, *std::move(runtime), std::move(step->widths),
                                    *std::move(activations), *std::move(workspace), peers);
  return make_stepper(spec, *std::move(state), std::move(executor), base);
}

}  // namespace

Result<std::unique_ptr<Trainable>> make_cpu_model(const TrainingSpec& spec,
                                                  const BaseWeights* base) {
  return make_model(spec, nullptr, base);
}

Result<std::unique_ptr<Trainable>> make_cpu_part(const TrainingSpec& spec, Communicator& peers) {
  return make_model(spec, &peers, nullptr);
}

Result<std::unique_ptr<Trainable>> make_cpu_part_from(const BaseWeights* base,
                                                      const TrainingSpec& spec,
                                                      Communicator& peers) {
  return make_model(spec, &peers, base);
}

}  // namespace trainward::trainer
