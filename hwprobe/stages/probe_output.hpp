// The output of another program as readings: the body of a stage that runs it.
//
// In: the program's words (the first is looked up in PATH; no shell), its output limit. Out, as
// they come:
//   run = started        or `run ! ENOENT`, and nothing more
//   output = …           its standard output in pieces, never within a character
//   complaint = …        the end of its standard error, when there was any
//   exit = 0             its exit code, or `exit = signal 11`
// Call it in the child of a stage: the program ends with that child. Errors: output beyond
// the limit; no process could be created.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/stages/recorded_files.hpp"

namespace trainward::hwprobe {

Status emit_output(const std::vector<std::string>& words, std::size_t max_bytes, const Emit& emit);

struct ProgramOutput {
  std::string error;  // it could not be started
  std::string output;
  std::string complaint;
  std::string exit;  // empty: it was not seen to end
};

ProgramOutput program_output(std::span<const Reading> readings);

}  // namespace trainward::hwprobe
