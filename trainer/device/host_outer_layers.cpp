#include <algorithm>
#include <span>
#include <utility>

#include "trainer/batch/token_batch.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/device/head_parts.hpp"
#include "trainer/device/host_thread.hpp"
#include "trainer/device/modules.hpp"
#include "trainer/device/outer_layers.hpp"
#include "trainer/model/cpu/program_call.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {
namespace {

using cpu::Memory;
using cpu::Program;

// The first of a step overwrites the gradients; the others add to them. Empty without gradients.
struct HostBackward {
  Program head, embed;
};

struct HostPrograms {
  Program embed, head, head_evaluate;
  HostBackward first;
  std::optional<HostBackward> more;  // only with accumulation, or a head in pieces
  std::vector<graph::Type> kept;     // from head to the gradients of its parameters

  [[nodiscard]] std::size_t workspace_bytes() const { return cpu::aligned(largest_workspace()); }
  [[nodiscard]] std::size_t largest_workspace() const {
    return std::max({embed.workspace_bytes(), head.workspace_bytes(),
                     head_evaluate.workspace_bytes(), first.head.workspace_bytes(),
                     first.embed.workspace_bytes(), more ? more->head.workspace_bytes() : 0,
                     more ? more->embed.workspace_bytes() : 0});
  }
};

// The sequences of all devices make one batch here, and the weights are not shared.
TrainingSpec whole_batch(TrainingSpec part) {
  part.batch_size *= part.ranks;
  part.ranks = 1;
  part.columns = 1;
  return part;
}

Result<HostPrograms> compile_outer(const TrainingSpec& spec, const cpu::Runtime& runtime) {
  auto segments = make_segments(spec);
  if (!segments) return propagate(segments);
  // What one piece keeps is as large as its logits; of many it would be all that pieces save. They
  // make it again, while the devices work.
  const bool cut = head_pieces(spec) > 1;
  const HeadParts head = split_head(segments->head, cut ? Keeping::nothing : Keeping::products);
  HostPrograms programs;
  for (std::size_t i = 2; i < head.input.outputs.size(); ++i) {
    programs.kept.push_back(head.input.type(head.input.outputs[i]));
  }
  const auto make = [&](Program& into, const graph::Graph& graph,
                        std::size_t first_sum = SIZE_MAX) -> Status {
    auto program = Program::compile(graph, runtime, first_sum);
    if (!program) return propagate(program);
    into = std::move(*program);
    return {};
  };
  auto ok = make(programs.embed, segments->embed);
  if (ok) ok = make(programs.head, head.input);
  if (ok) ok = make(programs.head_evaluate, segments->head_evaluate);
  const bool trains_head = !head.parameters.outputs.empty();
  const bool trains_embedding = !segments->embed_backward.outputs.empty();
  if (ok && trains_head) ok = make(programs.first.head, head.parameters);
  // What is shared has the head's part already.
  const std::size_t first_sum = make_parameter_table(spec.model, spec.positions()).own_embedding();
  if (ok && trains_embedding) ok = make(programs.first.embed, segments->embed_backward, first_sum);
  if (ok && (spec.accumulation > 1 || cut)) {
    HostBackward& more = programs.more.emplace();
    if (trains_head) ok = make(more.head, head.parameters, 0);
    if (ok && trains_embedding) ok = make(more.embed, segments->embed_backward, 0);
  }
  if (!ok) return propagate(ok);
  return programs;
}

class HostOuterLayers final : public OuterLayers {
 public:
  HostOuterLayers(Device& device, const TrainingSpec& part, const ModelState& state,
                  std::unique_ptr<cpu::Runtime> runtime, HostPrograms programs, Memory memory)
      : device_(device),
        part_(part),
        table_(state.table),
        flat_(state.flat),
        runtime_(std::move(runtime)),
        programs_(std::move(programs)),
        memory_(std::move(memory)),
        x_type_{graph::Element::f32, {part.batch_size, part.block_size, part.model.width}},
        columns_(static_cast<std::size_t>(part.columns)),
        zeros_(columns_ > 1 ? part_bytes() : 0),
        ids_(static_cast<std::size_t>(part.ranks * part.batch_size * part.block_size)),
        targets_(part.weighted ? ids_.size() : 0),
        weights_(targets_.size()),
        pieces_(static_cast<std::size_t>(head_pieces(whole_batch(part)))),
        trains_head_(!table_.trained(table_.head).empty()),
        trains_embedding_(!table_.trained(table_.embedding).empty()),
        call_(state, memory_.data()) {
    std::byte* next = memory_.data() + programs_.workspace_bytes();
    const std::size_t x_bytes = cpu::aligned(part_bytes() * rows());
    x_ = std::exchange(next, next + x_bytes);
    dx_ = std::exchange(next, next + x_bytes);
    for (const graph::Type& type : programs_.kept) {
      kept_.push_back(std::exchange(next, next + cpu::buffer_bytes(type)));
    }
  }

