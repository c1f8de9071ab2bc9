#include "trainer/generate/decoder.hpp"

#include <algorithm>
#include <cstring>

#include "trainer/cpu/memory.hpp"
#include "trainer/cpu/program.hpp"
#include "trainer/generate/decode_segments.hpp"
#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

using cpu::Memory;
using cpu::Program;

// A prompt is read so many tokens at a time while it is long enough, then one by one.
constexpr std::int64_t chunk = 32;

std::int64_t aligned(std::int64_t elements) {
  constexpr auto unit = static_cast<std::int64_t>(cpu::alignment / sizeof(float));
  return (elements + unit - 1) / unit * unit;
}

struct DecodePrograms {
  Program embed, project, attend, head;
  std::int64_t rows = 0;
  std::int64_t key_row = 0;    // elements of one token's keys
  std::int64_t value_row = 0;  // and of its values

  [[nodiscard]] std::size_t workspace_bytes() const {
    return std::max({embed.workspace_bytes(), project.workspace_bytes(), attend.workspace_bytes(),
                     head.workspace_bytes()});
  }
};

Result<DecodePrograms> compile_decoding(const ModelSpec& model, std::int64_t rows,
                                        std::int64_t context, const cpu::Runtime& runtime) {
  auto segments = make_decode_segments(model, rows, context);
  if (!segments) return propagate(segments);
  DecodePrograms programs;
  programs.rows = rows;
  const auto row_of = [&](std::size_t output) {
    const graph::Graph& project = segments->project;
    return graph::element_count(project.type(project.outputs[output]).shape) / rows;
  };
  programs.key_row = row_of(1);
  programs.value_row = row_of(2);
  for (const auto& [graph, program] : {std::pair(&segments->embed, &programs.embed),
                                       {&segments->project, &programs.project},
                                       {&segments->attend, &programs.attend},
                                       {&segments->head, &programs.head}}) {
    auto compiled = Program::compile(*graph, runtime);
    if (!compiled) return propagate(compiled);
    *program = *std::move(compiled);
  }
  return programs;
}

tl::unexpected<Error> no_model(std::string what) {
  return fail(
      ErrorKind::usage, std::move(what), "model",
      fmt::format("text can be generated from checkpoints of {} models", architecture_titles()));
}

}  // namespace

Result<ModelSpec> model_of(const std::vector<checkpoint::TensorInfo>& tensors,
                           const json::object& facts, std::int64_t vocabulary) {
  const Shapes shapes = shapes_of(tensors);
  const Architecture* architecture = architecture_of(shapes);
  if (architecture == nullptr) return no_model("there is no embedding of a model known here");
  auto model = architecture->sizes(shapes, facts, vocabulary);
  if (!model) return model;
  const std::int64_t rows = shapes.find(architecture->token_embedding())->second[0];
  if (model->padded_vocabulary() != rows) {
    return no_model(fmt::format("it has {} rows for tokens, the tokenizer's {} ids need {}", rows,
                                vocabulary, model->padded_vocabulary()));
  }
  return model;
}

Result<ModelSpec> model_of(const checkpoint::Reader& checkpoint, std::int64_t vocabulary) {
  const auto facts = get_object(checkpoint.state().extra, model_facts);
  return model_of(checkpoint.model(), facts ? **facts : json::object(), vocabulary);
}

struct Decoder::State {
  ModelSpec model;
  std::int64_t context = 0;
  ParameterTable table;
  std::unique_ptr<cpu::Runtime> runtime;
  DecodePrograms many, one;
  Memory weights, cache, rows, workspace;
  std::int64_t seen = 0;

  [[nodiscard]] const float* weight(std::size_t i) const {
    return reinterpret_cast<const float*>(weights.data()) + table.infos[i].offset;
  }
  [[nodiscard]] std::int64_t key_row() const { return one.key_row; }
  [[nodiscard]] std::int64_t value_row() const { return one.value_row; }
  // Elements of a layer's cache: keys, then values.
  [[nodiscard]] std::int64_t layer_elements() const {
    return aligned(context * key_row()) + aligned(context * value_row());
  }
  [[nodiscard]] float* keys(std::int64_t layer) const {
    return reinterpret_cast<float*>(cache.data()) + layer * layer_elements();
  }
  [[nodiscard]] float* values(std::int64_t layer) const {
    return keys(layer) + aligned(context * key_row());
  }

  // What a few tokens are computed in: x twice, q, new keys, new values; and one row of logits.
  struct Rows {
    float *x, *y, *q, *k, *v, *logits;
  };
  [[nodiscard]] std::int64_t row_elements() const {
    return 2 * aligned(chunk * model.width) + 2 * aligned(chunk * key_row()) +
           aligned(chunk * value_row()) + aligned(model.padded_vocabulary());
  }
  [[nodiscard]] Rows take_rows() const {
    auto* at = reinterpret_cast<float*>(rows.data());
    const auto take = [&](std::int64_t elements) {
      float* place = at;
      at += aligned(elements);
      return place;
    };
    return {take(chunk * model.width), take(chunk * model.width), take(chunk * key_row()),
            take(chunk * key_row()),   take(chunk * value_row()), take(model.padded_vocabulary())};
  }

