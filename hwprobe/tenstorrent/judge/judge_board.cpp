#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hwprobe/tenstorrent/decode/versions.hpp"
#include "hwprobe/tenstorrent/judge/findings.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::chrono::seconds telemetry_grace{120};
constexpr std::chrono::seconds link_grace{180};

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

void judge_age(const BoardFacts& facts, Findings& findings) {
  const auto version = Version::parse(facts.firmware);
  if (version && version->older_than(oldest_bundle)) {
    findings.push_back(
        {Verdict::degraded,
         {fmt::format("firmware bundle {} is older than {}", facts.firmware, oldest_bundle.text()),
          "update it with tt-flash"}});
  }
  if (!facts.newest_firmware.empty() && facts.newest_firmware != facts.firmware) {
    findings.push_back({Verdict::degraded,
                        {fmt::format("firmware bundle {}, another board of this host has {}",
                                     facts.firmware, facts.newest_firmware),
                         "update it with tt-flash: boards that work together need the same"}});
  }
}

// Both chips of a board must run the same firmware.
void judge_difference(std::string_view what, std::string ChipFacts::*version,
                      const BoardFacts& facts, Findings& findings) {
  const ChipFacts* first = nullptr;
  for (const ChipFacts& chip : facts.chips) {
    if ((chip.*version).empty()) continue;
    if (first == nullptr) first = &chip;
    if (chip.*version == first->*version) continue;
    findings.push_back({Verdict::degraded,
                        {fmt::format("{} differs: chip {} has {}, chip {} has {}", what, first->id,
                                     first->*version, chip.id, chip.*version),
                         "flash the board again with tt-flash"}});
  }
}

void judge_reset(const BoardFacts& facts, Findings& findings) {
  if (!facts.resetting) return;
  if (!facts.since_reset || links_may_be_down(facts)) {
    findings.push_back({Verdict::resetting,
                        {"the driver refuses the board for now: it is being reset",
                         "wait some minutes and look again"}});
    return;
  }
  findings.push_back({Verdict::unknown,
                      {fmt::format("the driver still refuses the board, {} s after its reset",
                                   facts.since_reset->count()),
                       "reset it again; if it stays, power-cycle the host"}});
}

}  // namespace

bool telemetry_may_be_missing(const BoardFacts& facts) {
  return facts.since_reset && *facts.since_reset < telemetry_grace;
}

bool links_may_be_down(const BoardFacts& facts) {
  return facts.since_reset && *facts.since_reset < link_grace;
}

std::optional<Finding> judge_reach(const BoardFacts& facts) {
  if (!facts.present) {
    return Finding{Verdict::absent,
                   {"the board was expected here and is not on the PCI bus",
                    "power-cycle the host; if it stays, check that the board sits in its slot"}};
  }
  if (facts.off_bus) {
    return Finding{Verdict::off_bus,
                   {"the board has fallen off the PCI bus: its configuration space reads all ones",
                    "power-cycle the host; if it stays, replace the board"}};
  }
  if (!facts.has_driver) {
    return Finding{Verdict::no_driver,
                   {"no kernel driver is bound to the board",
                    "load the tenstorrent driver (modprobe tenstorrent) and look again"}};
  }
  if (facts.stuck_in_kernel) {
    return Finding{Verdict::stuck_in_kernel,
                   {"an earlier look at the board is stuck in the kernel and cannot be ended",
                    "wait for the driver to let go of it; if it stays, restart the host"}};
  }
  if (facts.bus_hung) {
    return Finding{Verdict::bus_hung,
                   {"the chip does not answer over PCIe: its registers read all ones",
                    "reset the board; if it stays, power-cycle the host"}};
  }
  if (facts.noc_hung) {
    return Finding{Verdict::noc_hung,
                   {"the network on the chip (NOC0) is hung: reads over it return all ones",
                    "reset the board; if it stays, power-cycle the host"}};
  }
  return std::nullopt;
}

Findings judge_board(const BoardFacts& facts) {
  Findings findings;
  if (!facts.holders.empty()) {
    findings.push_back({Verdict::busy,
                        {fmt::format("in use by process {}", fmt::join(facts.holders, ", ")),
                         "wait for it, or end it"}});
  } else if (facts.held_alone) {
    findings.push_back(
        {Verdict::busy,
         {"in use by a process that lets no other open the device", "wait for it, or end it"}});
  }
  judge_reset(facts, findings);
  judge_age(facts, findings);
  judge_difference("firmware", &ChipFacts::firmware, facts, findings);
  judge_difference("Ethernet firmware", &ChipFacts::ethernet_firmware, facts, findings);
  judge_pcie(facts.pcie, findings);
  return findings;
}

}  // namespace trainward::hwprobe
