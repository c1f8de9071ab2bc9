#include "trainer/model/cpu/programs.hpp"

#include <algorithm>

namespace trainward::trainer {
namespace {

using cpu::Program;

Status compile_into(Program& program, const graph::Graph& graph, const cpu::Runtime& runtime,
                    std::size_t first_sum = SIZE_MAX) {
  Result<Program> compiled = Program::compile(graph, runtime, first_sum);
  if (!compiled) return propagate(compiled);
  program = *std::move(compiled);
  return {};
}

// The loss and the gradients of activations are never added up.
Status compile_head(BackwardPrograms& programs, const Segments& segments, bool add,
                    const cpu::Runtime& runtime) {
  return compile_into(programs.head, segments.head, runtime, add ? 2 : SIZE_MAX);
}

// `own_embedding`: results of the embedding's backward to which the head has added nothing before.
Status compile_others(BackwardPrograms& programs, const Segments& segments, bool add,
                      std::size_t own_embedding, const cpu::Runtime& runtime) {
  auto ok = compile_into(programs.block, segments.block_backward, runtime, add ? 1 : SIZE_MAX);
  if (!ok || segments.embed_backward.outputs.empty()) return ok;
  return compile_into(programs.embed, segments.embed_backward, runtime, add ? 0 : own_embedding);
}

std::size_t largest(const BackwardPrograms& programs) {
  return std::max({programs.head.workspace_bytes(), programs.block.workspace_bytes(),
                   programs.embed.workspace_bytes()});
}

}  // namespace

std::size_t Programs::workspace_bytes() const {
  return std::max({embed.workspace_bytes(), block.workspace_bytes(),
                   block_evaluate.workspace_bytes(), head_evaluate.workspace_bytes(),
                   largest(first), rest ? largest(*rest) : 0});
}

Result<Programs> compile(const Segments& segments, const TrainingSpec& spec,
                         const cpu::Runtime& runtime) {
  Programs programs;
  const std::size_t own_embedding =
      make_parameter_table(spec.model, spec.positions()).own_embedding();
  const bool pieces = head_pieces(spec) > 1;
  auto ok = compile_into(programs.embed, segments.embed, runtime);
  if (ok) ok = compile_into(programs.block, segments.block_forward, runtime);
  if (ok) ok = compile_into(programs.block_evaluate, segments.block_evaluate, runtime);
  if (ok) ok = compile_into(programs.head_evaluate, segments.head_evaluate, runtime);
  if (ok) ok = compile_head(programs.first, segments, false, runtime);
  if (ok) ok = compile_others(programs.first, segments, false, own_embedding, runtime);
  if (ok && (spec.accumulation > 1 || pieces)) {
    ok = compile_head(programs.rest.emplace(), segments, true, runtime);
  }
  if (ok && spec.accumulation > 1) {
    ok = compile_others(*programs.rest, segments, true, own_embedding, runtime);
  }
  if (!ok) return propagate(ok);
  return programs;
}

std::size_t workspace_bytes(const std::vector<WidthPrograms>& widths) {
  std::size_t most = 0;
  for (const WidthPrograms& width : widths) {
    most = std::max(most, width.programs.workspace_bytes());
  }
  return most;
}

namespace {

Result<std::vector<WidthPrograms>> compile_widths(const Segments& segments,
                                                  const TrainingSpec& spec,
                                                  const cpu::Runtime& runtime) {
  constexpr std::int64_t narrowest = 32;
  constexpr std::int64_t most_halvings = 3;
  auto whole = compile(segments, spec, runtime);
  if (!whole) return propagate(whole);
  std::vector<WidthPrograms> widths;
  widths.push_back({spec, *std::move(whole)});
  // Packed rows are full.
  TrainingSpec narrow = spec;
  narrow.table_positions = spec.positions();
  for (std::int64_t i = 0; i < most_halvings && spec.weighted && !spec.segmented; ++i) {
    if (narrow.block_size % 2 != 0 || narrow.block_size / 2 < narrowest) break;
    narrow.block_size /= 2;
    auto cut = make_segments(narrow);
    if (!cut) return propagate(cut);
    auto programs = compile(*cut, narrow, runtime);
    if (!programs) return propagate(programs);
    widths.push_back({narrow, *std::move(programs)});
  }
  return widths;
}

}  // namespace

Result<CompiledStep> compile_step(TrainingSpec spec, const cpu::Runtime& runtime) {
  // Attention is one operation where the executor has it, and texts are longer than what it takes
  // at a time: all scores of shorter ones stay in the cache anyway.
  constexpr std::int64_t at_a_time = 64;
  const bool there = spec.precision == graph::Precision::f32 || runtime.multiplies_bf16();
  spec.fused_attention = there && spec.block_size > at_a_time;
  auto segments = make_segments(spec);
  if (!segments) return propagate(segments);
  auto widths = compile_widths(*segments, spec, runtime);
  if (!widths) return propagate(widths);
  return CompiledStep{spec, *std::move(segments), *std::move(widths)};
}

}  // namespace trainward::trainer
