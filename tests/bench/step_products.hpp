// The matrix products of a training step, and nothing else of it: what the step would take if all
// the rest were free.
//
// Every product has the operands' sizes, strides and element types that it has in the step, those
// of attention in the executor's blocks, on memory of its own that holds halves. A model's blocks
// share one set of memory, so a part of what the step reads from the memory comes from a cache
// here: the figure is a bound. Errors: what compiling and allocating say.
#pragma once

#include <memory>
#include <vector>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {

// The products of a graph as a graph: operands are its parameters, results its outputs.
Result<graph::Graph> products_of(const graph::Graph& graph);

class StepProducts {
 public:
  static Result<StepProducts> of_segments(const TrainingSpec& spec);
  static Result<StepProducts> of_graph(const graph::Graph& step, int threads);

  void run();

 private:
  struct Part {
    cpu::Program program;
    std::int64_t times;
    std::vector<cpu::Memory> memory;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    std::byte* workspace;
  };
  Status add(const graph::Graph& graph, std::int64_t times);

  std::unique_ptr<cpu::Runtime> runtime_;  // outlives the programs
  std::vector<Part> parts_;
};

}  // namespace trainward::trainer