  Result<Shards> embed(const BatchTokens& tokens) override {
    host_.wait();
    gather_ids(tokens);
    host_.run([this] {
      call_.in(ids_.data());
      call_.in_parameters(table_.embedding, programs_.embed);
      call_.out(x_);
      call_.run(programs_.embed);
    });
    return upload_parts(x_);
  }

  Result<Shards> head(const BatchTokens& tokens, const Shards& x,
                      const BatchOfStep& batch) override {
    host_.wait();
    gather_predictions(tokens);
    if (auto ok = download_parts(x, x_); !ok) return propagate(ok);
    host_.run([this] {
      for (std::size_t piece = 0; piece < pieces_; ++piece) {
        add_head_inputs(programs_.head, piece);
        call_.out(&loss_);
        call_.out(dx_ + piece * piece_bytes());
        for (std::byte* kept : kept_) call_.out(kept);
        call_.run(programs_.head);
        losses_ += static_cast<double>(loss_);
      }
    });
    auto dx = upload_summands(dx_);
    if (!trains_head_) return dx;
    host_.start([this, first = batch.first] {
      for (std::size_t piece = 0; piece < pieces_; ++piece) {
        Program& program = (first && piece == 0 ? programs_.first : *programs_.more).head;
        add_head_inputs(program, piece);
        for (const std::byte* kept : kept_) call_.in(kept);
        call_.out_gradients(table_.head);
        call_.run(program);
      }
    });
    return dx;
  }

  Status embed_backward(const BatchTokens& tokens, const Shards& dx,
                        const BatchOfStep& batch) override {
    if (!trains_embedding_) return {};
    host_.wait();
    gather_ids(tokens);
    if (auto ok = download_summands(dx, dx_); !ok) return ok;
    host_.start([this, first = batch.first] {
      Program& program = (first ? programs_.first : *programs_.more).embed;
      call_.in(ids_.data());
      call_.in(dx_);
      call_.out_gradients(table_.embedding);
      call_.run(program);
    });
    return {};
  }

  Status finish(Shards& /*squares*/, optim::AdamW& optimizer) override {
    host_.run([&] {
      for (const optim::Group& group : rate_runs(table_, part_, RunsOf::outer)) {
        optimizer.add_to_norm(flat_.gradients().subspan(group.begin, group.end - group.begin));
      }
    });
    return {};
  }

  Result<double> take_loss() override { return std::exchange(losses_, 0); }

  Result<std::optional<Shards>> clip(const Shards& /*squares*/) override { return std::nullopt; }

  Status begin_update(optim::AdamW& optimizer, std::int64_t t, const Shards* /*clip*/) override {
    host_.start([this, &optimizer, t] {
      optimizer.step(
          {flat_.parameters(), flat_.gradients(), flat_.mean(), flat_.variance(), flat_.packed()},
          t);
    });
    return {};
  }
  Status end_update() override {
    host_.wait();
    return {};
  }

  Result<double> evaluate(const BatchTokens& tokens, const Shards& x) override {
    host_.wait();
    gather_predictions(tokens);
    if (auto ok = download_parts(x, x_); !ok) return propagate(ok);
    double sum = 0;
    host_.run([this, &sum] {
      for (std::size_t piece = 0; piece < pieces_; ++piece) {
        add_head_inputs(programs_.head_evaluate, piece);
        call_.out(&loss_);
        call_.run(programs_.head_evaluate);
        sum += static_cast<double>(loss_);
      }
    });
    return sum;
  }

  // It works on the host's arrays themselves.
  Status upload() override {
    for (const std::size_t i : table_.trained(table_.head)) {
      const ParameterInfo& info = table_.infos[i];
      flat_.pack(info.offset, info.offset + info.size());
    }
    return {};
  }
  Status download() override {
    host_.wait();
    return {};
  }

  // The host has the only copy.
  Status add_checksum(std::size_t /*device*/, std::vector<std::byte>& /*scratch*/,
                      std::uint64_t& /*checksum*/) const override {
    return {};
  }

  [[nodiscard]] std::size_t arena_bytes() const override { return memory_.size(); }

 private:
  [[nodiscard]] std::size_t part_bytes() const {
    return static_cast<std::size_t>(graph::element_count(x_type_.shape)) * sizeof(float);
  }

  // Of x in one of the head's pieces.
  [[nodiscard]] std::size_t piece_bytes() const { return part_bytes() * rows() / pieces_; }
  [[nodiscard]] std::size_t rows() const { return device_.count() / columns_; }

