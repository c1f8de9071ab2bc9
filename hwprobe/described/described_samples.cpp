#include <algorithm>

#include "hwprobe/described/described.hpp"

namespace trainward::hwprobe {
namespace {

// Beats of the management processor between two samples.
constexpr std::int64_t beats = 10;
constexpr double usual_power_limit_w = 100;

const ChipFacts* local_chip(const BoardFacts& facts) {
  const auto chip = std::find_if(facts.chips.begin(), facts.chips.end(),
                                 [](const ChipFacts& candidate) { return candidate.id == "L"; });
  return chip == facts.chips.end() ? nullptr : &*chip;
}

}  // namespace

Sample described_sample(const DescribedBoard& board, std::int64_t number) {
  Sample sample;
  sample.board = board.facts.serial;
  sample.present = !board.facts.off_bus;
  if (!sample.present) return sample;

  WatchPart part;
  std::int64_t beat = 0;
  std::int64_t correctable = 0;
  std::int64_t nonfatal = 0;
  std::int64_t fatal = 0;
  // Up to and with sample `number`, part by part.
  std::int64_t left = number + 1;
  for (std::size_t i = 0; i < std::max<std::size_t>(board.watch.size(), 1) && left > 0; ++i) {
    if (!board.watch.empty()) part = board.watch[i];
    const bool last = i + 1 >= board.watch.size();
    const std::int64_t here = last ? left : std::min(left, part.samples);
    if (part.heartbeat) beat += here * beats;
    correctable += here * part.aer_correctable;
    nonfatal += here * part.aer_nonfatal;
    fatal += here * part.aer_fatal;
    left -= here;
  }

  const ChipFacts* chip = local_chip(board.facts);
  sample.temperature_c = part.temperature_c;
  if (chip != nullptr) {
    if (!sample.temperature_c) sample.temperature_c = chip->temperature_c;
    sample.limit_c = chip->limit_c;
    if (chip->heartbeat == Heartbeat::alive) sample.heartbeat = beat;
    if (chip->heartbeat == Heartbeat::frozen) sample.heartbeat = 0;
  }
  sample.power_w = part.power_w;
  sample.power_limit_w = usual_power_limit_w;
  sample.clock_mhz = part.clock_mhz;
  sample.aer_correctable = correctable;
  sample.aer_nonfatal = nonfatal;
  sample.aer_fatal = fatal;
  return sample;
}

}  // namespace trainward::hwprobe
