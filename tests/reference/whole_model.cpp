#include "whole_model.hpp"

#include <algorithm>
#include <cmath>

#include "sgd.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/graph/differentiate.hpp"
#include "trainer/graph/passes.hpp"
#include "trainer/graph/products.hpp"
#include "trainer/model/training/initialise.hpp"
#include "trainer/model/training/state_views.hpp"

namespace trainward::trainer {

using graph::Value;

Result<ModelGraph> make_model_graph(const std::vector<Input>& inputs,
                                    std::vector<ParameterInfo> parameters,
                                    graph::Precision precision, const MakeLoss& loss) {
  graph::Builder b(precision);
  ModelGraph model;
  std::vector<Value> given;
  for (const Input& input : inputs) {
    given.push_back(b.parameter(input.name, input.type));
    model.inputs.push_back(input.name);
  }
  std::vector<Value> weights;
  weights.reserve(parameters.size());
  for (const ParameterInfo& info : parameters) {
    weights.push_back(b.parameter(info.name, {graph::Element::f32, info.shape}));
  }
  const Value result = loss(b, given, weights);
  std::vector<Value> outputs = graph::differentiate(b, result, weights);
  outputs.insert(outputs.begin(), result);
  Result<graph::Graph> step = b.finish(outputs);
  if (!step) return propagate(step);
  model.step = graph::pack_parameters(graph::simplify(graph::round_operands(*step)),
                                      [&](std::size_t k) { return k >= inputs.size(); });
  model.parameters = std::move(parameters);
  return model;
}

struct WholeModel::State {
  ParameterTable table;
  std::unique_ptr<cpu::Runtime> runtime;
  cpu::Program program;
  FlatMemory flat;
  cpu::Memory workspace;
  std::variant<Sgd, optim::AdamW> optimizer;
  std::vector<const void*> inputs;  // of the caller, then the parameters
  std::vector<void*> outputs;
  std::size_t given = 0;
  float loss = 0;
  std::int64_t steps_done = 0;
};

namespace {

double norm_of(std::span<const float> gradients) {
  double sum = 0;
  for (const float g : gradients) sum += static_cast<double>(g) * static_cast<double>(g);
  return std::sqrt(sum);
}

}  // namespace

WholeModel::WholeModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
WholeModel::~WholeModel() = default;

Result<std::unique_ptr<WholeModel>> WholeModel::make(ModelGraph graph, const Optimizer& optimizer,
                                                     std::uint64_t seed, int threads) {
  auto runtime = cpu::Runtime::create(threads);
  if (!runtime) return propagate(runtime);
  auto program = cpu::Program::compile(graph.step, **runtime);
  if (!program) return propagate(program);
  auto workspace = cpu::Memory::allocate(program->workspace_bytes());
  if (!workspace) return propagate(workspace);
  ParameterTable table = lay_out({.embedding = std::move(graph.parameters)}, 0);
  const auto is_packed = [&](Value parameter) {
    return graph.step.type(parameter).element == graph::Element::bf16;
  };
  auto flat = FlatMemory::allocate(
      table.elements,
      std::any_of(graph.step.parameters.begin(), graph.step.parameters.end(), is_packed));
  if (!flat) return propagate(flat);

  std::variant<Sgd, optim::AdamW> chosen = Sgd{};
  if (const auto* sgd = std::get_if<Sgd>(&optimizer)) {
    chosen = *sgd;
  } else {
    const auto& adam = std::get<AdamWithDecay>(optimizer);
    chosen.emplace<optim::AdamW>(adam.options,
                                 std::vector<optim::Group>{{0, table.elements, adam.learning_rate}},
                                 table.elements, threads);
  }
  auto state = std::make_unique<State>(State{std::move(table),
                                             *std::move(runtime),
                                             *std::move(program),
                                             *std::move(flat),
                                             *std::move(workspace),
                                             std::move(chosen),
                                             {},
                                             {},
                                             graph.inputs.size(),
                                             0,
                                             0});
  state->inputs.resize(state->given);
  state->outputs.push_back(&state->loss);
  for (const ParameterInfo& info : state->table.infos) {
    const auto values = state->flat.parameters().subspan(info.offset, info.size());
    initialise(info, seed, values);
    if (is_packed(graph.step.parameters[state->inputs.size()])) {
      state->inputs.push_back(state->flat.packed().data() + info.offset);
    } else {
      state->inputs.push_back(values.data());
    }
    state->outputs.push_back(state->flat.gradients().data() + info.offset);
  }
  state->flat.pack();
  return std::unique_ptr<WholeModel>(new WholeModel(std::move(state)));
}

Result<StepResult> WholeModel::step(std::span<const void* const> inputs) {
  State& s = *state_;
  if (inputs.size() != s.given) {
    return fail(ErrorKind::usage,
                fmt::format("a step takes {} inputs, not {}", s.given, inputs.size()));
  }
  std::copy(inputs.begin(), inputs.end(), s.inputs.begin());
  s.program.run(s.inputs, s.outputs, s.workspace.data());
  StepResult result{static_cast<double>(s.loss), 0};
  auto* adam = std::get_if<optim::AdamW>(&s.optimizer);
  if (adam != nullptr) {
    adam->forget_norm();
    adam->add_to_norm(s.flat.gradients());
    result.grad_norm = adam->norm();
  } else {
    result.grad_norm = norm_of(s.flat.gradients());
  }
  if (auto ok = check_finite(result, s.steps_done + 1); !ok) return propagate(ok);
  ++s.steps_done;
  if (adam != nullptr) {
    adam->step({s.flat.parameters(), s.flat.gradients(), s.flat.mean(), s.flat.variance(),
                s.flat.packed()},
               s.steps_done);
  } else {
    optim::sgd_step(s.flat.parameters(), s.flat.gradients(), s.flat.packed(),
                    static_cast<float>(std::get<Sgd>(s.optimizer).learning_rate),
                    s.runtime->threads());
  }
  return result;
}

const std::vector<ParameterInfo>& WholeModel::parameters() const { return state_->table.infos; }

std::span<const float> WholeModel::parameter(std::size_t i) const {
  const ParameterInfo& info = state_->table.infos[i];
  return state_->flat.parameters().subspan(info.offset, info.size());
}

void WholeModel::set_parameter(std::size_t i, std::span<const float> values) {
  const ParameterInfo& info = state_->table.infos[i];
  const std::size_t size = std::min(values.size(), info.size());
  std::copy_n(values.begin(), size, state_->flat.parameters().begin() + info.offset);
  state_->flat.pack();
}

std::span<const float> WholeModel::gradient(std::size_t i) const {
  const ParameterInfo& info = state_->table.infos[i];
  return state_->flat.gradients().subspan(info.offset, info.size());
}

std::size_t WholeModel::arena_bytes() const {
  return state_->workspace.size() + state_->flat.bytes();
}

}  // namespace trainward::trainer