  void gather_ids(const BatchTokens& tokens) {
    auto* next = ids_.data();
    for (const TokenBatch& part : tokens) next = std::copy(part.ids.begin(), part.ids.end(), next);
  }
  void gather_predictions(const BatchTokens& tokens) {
    if (!part_.weighted) return gather_ids(tokens);
    const std::size_t each = ids_.size() / tokens.size();
    for (std::size_t d = 0; d < tokens.size(); ++d) {
      set_predictions(tokens[d], part_.block_size, part_.block_size,
                      std::span(targets_).subspan(d * each, each),
                      std::span(weights_).subspan(d * each, each));
    }
  }

  Result<Shards> upload_parts(const std::byte* whole) {
    std::vector<const void*> parts;
    for (std::size_t d = 0; d < device_.count(); ++d) {
      parts.push_back(whole + d / columns_ * part_bytes());
    }
    return device_.upload(x_type_, parts);
  }
  // Of a gradient, which the devices of a row have summands of: the first has it all.
  Result<Shards> upload_summands(const std::byte* whole) {
    std::vector<const void*> parts;
    for (std::size_t d = 0; d < device_.count(); ++d) {
      const bool first = d % columns_ == 0;
      parts.push_back(first ? whole + d / columns_ * part_bytes() : zeros_.data());
    }
    return device_.upload(x_type_, parts);
  }
  // Of each row what its first device has.
  Status download_parts(const Shards& value, std::byte* whole) {
    for (std::size_t row = 0; row < rows(); ++row) {
      const std::span part(whole + row * part_bytes(), part_bytes());
      if (auto ok = trainer::download(value, part, row * columns_); !ok) return ok;
    }
    return {};
  }
  Status download_summands(const Shards& value, std::byte* whole) {
    if (auto ok = download_parts(value, whole); !ok) return ok;
    std::vector<float> more(columns_ > 1 ? part_bytes() / sizeof(float) : 0);
    for (std::size_t d = 0; d < device_.count(); ++d) {
      if (d % columns_ == 0) continue;
      auto ok = trainer::download(value, std::as_writable_bytes(std::span(more)), d);
      if (!ok) return ok;
      auto* sum = reinterpret_cast<float*>(whole + d / columns_ * part_bytes());
      for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
    }
    return {};
  }

  void add_head_inputs(const Program& head, std::size_t piece) {
    if (part_.weighted) {
      const std::size_t rows = targets_.size() / pieces_;
      call_.in(targets_.data() + piece * rows);
      call_.in(weights_.data() + piece * rows);
    } else {
      call_.in(ids_.data());
    }
    call_.in(x_ + piece * piece_bytes());
    call_.in_parameters(table_.head, head);
  }

  Device& device_;
  TrainingSpec part_;
  const ParameterTable& table_;
  const FlatMemory& flat_;
  std::unique_ptr<cpu::Runtime> runtime_;
  HostPrograms programs_;
  Memory memory_;
  graph::Type x_type_;  // of one device
  std::size_t columns_;
  std::vector<std::byte> zeros_;  // like x, where a row has several devices
  std::vector<std::int32_t> ids_;
  // What the head predicts, where that has weights.
  std::vector<std::int32_t> targets_;
  std::vector<float> weights_;
  std::size_t pieces_;  // in which a batch goes through the head
  bool trains_head_, trains_embedding_;
  ProgramCall call_;
  std::byte* x_ = nullptr;
  std::byte* dx_ = nullptr;
  std::vector<std::byte*> kept_;
  float loss_ = 0;  // of the last piece
  double losses_ = 0;
  HostThread host_;  // last: what runs on it uses everything above
};

}  // namespace

Result<std::unique_ptr<OuterLayers>> make_host_outer_layers(Device& device,
                                                            const TrainingSpec& part,
                                                            const ModelState& state) {
  auto runtime = cpu::Runtime::create(part.threads);
  if (!runtime) return propagate(runtime);
  const TrainingSpec whole = whole_batch(part);
  auto programs = compile_outer(whole, **runtime);
  if (!programs) return propagate(programs);
  const graph::Type x{graph::Element::f32, {whole.batch_size, whole.block_size, whole.model.width}};
  std::size_t bytes = programs->workspace_bytes() + 2 * cpu::buffer_bytes(x);
  for (const graph::Type& type : programs->kept) bytes += cpu::buffer_bytes(type);
  auto memory = Memory::allocate(bytes);
  if (!memory) return propagate(memory);
  return std::make_unique<HostOuterLayers>(device, part, state, std::move(*runtime),
                                           std::move(*programs), std::move(*memory));
}

}  // namespace trainward::trainer
