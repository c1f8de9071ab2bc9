#include "hwprobe/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "common/text.hpp"

namespace trainward::hwprobe {
namespace {

constexpr double default_limit_c = 75;
// The oldest Wormhole bundle that today's user-mode driver accepts.
constexpr std::array<int, 2> oldest_firmware{18, 3};
// "80.17.0.0" belongs to an older numbering scheme and precedes every other version.
constexpr int old_scheme_major = 80;

struct Finding {
  Verdict verdict = Verdict::ok;
  Evidence evidence;
};
using Findings = std::vector<Finding>;

void sort_worst_first(Findings& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.verdict > b.verdict; });
}

std::vector<Evidence> evidence_of(Findings findings) {
  sort_worst_first(findings);
  std::vector<Evidence> out;
  for (Finding& finding : findings) out.push_back(std::move(finding.evidence));
  return out;
}

Verdict worst(const Findings& findings, Verdict start) {
  for (const Finding& finding : findings) start = std::max(start, finding.verdict);
  return start;
}

std::string_view chip_of(std::string_view endpoint) {
  return endpoint.substr(0, endpoint.find(':'));
}

// The two traces on the board itself; links to other boards are not listed as facts.
bool on_board(const LinkFacts& link) {
  return chip_of(link.from) == "L" && chip_of(link.to) == "R";
}

Findings judge_links(const std::vector<LinkFacts>& links) {
  Findings findings;
  std::size_t present = 0;
  std::size_t down = 0;
  for (const LinkFacts& link : links) {
    if (!on_board(link)) continue;
    ++present;
    if (!link.up) ++down;
  }
  const bool lost = present > 0 && down == present;
  if (lost) {
    findings.push_back(
        {Verdict::remote_lost,
         {fmt::format("chip R cannot be reached: {} on-board Ethernet {} down",
                      present == 1 ? "the" : (present == 2 ? "both" : "all"),
                      present == 1 ? "link is" : "links are"),
          "reset both boards together and probe again; if it stays, quarantine the board and have "
          "it repaired"}});
  }
  for (const LinkFacts& link : links) {
    const std::string name =
        fmt::format("{}link {} to {}", on_board(link) ? "on-board " : "", link.from, link.to);
    if (!link.up) {
      findings.push_back(
          {lost && on_board(link) ? Verdict::remote_lost : Verdict::degraded,
           {fmt::format("{} is down (training failed{})", name,
                        link.retrains > 0
                            ? ", after " + trainward::count(link.retrains, "retraining")
                            : ""),
            lost ? "" : "reset both boards together; if it stays, plan a repair"}});
    } else if (link.retrains > 0) {
      findings.push_back(
          {Verdict::degraded,
           {fmt::format("{} was retrained {}", name,
                        link.retrains == 1 ? "once" : std::to_string(link.retrains) + " times"),
            "watch it: a link that keeps retraining will fail"}});
    }
  }
  return findings;
}

Findings judge_chip(const ChipFacts& chip) {
  Findings findings;
  if (chip.heartbeat == Heartbeat::frozen) {
    findings.push_back(
        {Verdict::arc_dead,
         {fmt::format("chip {}: the heartbeat of its management processor stands still", chip.id),
          "reset the board; if it stays, power-cycle the host"}});
  }
  const double limit = chip.limit_c.value_or(default_limit_c);
  if (chip.temperature_c && *chip.temperature_c >= limit) {
    findings.push_back({Verdict::hot,
                        {fmt::format("chip {} is at {:.1f} °C, its limit is {:.0f} °C", chip.id,
                                     *chip.temperature_c, limit),
                         "let it cool down and check the air flow"}});
  }
  return findings;
}

bool firmware_too_old(std::string_view version) {
  std::array<int, 2> parts{};
  for (int& part : parts) {
    const auto end = version.find('.');
    const std::string_view digits = version.substr(0, end);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), part);
    if (error != std::errc() || stop != digits.data() + digits.size())
      return false;  // not a version
    version = end == std::string_view::npos ? std::string_view() : version.substr(end + 1);
  }
  return parts[0] >= old_scheme_major || parts < oldest_firmware;
}

