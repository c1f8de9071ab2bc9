#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hwprobe/tenstorrent/decode/versions.hpp"
#include "hwprobe/tenstorrent/judge/findings.hpp"

namespace trainward::hwprobe {
namespace {

constexpr double default_limit_c = 75;
// The user-mode driver waits as long for a processor to start.
constexpr std::chrono::seconds longest_boot{300};
constexpr std::string_view reset_it = "reset the board; if it stays, power-cycle the host";
constexpr std::string_view wait_for_it = "wait some minutes and look again";

Finding dead(std::string what, const BoardFacts& board) {
  if (telemetry_may_be_missing(board)) {
    return {Verdict::resetting, {std::move(what), std::string(wait_for_it)}};
  }
  return {Verdict::arc_dead, {std::move(what), std::string(reset_it)}};
}

void judge_processor(const ChipFacts& chip, const BoardFacts& board, Findings& findings) {
  switch (chip.arc) {
    case ArcState::watchdog:
      findings.push_back(dead(
          fmt::format("chip {}: the watchdog has ended its management processor", chip.id), board));
      return;
    case ArcState::no_firmware:
      findings.push_back(
          dead(fmt::format("chip {}: its management processor runs no firmware, post code {:#010x}",
                           chip.id, chip.post_code.value_or(0)),
               board));
      return;
    case ArcState::booting:
      if (board.since_reset && *board.since_reset >= longest_boot) {
        findings.push_back(
            dead(fmt::format("chip {}: its management processor still boots, {} s after a reset",
                             chip.id, board.since_reset->count()),
                 board));
      } else {
        findings.push_back({Verdict::resetting,
                            {fmt::format("chip {}: its management processor is booting", chip.id),
                             std::string(wait_for_it)}});
      }
      return;
    case ArcState::asleep:
      return;  // its heart need not beat
    case ArcState::unknown:
    case ArcState::running:
      break;
  }
  if (chip.heartbeat == Heartbeat::frozen) {
    findings.push_back(dead(
        fmt::format("chip {}: the heartbeat of its management processor stands still", chip.id),
        board));
  }
}

void judge_dram(const ChipFacts& chip, const BoardFacts& board, Findings& findings) {
  std::vector<std::size_t> bad;
  bool failed = false;
  for (std::size_t i = 0; i < chip.dram.size(); ++i) {
    if (chip.dram[i] == DramState::good) continue;
    bad.push_back(i);
    failed = failed || chip.dram[i] == DramState::failed;
  }
  if (bad.empty()) return;
  const bool wait = !failed && telemetry_may_be_missing(board);
  findings.push_back(
      {wait ? Verdict::resetting : Verdict::dram_bad,
       {fmt::format("chip {}: memory channel{} {} {}", chip.id, bad.size() == 1 ? "" : "s",
                    fmt::join(bad, ", "), failed ? "failed" : "did not train"),
        std::string(wait ? wait_for_it : "reset the board; if it stays, have it repaired")}});
}

void judge_heat(const ChipFacts& chip, Findings& findings) {
  const double limit = chip.limit_c.value_or(default_limit_c);
  if (!chip.temperature_c || *chip.temperature_c < limit) return;
  const bool ending = chip.shutdown_c && *chip.temperature_c >= *chip.shutdown_c;
  findings.push_back(
      {Verdict::hot,
       {fmt::format("chip {} is at {:.1f} °C, its limit is {:.0f} °C{}", chip.id,
                    *chip.temperature_c, limit,
                    ending ? fmt::format(" and it shuts down at {:.0f} °C", *chip.shutdown_c) : ""),
        "let it cool down and check the air flow"}});
}

void judge_ethernet_age(const ChipFacts& chip, Findings& findings) {
  const auto version = Version::parse(chip.ethernet_firmware);
  if (!version || !version->older_than(oldest_ethernet)) return;
  findings.push_back({Verdict::degraded,
                      {fmt::format("chip {}: Ethernet firmware {} is older than {}", chip.id,
                                   chip.ethernet_firmware, oldest_ethernet.text()),
                       "update it with tt-flash"}});
}

}  // namespace

Findings judge_chip(const ChipFacts& chip, const BoardFacts& board) {
  Findings findings;
  judge_processor(chip, board, findings);
  judge_dram(chip, board, findings);
  judge_heat(chip, findings);
  judge_ethernet_age(chip, findings);
  return findings;
}

}  // namespace trainward::hwprobe
