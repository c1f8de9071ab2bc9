// What `nvidia-smi -q -x` prints, as facts about each GPU. What is missing, "N/A" or renamed is not
// known; only what cannot be its output at all is an error.
//
// In: everything it wrote to standard output, also when it could not look at a GPU that is lost or
// at any: it says so in plain sentences then. Bounded: 4 MiB, 64 GPUs, 32 levels. DTDs and entities
// of the document are not looked at. Pure.
// Source: outputs of drivers 340 to 580, NVIDIA's manual page of nvidia-smi.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::hwprobe {

inline constexpr std::size_t max_nvidia_smi_bytes = 4 * 1024 * 1024;

struct GpuFacts {
  std::string uuid;             // "GPU-82e06c4f-…"; empty when unreadable
  std::string product;          // "NVIDIA H200"
  std::string bus_id;           // "0000:c1:00.0"
  bool lost = false;            // fallen off the bus
  bool unreadable = false;      // the driver answers with errors
  std::string recovery_action;  // "Reset", "Reboot", …; empty: none, or an older driver

  std::optional<double> temperature_c;
  std::optional<double> slowdown_c;         // older drivers: where it slows down
  std::optional<double> margin_c;           // newer ones: how far it is from its limit
  std::optional<double> slowdown_margin_c;  // at which margin it slows down
  std::optional<double> memory_c, memory_limit_c;
  bool slowed_by_heat = false;
  bool slowed_by_power_brake = false;

  // Since the driver was loaded or the GPU reset. What was corrected is no fault.
  std::optional<std::int64_t> dram_uncorrected, sram_uncorrected;
  bool sram_threshold_exceeded = false;
  bool unrepairable_memory = false;
  bool repair_pending = false;  // rows, pages or channels are replaced at the next reset
  bool remap_failed = false;
  std::optional<std::int64_t> retired_pages;

  std::optional<std::int64_t> link_generation, max_link_generation;
  std::optional<std::int64_t> link_width, max_link_width;
  bool full_speed = false;  // the performance state in which the link is not slowed to save power
  std::vector<std::int64_t> holders;  // processes that compute on it; at most 16
};

struct NvidiaSnapshot {
  std::string driver;
  std::optional<std::int64_t> attached;  // how many GPUs the driver says there are
  std::vector<GpuFacts> gpus;
  std::string no_driver;  // the sentence that says that the driver does not answer
};

Result<NvidiaSnapshot> parse_nvidia_smi(std::string_view output, std::string_view where);

}  // namespace trainward::hwprobe
