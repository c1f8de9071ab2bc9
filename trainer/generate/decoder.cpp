#include "trainer/generate/decoder.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/generate/decode_programs.hpp"
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

std::size_t bytes_of(std::int64_t floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

// Of the model, with the weights as they are kept.
ParameterTable table_of(const ModelWeights& weights, std::int64_t context) {
  ParameterTable table = make_parameter_table(weights.model, context);
  for (std::size_t i = 0; i < table.infos.size(); ++i) {
    if (table.infos[i].role != Role::table) table.infos[i].element = weights.values[i].element;
  }
  return table;
}

Result<Memory> make_tables(const ModelSpec& model, const ParameterTable& table,
                           std::vector<const void*>& places) {
  std::int64_t elements = 0;
  for (const std::size_t i : table.tables) {
    elements += aligned(static_cast<std::int64_t>(table.infos[i].size()));
  }
  auto memory = Memory::allocate(bytes_of(std::max<std::int64_t>(elements, 1)));
  if (!memory) return memory;
  auto* at = reinterpret_cast<float*>(memory->data());
  for (const std::size_t i : table.tables) {
    const ParameterInfo& info = table.infos[i];
    architecture_of(model).fill_table(model, info, {at, info.size()});
    places[i] = at;
    at += aligned(static_cast<std::int64_t>(info.size()));
  }
  return memory;
}

}  // namespace

std::int64_t longest_text(const ModelSpec& model) {
  const std::int64_t window = model.window;
  if (window == 0 || model.positions == 0) return std::max(window, model.positions);
  return std::min(window, model.positions);
}

struct Decoder::State {
  ModelSpec model;
  std::int64_t context = 0;
  ParameterTable table;
  std::vector<const void*> places;  // of the weights, and of the tables
  std::unique_ptr<cpu::Runtime> runtime;
  DecodePrograms many, one;
  Memory tables, cache, rows, workspace;
  std::int64_t seen = 0;

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
    return 2 * aligned(chunk * model.width) + aligned(chunk * one.query_row) +
           aligned(chunk * key_row()) + aligned(chunk * value_row()) +
           aligned(model.padded_vocabulary());
  }
  [[nodiscard]] Rows take_rows() const {
    auto* at = reinterpret_cast<float*>(rows.data());
    const auto take = [&](std::int64_t elements) {
      float* place = at;
      at += aligned(elements);
      return place;
    };
    return {take(chunk * model.width), take(chunk * model.width), take(chunk * one.query_row),
            take(chunk * key_row()),   take(chunk * value_row()), take(model.padded_vocabulary())};
  }

  Status prepare(const ModelWeights& weights, int threads) {
    for (const ModelWeights::Value& value : weights.values) places.push_back(value.data);
    auto made = cpu::Runtime::create(threads);
    if (!made) return propagate(made);
    runtime = *std::move(made);
    for (const auto& [size, programs] : {std::pair(chunk, &many), {1, &one}}) {
      auto compiled = compile_decoding(model, table, size, context, *runtime);
      if (!compiled) return propagate(compiled);
      *programs = *std::move(compiled);
    }
    auto filled = make_tables(model, table, places);
    if (!filled) return propagate(filled);
    tables = *std::move(filled);
    return allocate();
  }

  Status allocate() {
    for (const auto& [memory, bytes] :
         {std::pair(&cache, bytes_of(model.layers * layer_elements())),
          {&rows, bytes_of(row_elements())},
          {&workspace, std::max(many.workspace_bytes(), one.workspace_bytes())}}) {
      auto got = Memory::allocate(bytes);
      if (!got) return propagate(got);
      *memory = *std::move(got);
    }
    return {};
  }

  void run(Program& program, std::vector<const void*> inputs, const Places& parameters,
           const std::vector<void*>& outputs) {
    for (const std::size_t i : parameters) inputs.push_back(places[i]);
    program.run(inputs, outputs, workspace.data());
  }

  // Takes in `programs.rows` tokens; where their last row is left.
  float* step(DecodePrograms& programs, const std::int32_t* tokens) {
    const std::int64_t n = programs.rows;
    Rows r = take_rows();
    const auto first = static_cast<std::int32_t>(seen);
    run(programs.embed, {tokens, &first}, table.embedding, {r.x});
    Program& attend = programs.attend_for(seen + n);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
      const auto parameters = table.block(static_cast<std::size_t>(layer));
      run(programs.project, {r.x, &first}, parameters, {r.q, r.k, r.v});
      std::copy_n(r.k, n * key_row(), keys(layer) + seen * key_row());
      std::copy_n(r.v, n * value_row(), values(layer) + seen * value_row());
      run(attend, {r.x, r.q, keys(layer), values(layer), &first}, parameters, {r.y});
      std::swap(r.x, r.y);
    }
    seen += n;
    return r.x + (n - 1) * model.width;
  }

  const float* logits(const float* row) {
    const Rows r = take_rows();
    run(one.head, {row}, table.head, {r.logits});
    return r.logits;
  }
};

Decoder::Decoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Decoder::~Decoder() = default;

std::int64_t Decoder::seen() const { return state_->seen; }
std::int64_t Decoder::context() const { return state_->context; }
std::int64_t Decoder::vocabulary() const { return state_->model.vocabulary; }
void Decoder::go_back_to(std::int64_t tokens) {
  State& s = *state_;
  const std::int64_t left = std::clamp<std::int64_t>(tokens, 0, s.seen);
  // A value that is no number would reach later texts, even with a share of zero.
  for (std::int64_t layer = 0; layer < s.model.layers; ++layer) {
    std::fill_n(s.values(layer) + left * s.value_row(), (s.seen - left) * s.value_row(), 0.0F);
  }
  s.seen = left;
}
std::size_t Decoder::bytes() const {
  return state_->tables.size() + state_->cache.size() + state_->rows.size() +
         state_->workspace.size();
}

Result<std::unique_ptr<Decoder>> Decoder::make(const ModelWeights& weights, std::int64_t context,
                                               int threads) {
  if (context < 1) return fail(ErrorKind::usage, "the context needs room for a token");
  const std::int64_t longest = longest_text(weights.model);
  if (longest > 0 && context > longest) {
    return fail(ErrorKind::usage,
                fmt::format("a text of {} tokens is longer than the {} positions of the model",
                            context, longest),
                {}, "ask for fewer tokens, or shorten the prompt");
  }
  auto state = std::make_unique<State>();
  state->model = weights.model;
  state->context = context;
  state->table = table_of(weights, context);
  if (auto ok = state->prepare(weights, threads); !ok) return propagate(ok);
  return std::unique_ptr<Decoder>(new Decoder(std::move(state)));
}

Result<std::span<const float>> Decoder::advance(std::span<const std::int32_t> tokens) {
  State& s = *state_;
  if (tokens.empty()) return fail(ErrorKind::usage, "there is no token to continue from");
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
  const float* last = nullptr;
  while (!tokens.empty()) {
    DecodePrograms& programs = static_cast<std::int64_t>(tokens.size()) >= chunk ? s.many : s.one;
    last = s.step(programs, tokens.data());
    tokens = tokens.subspan(static_cast<std::size_t>(programs.rows));
  }
  // Of all rows, only the last is asked for.
  return std::span<const float>(s.logits(last), static_cast<std::size_t>(s.model.vocabulary));
}

}  // namespace trainward::trainer
