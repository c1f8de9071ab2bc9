// A host described in a YAML file instead of probed: for tests, and for the simulated device.
//
// In: the file (docs/config.md shows one). Out: the report that a real host in this state would
// give, with each board's `simulate` mapping passed through. Failure: the first problem of the file
// with its place, and how many more there are.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "hwprobe/source.hpp"
#include "hwprobe/watch/described_samples.hpp"

namespace trainward::hwprobe {

// What the file says, before any judgement.
Result<std::vector<DescribedBoard>> read_described(const std::filesystem::path& file);

class DescribedSource : public Source {
 public:
  explicit DescribedSource(std::filesystem::path file) : file_(std::move(file)) {}
  Result<Report> look() override;

 private:
  std::filesystem::path file_;
};

}  // namespace trainward::hwprobe
