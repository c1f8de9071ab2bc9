// A host described in a YAML file instead of probed: for tests, and for the simulated device.
//
// In: the file (docs/config.md shows one). Out: the report that a real host in this state would
// give, with each board's `simulate` mapping passed through. Failure: the first problem of the file
// with its place, and how many more there are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hwprobe/described/described_samples.hpp"
#include "hwprobe/report.hpp"
#include "hwprobe/watch/stream.hpp"

namespace trainward::hwprobe {

// What the file says, before any judgement.
Result<std::vector<DescribedBoard>> read_described(const std::filesystem::path& file);

Result<Report> look_at_described(const std::filesystem::path& file);

// Simulated samples of boards that the file describes, by serial or PCI address. Kind usage for one
// that it does not describe.
Result<std::vector<Sampler>> described_samplers(const std::filesystem::path& file,
                                                const std::vector<std::string>& boards);

}  // namespace trainward::hwprobe
