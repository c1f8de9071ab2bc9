#include "hwprobe/nvidia/nvidia_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "hwprobe/health.hpp"
#include "nvidia_sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::h200;
using sample::log_of;
using sample::older;
using sample::with;
using testing::HasSubstr;

Report read(const std::string& output) {
  auto report = read_nvidia_smi(output, "sample");
  EXPECT_TRUE(report) << report.error().message();
  return report ? std::move(*report) : Report{};
}

// The board of one GPU that differs from a healthy one in this element.
Board board(std::string_view gpu, std::string_view element, std::string_view text) {
  const Report report = read(log_of(with(gpu, element, text)));
  EXPECT_EQ(report.boards.size(), 1U);
  return report.boards.empty() ? Board{} : report.boards[0];
}

std::string words(const Board& board) {
  return board.evidence.empty() ? "" : board.evidence.front().what;
}

TEST(GpuVerdicts, HealthyOnesAreOk) {
  const Report report = read(log_of(std::string(h200) + std::string(older), 2));
  EXPECT_EQ(report.source, "nvidia-smi");
  ASSERT_EQ(report.boards.size(), 2U);
  for (const Board& gpu : report.boards) {
    EXPECT_EQ(gpu.verdict, Verdict::ok) << words(gpu);
    EXPECT_TRUE(gpu.evidence.empty());
  }
  EXPECT_EQ(report.boards[0].serial, "GPU-00000000-1111-2222-3333-444444444444");
  EXPECT_EQ(report.boards[0].type, "NVIDIA H200");
  EXPECT_DOUBLE_EQ(report.boards[0].chips.at(0).temperature_c, 35);
  EXPECT_EQ(health(report), Health::healthy);
  EXPECT_TRUE(report_from_json(to_json(report)));
}

TEST(GpuVerdicts, MemoryErrors) {
  Board gpu = board(h200, "dram_uncorrectable", "2");
  EXPECT_EQ(gpu.verdict, Verdict::dram_bad);
  EXPECT_EQ(gpu.chips.at(0).verdict, Verdict::dram_bad);
  EXPECT_EQ(words(gpu), "2 uncorrected errors in its memory since the last reset");
  EXPECT_EQ(words(board(h200, "sram_uncorrectable_parity", "1")),
            "1 uncorrected error in its caches since the last reset");
  EXPECT_EQ(board(older, "double_bit", "<total>1</total>").verdict, Verdict::dram_bad);
  EXPECT_EQ(board(h200, "remapped_row_failure", "Yes").verdict, Verdict::dram_bad);
  EXPECT_EQ(board(h200, "unrepairable_memory", "Yes").verdict, Verdict::dram_bad);
  EXPECT_EQ(board(h200, "sram_threshold_exceeded", "Yes").verdict, Verdict::dram_bad);
}

TEST(GpuVerdicts, RetiredPagesAndPendingRepairs) {
  EXPECT_EQ(board(h200, "remapped_row_pending", "Yes").verdict, Verdict::degraded);
  EXPECT_EQ(board(h200, "channel_repair_pending", "Yes").verdict, Verdict::degraded);
  EXPECT_EQ(board(older, "pending_retirement", "Yes").verdict, Verdict::degraded);
  const Board gpu = board(older, "double_bit_retirement", "<retired_count>58</retired_count>");
  EXPECT_EQ(gpu.verdict, Verdict::dram_bad);
  EXPECT_EQ(words(gpu), "60 pages of its memory are retired");
}

TEST(GpuVerdicts, Heat) {
  EXPECT_EQ(words(board(older, "gpu_temp", "87 C")), "it is at 87 °C and slows down at 87 °C");
  EXPECT_EQ(board(older, "gpu_temp", "86 C").verdict, Verdict::ok);
  EXPECT_EQ(board(h200, "gpu_temp_tlimit", "-2 C").verdict, Verdict::hot);
  EXPECT_EQ(board(h200, "gpu_temp_tlimit", "-1 C").verdict, Verdict::ok);
  EXPECT_EQ(board(older, "memory_temp", "90 C").verdict, Verdict::hot);
  EXPECT_EQ(board(h200, "clocks_event_reason_sw_thermal_slowdown", "Active").verdict, Verdict::hot);
  EXPECT_EQ(board(h200, "clocks_event_reason_hw_power_brake_slowdown", "Active").verdict,
            Verdict::degraded);
}

TEST(GpuVerdicts, LinksAreSlowOnlyAtFullSpeed) {
  EXPECT_EQ(words(board(h200, "current_link_width", "8x")),
            "its PCIe link runs at width 8, it can do 16");
  EXPECT_EQ(words(board(h200, "current_link_gen", "4")),
            "its PCIe link runs at generation 4, it can do 5");
  EXPECT_EQ(board(older, "current_link_gen", "1").verdict, Verdict::ok) << "it sleeps";
}

