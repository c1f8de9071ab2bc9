// Runs a program on one chip or on several.
//
// Arguments are read where they are, results written into fresh memory; no buffer takes over
// another's (the real plugin ignores donation). The values are there when the call returns, and
// ready when the chips' clocks say so (timelines.hpp).
#include <algorithm>
#include <memory>

#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"
#include "trainer/n300_sim/plugin/plugin_elements.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;
using Buffers = std::vector<std::unique_ptr<abi::Buffer>>;

Answer<void> check_arguments(const abi::LoadedExecutable_Execute_Args& args) {
  const abi::LoadedExecutable& executable = *args.executable;
  if (!executable.program) return fail_internally("the executable has been deleted");
  if (args.num_devices != executable.devices.size()) {
    return fail_internally(
        fmt::format("Requested number of devices to run the executable on ({}) doesn't match the "
                    "compiler estimated number of devices ({})",
                    args.num_devices, executable.devices.size()));
  }
  const std::vector<graph::Type>& wanted = executable.image->parameters;
  if (args.num_args != wanted.size()) {
    return fail_internally(
        fmt::format("Requested number of arguments to provide to the executable ({}) doesn't match "
                    "the compiler estimated number of input tensors ({})",
                    args.num_args, wanted.size()));
  }
  for (std::size_t d = 0; d < args.num_devices; ++d) {
    for (std::size_t k = 0; k < args.num_args; ++k) {
      const abi::Buffer& argument = *args.argument_lists[d][k];
      if (argument.device != executable.devices[d]) {
        return fail_internally(fmt::format("argument {} is not on device {}", k, d));
      }
      if (!argument.block) {
        return fail_internally(fmt::format("argument {} has been deleted", k));
      }
      if (argument.type != wanted[k]) {
        return fail_internally(fmt::format("argument {} is {} instead of {}", k,
                                           graph::to_string(argument.type),
                                           graph::to_string(wanted[k])));
      }
    }
  }
  return {};
}

Answer<Buffers> make_results(const abi::LoadedExecutable& executable, std::size_t d) {
  Buffers results;
  for (const graph::Type& type : executable.image->outputs) {
    auto block = executable.machine->allocate(d, device_bytes(type), stored_bytes(type));
    if (!block) return pass_on(block);
    results.push_back(std::make_unique<abi::Buffer>(executable.machine, executable.devices[d], type,
                                                    *std::move(block)));
  }
  return results;
}

// All the devices' memory for one run.
struct Run {
  std::vector<Buffers> results;
  std::vector<DeviceBlock> temporaries;
  std::vector<Lane> lanes;
};

Answer<Run> prepare(const abi::LoadedExecutable_Execute_Args& args) {
  const abi::LoadedExecutable& executable = *args.executable;
  const StagedProgram& program = *executable.program;
  Run run;
  for (std::size_t d = 0; d < args.num_devices; ++d) {
    auto results = make_results(executable, d);
    if (!results) return pass_on(results);
    // A chip needs room for all that is computed on the way; on the host one workspace will do.
    auto temporaries = executable.machine->allocate(
        d, program.temporary_bytes() + program.workspace_bytes(), program.temporary_bytes());
    if (!temporaries) return pass_on(temporaries);
    Lane lane;
    for (std::size_t k = 0; k < args.num_args; ++k) {
      lane.parameters.push_back(args.argument_lists[d][k]->block->data());
    }
    for (const auto& result : *results) lane.outputs.push_back(result->block->data());
    lane.temporaries = temporaries->data();
    run.lanes.push_back(std::move(lane));
    run.results.push_back(*std::move(results));
    run.temporaries.push_back(*std::move(temporaries));
  }
  return run;
}

// Of each device, when the last of its arguments is.
std::vector<Instant> ready_arguments(const abi::LoadedExecutable_Execute_Args& args) {
  std::vector<Instant> ready(args.num_devices);
  for (std::size_t d = 0; d < args.num_devices; ++d) {
    for (std::size_t k = 0; k < args.num_args; ++k) {
      ready[d] = std::max(ready[d], args.argument_lists[d][k]->ready);
    }
  }
  return ready;
}

void turn_over(const Run& run, const Machine::BitFlip& flip) {
  if (flip.chip >= run.results.size() || run.results[flip.chip].empty()) return;
  const abi::Buffer& result = *run.results[flip.chip].front();
  const auto bits = static_cast<std::int64_t>(stored_bytes(result.type)) * 8;
  const std::int64_t bit = flip.bit % bits;
  result.block->data()[bit / 8] ^= static_cast<std::byte>(1U << static_cast<unsigned>(bit % 8));
}

Answer<void> run(abi::LoadedExecutable_Execute_Args& args) {
  abi::LoadedExecutable& executable = *args.executable;
  executable.machine->catch_up();
  const Instant began = Instant::clock::now();
  auto flips = executable.machine->before(executable.image->name);
  if (!flips) return pass_on(flips);
  auto prepared = prepare(args);
  if (!prepared) return pass_on(prepared);
  auto workspace = executable.machine->workspace(executable.program->workspace_bytes());
  if (!workspace)
    return fail_internally(fmt::format("std::bad_alloc: {}", workspace.error().message()));
  const auto times = executable.program->run(prepared->lanes, *workspace);
  std::vector<Instant> ready = ready_arguments(args);
  executable.machine->timelines().add(began, times, ready);
  for (const Machine::BitFlip& flip : *flips) turn_over(*prepared, flip);
  for (std::size_t d = 0; d < args.num_devices; ++d) {
    for (std::size_t k = 0; k < prepared->results[d].size(); ++k) {
      prepared->results[d][k]->ready = ready[d];
      args.output_lists[d][k] = prepared->results[d][k].release();
    }
    if (args.device_complete_events != nullptr) {
      args.device_complete_events[d] = make_event(*executable.machine, ready[d]);
    }
  }
  return {};
}

Answer<void> execute(abi::LoadedExecutable_Execute_Args& args) {
  Machine& machine = *args.executable->machine;
  if (auto ok = machine.check_thread(); !ok) return ok;
  if (auto ok = machine.check_open(); !ok) return ok;
  if (auto ok = check_arguments(args); !ok) return ok;
  auto done = run(args);
  // The real runtime closes the mesh device on any exception: nothing on it can be used again.
  if (!done && done.error().code == abi::Error_Code_INTERNAL) machine.close();
  return done;
}

}  // namespace

void bind_execute_calls(abi::Api& api) { api.LoadedExecutable_Execute = entry<&execute>; }

}  // namespace trainward::n300
