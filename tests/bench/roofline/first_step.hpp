// How soon a worker trains again: from the exec of the real program to the end of its first step,
// from a checkpoint that lies in the page cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace trainward::roofline {

struct FirstStepCase {
  std::string model;            // a preset
  std::int64_t vocabulary = 0;  // 0: that of bytes
  std::int64_t block_size = 64;
  std::int64_t batch_size = 1;
  int threads = 2;
  std::string plugin;             // of the device; empty: the CPU
  std::filesystem::path scratch;  // takes the checkpoint; everything made there is removed
};

struct FirstStep {
  double checkpoint_bytes = 0;
  double loaded_seconds = 0;  // to the start of training: the state is in place
  double step_seconds = 0;    // to the end of the first step
  double peak_bytes = 0;      // resident at most, by then
  int compiled = 0;           // programs that the cache of the run before did not hold
};

// Writes the checkpoint with the program itself, reads its files once, and starts it again from
// there. What goes wrong is printed, and ends the benchmark.
FirstStep measure_first_step(const FirstStepCase& which);

}  // namespace trainward::roofline