TEST(GpuVerdicts, ProcessesMakeItBusyAlsoWhenItIsDegraded) {
  const std::string holder = "<process_info><pid>77</pid><type>C</type></process_info>";
  Board gpu = board(h200, "processes", holder);
  EXPECT_EQ(gpu.verdict, Verdict::busy);
  EXPECT_EQ(words(gpu), "in use by process 77");
  gpu = board(with(h200, "current_link_width", "8x"), "processes", holder);
  EXPECT_EQ(gpu.verdict, Verdict::busy);
  EXPECT_EQ(gpu.evidence.size(), 2U);
  gpu = board(with(h200, "gpu_temp_tlimit", "-5 C"), "processes", holder);
  EXPECT_EQ(gpu.verdict, Verdict::hot);
}

TEST(GpuVerdicts, WhatTheDriverAsksFor) {
  EXPECT_EQ(board(h200, "gpu_recovery_action", "Reset").verdict, Verdict::bus_hung);
  EXPECT_EQ(board(h200, "gpu_recovery_action", "Reboot").evidence.at(0).advice, "reboot the host");
  EXPECT_EQ(board(h200, "gpu_recovery_action", "Drain P2P").verdict, Verdict::degraded);
  EXPECT_EQ(board(h200, "gpu_util", "Unknown Error").verdict, Verdict::bus_hung);
}

TEST(GpuVerdicts, LostOnesAreOffTheBus) {
  const Report report =
      read(log_of(h200) +
           "Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.  Reboot the "
           "system to recover this GPU\n");
  ASSERT_EQ(report.boards.size(), 2U);
  EXPECT_EQ(report.boards[1].verdict, Verdict::off_bus);
  EXPECT_EQ(report.boards[1].serial, "0000:0b:00.0");
  EXPECT_EQ(health(report), Health::degraded);
}

TEST(GpuVerdicts, HostsWithoutGpusOrDriver) {
  Report report = read("No devices were found\n");
  EXPECT_EQ(report.evidence.at(0).what, "nvidia-smi found no GPU");
  EXPECT_EQ(health(report), Health::unusable);
  report = read("Failed to initialize NVML: Driver/library version mismatch\n");
  EXPECT_THAT(report.evidence.at(0).what, HasSubstr("version mismatch"));
  report = read(log_of(h200, 2));
  EXPECT_EQ(report.evidence.at(0).what, "the driver counts 2 GPUs, but 1 is shown");
}

TEST(GpuVerdicts, NothingReadableIsUnknown) {
  const Report report = read(log_of("<gpu id=\"00000000:01:00.0\"/>"));
  EXPECT_EQ(report.boards.at(0).verdict, Verdict::unknown);
  EXPECT_EQ(report.boards.at(0).serial, "0000:01:00.0");
  EXPECT_EQ(health(report), Health::unclear);
  EXPECT_EQ(read(log_of("<gpu/>")).boards.at(0).serial, "unknown");
}

TEST(GpuVerdicts, AHealthyGpuIsNeverBadForWhatIsMissing) {
  constexpr unsigned seed = 3;
  std::mt19937 random(seed);
  const std::regex leaf("<([a-z_0-9]+)>[^<]*</\\1>");
  for (const std::string_view gpu : {h200, older}) {
    const std::string text(gpu);
    std::vector<std::pair<std::size_t, std::size_t>> leaves;
    for (std::sregex_iterator it(text.begin(), text.end(), leaf), end; it != end; ++it) {
      leaves.emplace_back(it->position(), it->length());
    }
    ASSERT_GT(leaves.size(), 15U);
    for (int round = 0; round < 2000; ++round) {
      std::string changed = text;
      for (auto it = leaves.rbegin(); it != leaves.rend(); ++it) {
        const auto dice = random() % 8;
        const std::string element = changed.substr(it->first, it->second);
        const std::string name = element.substr(0, element.find('>') + 1);
        if (dice == 0) changed.erase(it->first, it->second);
        if (dice == 1) {
          changed.replace(it->first, it->second, name + "N/A</" + name.substr(1));
        }
      }
      const Report report = read(log_of(changed));
      ASSERT_EQ(report.boards.size(), 1U) << "seed " << seed << ", round " << round;
      const Verdict verdict = report.boards[0].verdict;
      ASSERT_TRUE(verdict == Verdict::ok || verdict == Verdict::unknown)
          << "seed " << seed << ", round " << round << ": " << words(report.boards[0]);
    }
  }
}

}  // namespace
}  // namespace trainward::hwprobe
