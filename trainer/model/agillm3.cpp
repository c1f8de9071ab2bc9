#include "trainer/model/agillm3.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "trainer/cpu/memory.hpp"
#include "trainer/cpu/program.hpp"
#include "trainer/model/initialise.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/segments.hpp"
#include "trainer/model/state_views.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {
namespace {

using cpu::Memory;
using cpu::Program;

struct Programs {
  Program embed, block_forward, head, block_backward, embed_backward;

  [[nodiscard]] std::size_t workspace_bytes() const {
    return std::max({embed.workspace_bytes(), block_forward.workspace_bytes(),
                     head.workspace_bytes(), block_backward.workspace_bytes(),
                     embed_backward.workspace_bytes()});
  }
};

Result<Programs> compile(const Segments& segments, const cpu::Runtime& runtime) {
  Programs programs;
  const std::array<std::pair<const graph::Graph*, Program*>, 5> all{{
      {&segments.embed, &programs.embed},
      {&segments.block_forward, &programs.block_forward},
      {&segments.head, &programs.head},
      {&segments.block_backward, &programs.block_backward},
      {&segments.embed_backward, &programs.embed_backward},
  }};
  for (const auto& [graph, program] : all) {
    Result<Program> compiled = Program::compile(*graph, runtime);
    if (!compiled) return propagate(compiled);
    *program = *std::move(compiled);
  }
  return programs;
}

std::size_t bytes_of(const graph::Type& type) {
  const auto bytes = static_cast<std::size_t>(graph::element_count(type.shape)) * sizeof(float);
  return (bytes + cpu::alignment - 1) / cpu::alignment * cpu::alignment;
}

// The values that live from a layer's forward to its backward, and the two ends of a gradient.
struct Activations {
  Memory memory;
  std::vector<float*> x;                  // layers + 1: each block's input, and the last output
  std::vector<std::vector<float*>> kept;  // per layer
  std::array<float*, 2> dx{};
};

Result<Activations> allocate_activations(const Segments& segments, std::size_t layers) {
  const std::size_t x_bytes = bytes_of(segments.embed.type(segments.embed.outputs[0]));
  std::size_t kept_bytes = 0;
  for (const graph::Type& type : segments.kept) kept_bytes += bytes_of(type);
  Result<Memory> memory = Memory::allocate((layers + 3) * x_bytes + layers * kept_bytes);
  if (!memory) return propagate(memory);
  Activations result{*std::move(memory), {}, std::vector<std::vector<float*>>(layers), {}};
  std::byte* next = result.memory.data();
  const auto take = [&](std::size_t bytes) {
    auto* place = reinterpret_cast<float*>(next);
    next += bytes;
    return place;
  };
  for (std::size_t i = 0; i <= layers; ++i) result.x.push_back(take(x_bytes));
  for (float*& dx : result.dx) dx = take(x_bytes);
  for (std::vector<float*>& layer : result.kept) {
    for (const graph::Type& type : segments.kept) layer.push_back(take(bytes_of(type)));
  }
  return result;
}

class Agillm3 final : public Trainable {
 public:
  Agillm3(const TrainingSpec& spec, ParameterTable table, std::unique_ptr<cpu::Runtime> runtime,
          Programs programs, Activations activations, FlatMemory flat, Memory workspace)
      : spec_(spec),
        table_(std::move(table)),
        runtime_(std::move(runtime)),
        programs_(std::move(programs)),
        activations_(std::move(activations)),
        flat_(std::move(flat)),
        workspace_(std::move(workspace)),
        optimizer_({spec.weight_decay, spec.beta1, spec.beta2, spec.epsilon, spec.gradient_clip,
                    spec.warmup_steps},
                   {{0, table_.head_begin, spec.learning_rate},
                    {table_.head_begin, table_.elements, spec.head_learning_rate}},
                   table_.elements, spec.threads) {
    for (const ParameterInfo& info : table_.infos) {
      initialise(info, spec.seed, flat_.parameters().subspan(info.offset, info.size()));
    }
    inputs_.reserve(64);
    outputs_.reserve(64);
  }

