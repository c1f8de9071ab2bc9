// A host described in a YAML file instead of probed: for tests, and for the simulated device.
//
// In: the file (docs/config.md shows one). Out: the report that a real host in this state would
// give, with each board's `simulate` mapping passed through, and simulated samples, so that
// watching can be tried without a card. Failure: the first problem of the file with its place, and
// how many more there are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hwprobe/report/report.hpp"
#include "hwprobe/tenstorrent/decode/facts.hpp"
#include "hwprobe/watch/sample.hpp"
#include "hwprobe/watch/watch_stream.hpp"

namespace trainward::hwprobe {

// A part of a run under `watch`: what is measured then, and for how many samples.
struct WatchPart {
  std::int64_t samples = 1;
  std::optional<double> temperature_c;  // unset: that of the chip
  double power_w = 45;
  std::int64_t clock_mhz = 1000;
  bool heartbeat = true;  // false: it stands still
  // Grown by so many with each sample.
  std::int64_t aer_correctable = 0;
  std::int64_t aer_nonfatal = 0;
  std::int64_t aer_fatal = 0;
};

// One board of a description, with what a look at it does not show.
struct DescribedBoard {
  BoardFacts facts;
  std::vector<WatchPart> watch;
};

// What the file says, before any judgement.
Result<std::vector<DescribedBoard>> read_described(const std::filesystem::path& file);

Result<Report> look_at_described(const std::filesystem::path& file);

// Sample `number`, from 0; the last part of `watch` lasts for ever. Without parts the board is
// steady: the temperature of its chip L, full clock, a heartbeat if it has one. Pure.
Sample described_sample(const DescribedBoard& board, std::int64_t number);

// Simulated samples of boards that the file describes, by serial or PCI address. Kind usage for one
// that it does not describe.
Result<std::vector<Sampler>> described_samplers(const std::filesystem::path& file,
                                                const std::vector<std::string>& boards);

}  // namespace trainward::hwprobe