  void run(Program& program, std::vector<const void*> inputs, const Places& parameters,
           const std::vector<void*>& outputs) {
    for (const std::size_t i : parameters) inputs.push_back(weight(i));
    program.run(inputs, outputs, workspace.data());
  }

  // The logits of the last of `programs.rows` tokens.
  const float* step(DecodePrograms& programs, const std::int32_t* tokens) {
    const std::int64_t n = programs.rows;
    Rows r = take_rows();
    const auto first = static_cast<std::int32_t>(seen);
    run(programs.embed, {tokens, &first}, table.embedding, {r.x});
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
      const auto parameters = table.block(static_cast<std::size_t>(layer));
      run(programs.project, {r.x, &first}, parameters, {r.q, r.k, r.v});
      std::copy_n(r.k, n * key_row(), keys(layer) + seen * key_row());
      std::copy_n(r.v, n * value_row(), values(layer) + seen * value_row());
      run(programs.attend, {r.x, r.q, keys(layer), values(layer), &first}, parameters, {r.y});
      std::swap(r.x, r.y);
    }
    seen += n;
    // Only the last row is asked for.
    run(one.head, {r.x + (n - 1) * model.width}, table.head, {r.logits});
    return r.logits;
  }
};

Decoder::Decoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Decoder::~Decoder() = default;

Result<std::unique_ptr<Decoder>> Decoder::make(const checkpoint::Reader& checkpoint,
                                               const ModelSpec& model, std::int64_t context,
                                               int threads) {
  if (context < 1) return fail(ErrorKind::usage, "the context needs room for a token");
  if (model.positions > 0 && context > model.positions) {
    return fail(ErrorKind::usage,
                fmt::format("a text of {} tokens is longer than the {} positions of the model",
                            context, model.positions),
                {}, "ask for fewer tokens, or shorten the prompt");
  }
  auto state = std::make_unique<State>();
  state->model = model;
  state->context = context;
  state->table = make_parameter_table(model, context);
  auto runtime = cpu::Runtime::create(threads);
  if (!runtime) return propagate(runtime);
  state->runtime = *std::move(runtime);
  for (const auto& [rows, programs] : {std::pair(chunk, &state->many), {1, &state->one}}) {
    auto compiled = compile_decoding(model, rows, context, *state->runtime);
    if (!compiled) return propagate(compiled);
    *programs = *std::move(compiled);
  }
  const auto allocate = [](Memory& memory, std::size_t bytes) -> Status {
    auto got = Memory::allocate(bytes);
    if (!got) return propagate(got);
    memory = *std::move(got);
    return {};
  };
  const auto floats = [](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(float);
  };
  auto ok = allocate(state->weights, state->table.elements * sizeof(float));
  if (ok) ok = allocate(state->cache, floats(model.layers * state->layer_elements()));
  if (ok) ok = allocate(state->rows, floats(state->row_elements()));
  if (ok) {
    ok = allocate(state->workspace,
                  std::max(state->many.workspace_bytes(), state->one.workspace_bytes()));
  }
  if (!ok) return propagate(ok);
  std::vector<checkpoint::TensorTarget> targets;
  for (const ParameterInfo& info : state->table.infos) {
    const std::span<std::byte> bytes{state->weights.data() + info.offset * sizeof(float),
                                     info.size() * sizeof(float)};
    targets.push_back({{info.name, checkpoint::DType::f32, info.shape}, bytes});
  }
  if (ok = checkpoint.read_into(targets, {}); !ok) return propagate(ok);
  return std::unique_ptr<Decoder>(new Decoder(std::move(state)));
}

Result<std::span<const float>> Decoder::advance(std::span<const std::int32_t> tokens) {
  State& s = *state_;
  if (tokens.empty()) return fail(ErrorKind::usage, "there is no token to go on from");
  if (static_cast<std::int64_t>(tokens.size()) > s.context - s.seen) {
    return fail(ErrorKind::usage,
                fmt::format("{} more tokens do not fit a context of {}", tokens.size(), s.context));
  }
  for (const std::int32_t token : tokens) {
    if (token < 0 || token >= s.model.vocabulary) {
      return fail(ErrorKind::usage, fmt::format("token {} is outside the vocabulary of {}", token,
                                                s.model.vocabulary));
    }
  }
  const float* logits = nullptr;
  while (!tokens.empty()) {
    DecodePrograms& programs = static_cast<std::int64_t>(tokens.size()) >= chunk ? s.many : s.one;
    logits = s.step(programs, tokens.data());
    tokens = tokens.subspan(static_cast<std::size_t>(programs.rows));
  }
  return std::span<const float>(logits, static_cast<std::size_t>(s.model.vocabulary));
}

}  // namespace trainward::trainer