void judge_pcie(const PcieFacts& pcie, Findings& findings) {
  const auto differs = [](const std::string& current, const std::string& max) {
    return !current.empty() && !max.empty() && current != max;
  };
  if (!differs(pcie.current_speed, pcie.max_speed) &&
      !differs(pcie.current_width, pcie.max_width)) {
    return;
  }
  findings.push_back(
      {Verdict::degraded,
       {fmt::format("PCIe runs at {} x{}, the card can do {} x{}", pcie.current_speed,
                    pcie.current_width, pcie.max_speed, pcie.max_width),
        "reseat the card or check the slot; training works, host transfers are slow"}});
}

// What is wrong with the board as a whole. A board that is off the bus has nothing else to say.
Findings judge_board(const BoardFacts& facts) {
  if (facts.off_bus) {
    return {{Verdict::off_bus,
             {"the board has fallen off the PCI bus: its configuration space reads all ones",
              "power-cycle the host; if it stays, replace the board"}}};
  }
  if (!facts.has_driver) {
    return {{Verdict::no_driver,
             {"no kernel driver is bound to the board",
              "load the tenstorrent driver (modprobe tenstorrent) and look again"}}};
  }
  Findings findings;
  if (!facts.holders.empty()) {
    findings.push_back({Verdict::busy,
                        {fmt::format("in use by process {}", fmt::join(facts.holders, ", ")),
                         "wait for it, or end it"}});
  }
  if (firmware_too_old(facts.firmware)) {
    findings.push_back({Verdict::degraded,
                        {fmt::format("firmware bundle {} is older than {}.{}", facts.firmware,
                                     oldest_firmware[0], oldest_firmware[1]),
                         "update it with tt-flash"}});
  }
  judge_pcie(facts.pcie, findings);
  return findings;
}

Chip to_chip(const ChipFacts& facts, Findings findings) {
  Chip chip;
  chip.id = facts.id;
  chip.verdict = worst(findings, facts.looked_at ? Verdict::ok : Verdict::unknown);
  chip.confidence = facts.confidence;
  chip.temperature_c = facts.temperature_c.value_or(0);
  chip.evidence = evidence_of(std::move(findings));
  return chip;
}

}  // namespace

Board judge(const BoardFacts& facts) {
  Board board;
  board.serial = facts.serial;
  board.type = facts.type;
  board.bus_id = facts.bus_id;
  board.simulate = facts.simulate;
  for (const LinkFacts& link : facts.links) {
    board.links.push_back({link.from, link.to, link.up, link.retrains});
  }

  Findings all = judge_board(facts);
  const bool reachable = !facts.off_bus && facts.has_driver;
  bool known = !all.empty();
  if (reachable) {
    const Findings links = judge_links(facts.links);
    known = known || !facts.links.empty();
    for (const ChipFacts& chip : facts.chips) {
      Findings own = judge_chip(chip);
      all.insert(all.end(), own.begin(), own.end());
      known = known || chip.looked_at;
      // Only R depends on the on-board links; L is reached over PCIe.
      if (chip.id == "R" && worst(links, Verdict::ok) == Verdict::remote_lost) {
        own.push_back(links.front());
      }
      board.chips.push_back(to_chip(chip, std::move(own)));
    }
    all.insert(all.end(), links.begin(), links.end());
  } else {
    for (const ChipFacts& chip : facts.chips) board.chips.push_back(to_chip(chip, all));
  }
  board.verdict = worst(all, known ? Verdict::ok : Verdict::unknown);
  board.evidence = evidence_of(std::move(all));
  return board;
}

Health health(const Report& report) {
  if (report.boards.empty()) return Health::unusable;
  std::size_t sound = 0;     // nothing wrong with it
  std::size_t workable = 0;  // could run now, or once its holder is gone
  std::size_t unclear = 0;
  for (const Board& board : report.boards) {
    if (board.verdict == Verdict::ok || board.verdict == Verdict::busy) ++sound;
    if (usable(board.verdict) || board.verdict == Verdict::busy) ++workable;
    if (board.verdict == Verdict::unknown) ++unclear;
  }
  if (sound == report.boards.size()) return Health::healthy;
  if (workable > 0) return Health::degraded;
  return unclear == report.boards.size() ? Health::unclear : Health::unusable;
}

}  // namespace trainward::hwprobe
