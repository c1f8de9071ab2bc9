#include "hwprobe/nvidia/nvidia_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/text.hpp"
#include "hwprobe/report/finding.hpp"

namespace trainward::hwprobe {
namespace {

using Findings = std::vector<Finding>;

// NVIDIA replaces a board with this many; there is room for 64.
constexpr std::int64_t too_many_pages = 60;

void judge_life(const GpuFacts& facts, Findings& findings) {
  if (facts.unreadable) {
    findings.push_back({Verdict::bus_hung,
                        {"the driver answers with errors when it is asked about this GPU",
                         "reset it (nvidia-smi --gpu-reset); if it stays, reboot the host"}});
  }
  const std::string& action = facts.recovery_action;
  if (action.empty()) return;
  // "Drain P2P" asks for nothing that ends programs on one GPU.
  const bool unusable =
      action.find("Reset") != std::string::npos || action.find("Reboot") != std::string::npos;
  findings.push_back({unusable ? Verdict::bus_hung : Verdict::degraded,
                      {fmt::format("the driver asks for recovery: {}", action),
                       action.find("Reboot") != std::string::npos
                           ? "reboot the host"
                           : "end its programs and reset it (nvidia-smi --gpu-reset)"}});
}

void judge_memory(const GpuFacts& facts, Findings& findings) {
  const auto errors = [&](std::optional<std::int64_t> number, std::string_view where) {
    if (number.value_or(0) == 0) return;
    findings.push_back({Verdict::dram_bad,
                        {fmt::format("{} in its {} since the last reset",
                                     count(*number, "uncorrected error"), where),
                         "reset it (nvidia-smi --gpu-reset); if they come back, replace it"}});
  };
  errors(facts.dram_uncorrected, "memory");
  errors(facts.sram_uncorrected, "caches");
  const auto broken = [&](bool holds, std::string what) {
    if (holds) findings.push_back({Verdict::dram_bad, {std::move(what), "replace it"}});
  };
  broken(facts.remap_failed, "a bad row of its memory could not be replaced by a spare one");
  broken(facts.unrepairable_memory, "its memory cannot be repaired");
  broken(facts.sram_threshold_exceeded, "its caches have had more errors than NVIDIA accepts");
  broken(facts.retired_pages.value_or(0) >= too_many_pages,
         fmt::format("{} pages of its memory are retired", facts.retired_pages.value_or(0)));
  if (facts.repair_pending) {
    findings.push_back({Verdict::degraded,
                        {"bad memory waits to be replaced by spare memory",
                         "reset it (nvidia-smi --gpu-reset) when it is free"}});
  }
}

void judge_heat(const GpuFacts& facts, Findings& findings) {
  const auto hot = [&](std::string what) {
    findings.push_back(
        {Verdict::hot, {std::move(what), "let it cool down; check the fans and the air flow"}});
  };
  if (facts.temperature_c && facts.slowdown_c && *facts.temperature_c >= *facts.slowdown_c) {
    hot(fmt::format("it is at {:.0f} °C and slows down at {:.0f} °C", *facts.temperature_c,
                    *facts.slowdown_c));
  }
  if (facts.margin_c && *facts.margin_c <= facts.slowdown_margin_c.value_or(0)) {
    hot(fmt::format("it is {:.0f} °C from its limit and slows down at {:.0f} °C", *facts.margin_c,
                    facts.slowdown_margin_c.value_or(0)));
  }
  if (facts.memory_c && facts.memory_limit_c && *facts.memory_c >= *facts.memory_limit_c) {
    hot(fmt::format("its memory is at {:.0f} °C, its limit is {:.0f} °C", *facts.memory_c,
                    *facts.memory_limit_c));
  }
  if (facts.slowed_by_heat) hot("it is slowed down because of heat");
  if (facts.slowed_by_power_brake) {
    findings.push_back(
        {Verdict::degraded, {"it is slowed down by the power brake", "check the power supply"}});
  }
}

void judge_link(const GpuFacts& facts, Findings& findings) {
  const auto below = [&](std::optional<std::int64_t> now, std::optional<std::int64_t> most,
                         std::string_view unit) {
    if (!now || !most || *now == 0 || *now >= *most) return;
    findings.push_back(
        {Verdict::degraded,
         {fmt::format("its PCIe link runs at {} {}, it can do {}", unit, *now, *most),
          "reseat the card or check the slot; training works, host transfers are slow"}});
  };
  below(facts.link_width, facts.max_link_width, "width");
  // An idle GPU slows its link down to save power.
  if (facts.full_speed) below(facts.link_generation, facts.max_link_generation, "generation");
}

bool knows_something(const GpuFacts& facts) {
  return facts.temperature_c || facts.margin_c || facts.dram_uncorrected || facts.link_width ||
         !facts.product.empty();
}

}  // namespace

Board judge(const GpuFacts& facts) {
  Board board;
  board.serial = facts.uuid.empty() ? facts.bus_id : facts.uuid;
  if (board.serial.empty()) board.serial = "unknown";
  board.type = facts.product;
  board.holders = facts.holders;
  board.bus_id = facts.bus_id;
  Chip chip;
  chip.id = "GPU";
  chip.confidence = "nvidia-smi";
  chip.temperature_c = facts.temperature_c.value_or(0);

  Findings findings;
  if (facts.lost) {
    findings.push_back(
        {Verdict::off_bus,
         {"the GPU has fallen off the bus",
          "power-cycle the host; if it stays, check its seat and power, replace it"}});
  } else {
    judge_life(facts, findings);
    judge_memory(facts, findings);
    judge_heat(facts, findings);
    judge_link(facts, findings);
    if (!facts.holders.empty()) {
      findings.push_back({Verdict::busy,
                          {fmt::format("in use by process {}", fmt::join(facts.holders, ", ")),
                           "wait for it, or end it"}});
    }
  }
  chip.verdict = knows_something(facts) ? Verdict::ok : Verdict::unknown;
  board.verdict = chip.verdict;
  add_findings(board, chip, std::move(findings));
  if (board.verdict == Verdict::degraded && !facts.holders.empty()) {
    board.verdict = chip.verdict = Verdict::busy;
  }
  board.chips.push_back(std::move(chip));
  return board;
}

Report to_report(const NvidiaSnapshot& snapshot) {
  Report report;
  report.source = "nvidia-smi";
  for (const GpuFacts& gpu : snapshot.gpus) report.boards.push_back(judge(gpu));
  const auto seen = static_cast<std::int64_t>(snapshot.gpus.size());
  if (!snapshot.no_driver.empty()) {
    report.evidence.push_back(
        {snapshot.no_driver,
         "load the nvidia driver (modprobe nvidia), or reboot after an update"});
  }
  if (snapshot.attached.value_or(0) > seen) {
    report.evidence.push_back(
        {fmt::format("the driver counts {}, but {} shown", count(*snapshot.attached, "GPU"),
                     seen == 1 ? "1 is" : fmt::format("{} are", seen)),
         "look into the kernel's log for Xid 79; power-cycle the host"});
  }
  if (report.boards.empty() && report.evidence.empty()) {
    report.evidence.push_back({"nvidia-smi found no GPU", ""});
  }
  return report;
}

Result<Report> read_nvidia_smi(std::string_view output, std::string_view where) {
  auto snapshot = parse_nvidia_smi(output, where);
  if (!snapshot) return propagate(snapshot);
  return to_report(*snapshot);
}

}  // namespace trainward::hwprobe
