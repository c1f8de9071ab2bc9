// Running a compiled segment on the flat arrays of a model: arguments are collected in the order of
// the graph, parameters by their places in the table.
//
// Borrows everything. One thread; allocates nothing after a few calls.
#pragma once

#include <vector>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/state_views.hpp"

namespace trainward::trainer {

class ProgramCall {
 public:
  ProgramCall(const ModelState& state, std::byte* workspace)
      : table_(state.table), flat_(state.flat), fixed_(state.fixed), workspace_(workspace) {}

  void in(const void* buffer) { inputs_.push_back(buffer); }
  void out(void* buffer) { outputs_.push_back(buffer); }
  // In f32 or packed as bf16, as the program that will be run takes them; frozen ones as they are.
  void in_parameters(const std::vector<std::size_t>& which, const cpu::Program& program);
  void out_gradients(const std::vector<std::size_t>& which);  // of those that are trained
  // Runs what was collected, and forgets it.
  void run(cpu::Program& program);

 private:
  const ParameterTable& table_;
  const FlatMemory& flat_;
  const FixedValues& fixed_;
  std::byte* workspace_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace trainward::trainer
