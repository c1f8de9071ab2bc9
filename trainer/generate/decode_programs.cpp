#include "trainer/generate/decode_programs.hpp"

#include <utility>

#include "trainer/generate/decode_segments.hpp"

namespace trainward::trainer {
namespace {

// Attention of a text of up to so many tokens costs the same; beyond, lengths double.
constexpr std::int64_t shortest_sight = 256;

Status compile(const graph::Graph& graph, const cpu::Runtime& runtime, cpu::Program& program) {
  auto compiled = cpu::Program::compile(graph, runtime);
  if (!compiled) return propagate(compiled);
  program = *std::move(compiled);
  return {};
}

}  // namespace

Result<DecodePrograms> compile_decoding(const ModelSpec& model, const ParameterTable& table,
                                        std::int64_t rows, std::int64_t context,
                                        const cpu::Runtime& runtime) {
  auto segments = make_decode_segments(model, table, rows);
  if (!segments) return propagate(segments);
  DecodePrograms programs;
  programs.rows = rows;
  const graph::Graph& project = segments->project;
  const auto row_of = [&](std::size_t output) {
    return graph::element_count(project.type(project.outputs[output]).shape) / rows;
  };
  programs.query_row = row_of(0);
  programs.key_row = row_of(1);
  programs.value_row = row_of(2);
  Status ok;
  for (const auto& [graph, program] : {std::pair(&segments->embed, &programs.embed),
                                       {&segments->project, &programs.project},
                                       {&segments->head, &programs.head}}) {
    if (ok) ok = compile(*graph, runtime, *program);
  }
  for (std::int64_t sight = std::min(shortest_sight, context); ok;
       sight = std::min(2 * sight, context)) {
    auto attend = make_attend_segment(model, table, *segments, sight);
    if (!attend) return propagate(attend);
    programs.attend.push_back({sight, {}});
    ok = compile(*attend, runtime, programs.attend.back().program);
    if (sight == context) break;
  }
  if (!ok) return propagate(ok);
  return programs;
}

}  // namespace trainward::trainer
