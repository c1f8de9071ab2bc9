// A program of one or more simulated devices, run on the CPU executor.
//
// Each device runs each stage in turn, in the order of the devices, and their sums are added up in
// that order: the results depend on nothing but the arguments and the thread count. Without sums
// over devices the one stage is the graph itself, and each device's results are those of
// cpu::Program to the bit. All memory is the caller's, as for cpu::Program. One thread at a time;
// the Runtime must outlive it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/n300_sim/stage_plan.hpp"
#include "trainer/n300_sim/timelines.hpp"

namespace trainward::n300 {

// One device's memory while a program runs.
struct Lane {
  std::vector<const void*> parameters;
  std::vector<void*> outputs;
  std::byte* temporaries = nullptr;  // temporary_bytes(), aligned to cpu::alignment
};

class StagedProgram {
 public:
  // Errors as cpu::Program::compile.
  static Result<StagedProgram> compile(const graph::Graph& graph, const cpu::Runtime& runtime);

  // `workspace` is for all lanes, who use it in turn. Gives what each stage took; each lane counts
  // as having taken as long as all of them.
  std::vector<StageTime> run(std::span<const Lane> lanes, std::byte* workspace);

  [[nodiscard]] std::size_t temporary_bytes() const { return temporary_bytes_; }
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }

 private:
  struct Compiled {
    std::vector<cpu::Program> program;  // one, or none where a stage computes nothing
    std::vector<Place> parameters;
    std::vector<Place> outputs;
    std::vector<DeviceSum> sums;
  };

  [[nodiscard]] const void* source(const Lane& lane, const Place& place) const;
  [[nodiscard]] void* target(const Lane& lane, const Place& place) const;
  void run_stage(Compiled& stage, const Lane& lane, std::byte* workspace);

  std::vector<Compiled> stages_;
  std::vector<std::size_t> offsets_;  // of the temporaries
  std::vector<Copy> copies_;
  std::size_t temporary_bytes_ = 0;
  std::size_t workspace_bytes_ = 0;
  std::vector<const void*> from_;  // reused by every run
  std::vector<void*> to_;
};

}  // namespace trainward::n300
