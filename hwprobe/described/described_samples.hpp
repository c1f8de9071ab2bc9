// Samples of a described board, which has nothing to measure: simulated values, so that watching
// can be tried without a card.
//
// In: the board's description; under `watch` it may name parts of a run, each with what is measured
// then and for how many samples. Out: the n-th sample; the last part lasts for ever. Without parts
// the board is steady: the temperature of its chip L, full clock, a heartbeat if it has one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hwprobe/tenstorrent/facts.hpp"
#include "hwprobe/watch/sample.hpp"

namespace trainward::hwprobe {

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

// `number` from 0.
Sample described_sample(const DescribedBoard& board, std::int64_t number);

}  // namespace trainward::hwprobe
