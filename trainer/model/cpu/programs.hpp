// The segments of a training step, compiled for the CPU.
//
// The first backward of a step overwrites the gradients; the others, when several batches make one
// step or several pieces go through the head, add to them. Of weights that the head shares with the
// embedding, the embedding's part is added to the head's each time. One thread uses them at a time;
// the runtime must outlive them.
#pragma once

#include <optional>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {

struct BackwardPrograms {
  cpu::Program head, block, embed;
};

struct Programs {
  cpu::Program embed, block;
  cpu::Program block_evaluate, head_evaluate;
  BackwardPrograms first;
  // With accumulation; of the head also where a batch goes through it in pieces.
  std::optional<BackwardPrograms> rest;

  [[nodiscard]] std::size_t workspace_bytes() const;  // enough for each of them
};

Result<Programs> compile(const Segments& segments, const TrainingSpec& spec,
                         const cpu::Runtime& runtime);

// The programs for rows of one width.
struct WidthPrograms {
  TrainingSpec spec;  // block_size: the width
  Programs programs;
};

// A training step, compiled.
struct CompiledStep {
  TrainingSpec spec;  // as it is really computed
  Segments segments;  // of the widest
  // For the whole block, and for batches of examples that are short also for a half, a quarter and
  // an eighth of it; the widest first.
  std::vector<WidthPrograms> widths;
};
Result<CompiledStep> compile_step(TrainingSpec spec, const cpu::Runtime& runtime);
std::size_t workspace_bytes(const std::vector<WidthPrograms>& widths);  // enough for each of them

}  // namespace trainward::trainer
