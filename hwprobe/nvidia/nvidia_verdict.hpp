// GPUs as boards: facts of nvidia-smi to verdicts, with the evidence in words. Pure.
//
// A board's serial number is the GPU's UUID, which CUDA_VISIBLE_DEVICES and nvidia-smi -i take, or
// its bus when it has none. Each has one chip, "GPU", and no links: nvidia-smi -q does not list
// them.
//
//   OFF_BUS    lost
//   BUS_HUNG   answers with errors, or the driver wants it reset or the host rebooted
//   DRAM_BAD   uncorrected errors since the last reset; rows that could not be replaced; 60 retired
//              pages or more
//   HOT        at the temperature where it slows down, or slowed down by heat
//   DEGRADED   repairs that wait for a reset; power brake; a narrow link, or a slow one at full
//   speed BUSY       a process computes on it; also when it is degraded, as no other may have it
//   UNKNOWN    nothing about it could be read
//   OK         otherwise; errors that were corrected and rows that were replaced are no fault
#pragma once

#include <string_view>

#include "hwprobe/nvidia/nvidia_smi.hpp"
#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

Board judge(const GpuFacts& facts);

// A report with source "nvidia-smi".
Report to_report(const NvidiaSnapshot& snapshot);

Result<Report> read_nvidia_smi(std::string_view output, std::string_view where);

}  // namespace trainward::hwprobe