  Result<StepResult> step(std::span<const std::int32_t> tokens) override {
    if (const Status status = check(tokens); !status) return tl::unexpected<Error>(status.error());
    optimizer_.forget_norm();
    forward(tokens);
    backward(tokens);
    const StepResult result{static_cast<double>(loss_), optimizer_.norm()};
    if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm)) {
      return fail(ErrorKind::permanent,
                  fmt::format("step {}: the loss is {} and the gradient norm {}", steps_done_ + 1,
                              result.loss, result.grad_norm),
                  {}, "go back to an older checkpoint, skip this data or lower the learning rate");
    }
    ++steps_done_;
    optimizer_.step({flat_.parameters(), flat_.gradients(), flat_.mean(), flat_.variance()},
                    steps_done_);
    return result;
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
    if (status) steps_done_ = steps_done;
    return status;
  }

  [[nodiscard]] std::int64_t parameter_count() const override { return table_.count; }
  [[nodiscard]] std::size_t arena_bytes() const override {
    return workspace_.size() + activations_.memory.size() + flat_.bytes();
  }

 private:
  Status check(std::span<const std::int32_t> tokens) const {
    const auto expected = static_cast<std::size_t>(spec_.batch_size * spec_.block_size);
    if (tokens.size() != expected) {
      return fail(ErrorKind::usage,
                  fmt::format("a step takes {} tokens, not {}", expected, tokens.size()));
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i] < 0 || tokens[i] >= spec_.model.vocabulary) {
        return fail(ErrorKind::usage,
                    fmt::format("token {} at position {} is outside the vocabulary of {}",
                                tokens[i], i, spec_.model.vocabulary));
      }
    }
    return {};
  }

  void add_parameters(std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      inputs_.push_back(flat_.parameters().data() + table_.infos[i].offset);
    }
  }
  void add_gradients(std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      outputs_.push_back(flat_.gradients().data() + table_.infos[i].offset);
    }
  }
  // Runs what inputs_ and outputs_ name, and clears them.
  void run(Program& program) {
    program.run(inputs_, outputs_, workspace_.data());
    inputs_.clear();
    outputs_.clear();
  }
  void add_to_norm(std::size_t first, std::size_t count) {
    const std::size_t begin = table_.infos[first].offset;
    const std::size_t end =
        first + count == table_.infos.size() ? table_.elements : table_.infos[first + count].offset;
    optimizer_.add_to_norm(flat_.gradients().subspan(begin, end - begin));
  }

  [[nodiscard]] std::size_t layers() const { return activations_.kept.size(); }

  void forward(std::span<const std::int32_t> tokens) {
    inputs_.push_back(tokens.data());
    add_parameters(table_.embedding(), 1);
    outputs_.push_back(activations_.x[0]);
    run(programs_.embed);
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      inputs_.push_back(activations_.x[layer]);
      add_parameters(table_.block(layer), block_parameters);
      outputs_.push_back(activations_.x[layer + 1]);
      for (float* kept : activations_.kept[layer]) outputs_.push_back(kept);
      run(programs_.block_forward);
    }
  }

  void backward(std::span<const std::int32_t> tokens) {
    auto [dy, dx] = activations_.dx;
    inputs_.push_back(tokens.data());
    inputs_.push_back(activations_.x[layers()]);
    add_parameters(table_.head(), head_parameters);
    outputs_.push_back(&loss_);
    outputs_.push_back(dy);
    add_gradients(table_.head(), head_parameters);
    run(programs_.head);
    add_to_norm(table_.head(), head_parameters);
    for (std::size_t layer = layers(); layer-- > 0;) {
      inputs_.push_back(activations_.x[layer]);
      add_parameters(table_.block(layer), block_parameters);
      for (float* kept : activations_.kept[layer]) inputs_.push_back(kept);
      inputs_.push_back(dy);
      outputs_.push_back(dx);
      add_gradients(table_.block(layer), block_parameters);
      run(programs_.block_backward);
      add_to_norm(table_.block(layer), block_parameters);
      std::swap(dx, dy);
    }
    inputs_.push_back(tokens.data());
    inputs_.push_back(dy);
    add_gradients(table_.embedding(), 1);
    run(programs_.embed_backward);
    add_to_norm(table_.embedding(), 1);
  }

  TrainingSpec spec_;
  ParameterTable table_;
  std::unique_ptr<cpu::Runtime> runtime_;
  Programs programs_;
  Activations activations_;
  FlatMemory flat_;
  Memory workspace_;
  optim::AdamW optimizer_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  float loss_ = 0;
  std::int64_t steps_done_ = 0;
};

}  // namespace

Result<std::unique_ptr<Trainable>> make_agillm3(const TrainingSpec& spec) {
  if (const Status status = check_spec(spec); !status) {
    return tl::unexpected<Error>(status.error());
  }
  Result<std::unique_ptr<cpu::Runtime>> runtime = cpu::Runtime::create(spec.threads);
  if (!runtime) return propagate(runtime);
  Result<Segments> segments =
      make_segments(spec.model, spec.batch_size, spec.block_size, spec.recompute);
  if (!segments) return propagate(segments);
  Result<Programs> programs = compile(*segments, **runtime);
  if (!programs) return propagate(programs);
  ParameterTable table = make_parameter_table(spec.model);
  Result<Activations> activations =
      allocate_activations(*segments, static_cast<std::size_t>(spec.model.layers));
  if (!activations) return propagate(activations);
  Result<FlatMemory> flat = FlatMemory::allocate(table.elements);
  if (!flat) return propagate(flat);
  Result<Memory> workspace = Memory::allocate(programs->workspace_bytes());
  if (!workspace) return propagate(workspace);
  return std::make_unique<Agillm3>(spec, std::move(table), *std::move(runtime),
                                   *std::move(programs), *std::move(activations), *std::move(flat),
                                   *std::move(workspace));
}

}  // namespace trainward::trainer
