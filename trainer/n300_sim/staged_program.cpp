#include "trainer/n300_sim/staged_program.hpp"

#include <algorithm>
#include <cstring>

#include "trainer/cpu/runtime/memory.hpp"

namespace trainward::n300 {
namespace {

// to[d][i] = from[0][i] + from[1][i] + …, added in that order, for every device d of a group. An
// array of `to` may be one of `from`, and overlaps no other. Uses the calling thread's OpenMP
// threads; what they are makes no difference to the result.
void sum_over_devices(std::span<const float* const> from, std::span<float* const> to,
                      std::int64_t elements) {
  const std::size_t devices = from.size();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < elements; ++i) {
    float sum = from[0][i];
    for (std::size_t d = 1; d < devices; ++d) sum += from[d][i];
    for (std::size_t d = 0; d < devices; ++d) to[d][i] = sum;
  }
}

}  // namespace

Result<StagedProgram> StagedProgram::compile(const graph::Graph& graph,
                                             const cpu::Runtime& runtime) {
  StagedProgram program;
  StagePlan plan = plan_stages(graph);
  // Alone, the graph is left as it came: cutting it out again might order its nodes otherwise.
  if (plan.stages.size() == 1) {
    Stage& only = plan.stages[0];
    only.graph = graph;
    only.parameters.clear();
    for (std::size_t k = 0; k < graph.parameters.size(); ++k) {
      only.parameters.push_back({Place::Home::parameter, k});
    }
    only.outputs.clear();
    for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
      only.outputs.push_back({Place::Home::output, k});
    }
  }
  for (Stage& stage : plan.stages) {
    Compiled compiled{{}, stage.parameters, stage.outputs, stage.sums};
    if (!stage.outputs.empty()) {
      auto part = cpu::Program::compile(stage.graph, runtime);
      if (!part) return propagate(part);
      program.workspace_bytes_ = std::max(program.workspace_bytes_, part->workspace_bytes());
      compiled.program.push_back(*std::move(part));
    }
    program.stages_.push_back(std::move(compiled));
  }
  for (const std::int64_t elements : plan.temporaries) {
    program.offsets_.push_back(program.temporary_bytes_);
    program.temporary_bytes_ +=
        cpu::aligned(static_cast<std::size_t>(elements) * cpu::element_bytes);
  }
  program.copies_ = std::move(plan.copies);
  return program;
}

const void* StagedProgram::source(const Lane& lane, const Place& place) const {
  return place.home == Place::Home::parameter ? lane.parameters[place.position]
                                              : target(lane, place);
}

// Only outputs and temporaries are written to.
void* StagedProgram::target(const Lane& lane, const Place& place) const {
  return place.home == Place::Home::output ? lane.outputs[place.position]
                                           : lane.temporaries + offsets_[place.position];
}

void StagedProgram::run_stage(Compiled& stage, const Lane& lane, std::byte* workspace) {
  from_.clear();
  for (const Place& place : stage.parameters) from_.push_back(source(lane, place));
  to_.clear();
  for (const Place& place : stage.outputs) to_.push_back(target(lane, place));
  stage.program[0].run(from_, to_, workspace);
}

std::vector<StageTime> StagedProgram::run(std::span<const Lane> lanes, std::byte* workspace) {
  std::vector<StageTime> times;
  for (Compiled& stage : stages_) {
    StageTime& time = times.emplace_back();
    if (!stage.program.empty()) {
      const Instant began = Instant::clock::now();
      for (const Lane& lane : lanes) run_stage(stage, lane, workspace);
      time.computing = Instant::clock::now() - began;
    }
    for (const DeviceSum& sum : stage.sums) {
      time.add({sum.over, sum.elements * static_cast<std::int64_t>(sizeof(float))});
      for (const auto& group :
           graph::groups_of(sum.over, static_cast<std::int64_t>(lanes.size()))) {
        std::vector<const float*> from;
        std::vector<float*> to;
        for (const std::int64_t device : group) {
          const Lane& lane = lanes[static_cast<std::size_t>(device)];
          from.push_back(static_cast<const float*>(source(lane, sum.from)));
          to.push_back(static_cast<float*>(target(lane, sum.to)));
        }
        sum_over_devices(from, to, sum.elements);
      }
    }
  }
  for (const Copy& copy : copies_) {
    for (const Lane& lane : lanes) {
      std::memcpy(lane.outputs[copy.to], lane.outputs[copy.from],
                  static_cast<std::size_t>(copy.elements) * sizeof(float));
    }
  }
  return times;
}

}  // namespace trainward::n300
