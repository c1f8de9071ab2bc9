#include "hwprobe/nvidia/nvidia_smi.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nvidia_sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::h200;
using sample::log_of;
using sample::older;
using sample::with;
using testing::ElementsAre;
using testing::HasSubstr;

NvidiaSnapshot parse(const std::string& output) {
  auto snapshot = parse_nvidia_smi(output, "sample");
  EXPECT_TRUE(snapshot) << snapshot.error().message();
  return snapshot ? std::move(*snapshot) : NvidiaSnapshot{};
}

std::string error(std::string_view output) {
  const auto snapshot = parse_nvidia_smi(output, "file");
  return snapshot ? "" : snapshot.error().message();
}

TEST(NvidiaSmi, ReadsWhatNewDriversSay) {
  const NvidiaSnapshot snapshot = parse(log_of(h200));
  EXPECT_EQ(snapshot.driver, "580.159.04");
  EXPECT_EQ(snapshot.attached, 1);
  ASSERT_EQ(snapshot.gpus.size(), 1U);
  const GpuFacts& gpu = snapshot.gpus[0];
  EXPECT_EQ(gpu.uuid, "GPU-00000000-1111-2222-3333-444444444444");
  EXPECT_EQ(gpu.product, "NVIDIA H200");
  EXPECT_EQ(gpu.bus_id, "0000:c1:00.0");
  EXPECT_FALSE(gpu.lost);
  EXPECT_FALSE(gpu.unreadable);
  EXPECT_EQ(gpu.recovery_action, "");
  EXPECT_EQ(gpu.temperature_c, 35);
  EXPECT_EQ(gpu.margin_c, 52);
  EXPECT_EQ(gpu.slowdown_margin_c, -2);
  EXPECT_EQ(gpu.slowdown_c, std::nullopt);
  EXPECT_EQ(gpu.dram_uncorrected, 0);
  EXPECT_EQ(gpu.sram_uncorrected, 0);
  EXPECT_EQ(gpu.retired_pages, std::nullopt);
  EXPECT_FALSE(gpu.repair_pending);
  EXPECT_EQ(gpu.link_width, 16);
  EXPECT_EQ(gpu.max_link_generation, 5);
  EXPECT_TRUE(gpu.full_speed);
  EXPECT_TRUE(gpu.holders.empty());
}

TEST(NvidiaSmi, ReadsWhatOlderDriversSay) {
  const NvidiaSnapshot snapshot = parse(log_of(std::string(h200) + std::string(older), 2));
  ASSERT_EQ(snapshot.gpus.size(), 2U);
  const GpuFacts& gpu = snapshot.gpus[1];
  EXPECT_EQ(gpu.slowdown_c, 87);
  EXPECT_EQ(gpu.margin_c, std::nullopt);
  EXPECT_EQ(gpu.memory_limit_c, 85);
  EXPECT_EQ(gpu.dram_uncorrected, 0);
  EXPECT_EQ(gpu.retired_pages, 3);
  EXPECT_EQ(gpu.link_generation, 1);
  EXPECT_FALSE(gpu.full_speed);
  EXPECT_FALSE(gpu.unreadable) << "a broken fan is not a broken GPU";
  EXPECT_TRUE(parse(log_of(with(older, "clocks_throttle_reason_hw_thermal_slowdown", "Active")))
                  .gpus[0]
                  .slowed_by_heat);
}

TEST(NvidiaSmi, TakesComputingProcessesForHolders) {
  const std::string processes =
      "<process_info><pid>11</pid><type>G</type><process_name>Xorg</process_name></process_info>"
      "<process_info><pid>12</pid><type>C</type></process_info>"
      "<process_info><pid>13</pid><type>C+G</type></process_info>"
      "<process_info><pid>12</pid><type>C</type></process_info>"
      "<process_info><pid>N/A</pid><type>C</type></process_info>"
      "<process_info><pid>14</pid></process_info>";
  EXPECT_THAT(parse(log_of(with(h200, "processes", processes))).gpus[0].holders,
              ElementsAre(12, 13, 14));
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many += fmt::format("<process_info><pid>{}</pid><type>C</type></process_info>", i);
  }
  EXPECT_EQ(parse(log_of(with(h200, "processes", many))).gpus[0].holders.size(), 16U);
}

TEST(NvidiaSmi, UnderstandsItsSentences) {
  NvidiaSnapshot snapshot = parse(
      "Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.  Reboot the system "
      "to recover this GPU\n");
  ASSERT_EQ(snapshot.gpus.size(), 1U);
  EXPECT_TRUE(snapshot.gpus[0].lost);
  EXPECT_EQ(snapshot.gpus[0].bus_id, "0000:0b:00.0");

  snapshot = parse(log_of(h200) +
                   "Unable to determine the device handle for GPU1: 00000000:0C:00.0: Unknown "
                   "Error\n");
  ASSERT_EQ(snapshot.gpus.size(), 2U);
  EXPECT_EQ(snapshot.gpus[1].bus_id, "0000:0c:00.0");
  EXPECT_TRUE(snapshot.gpus[1].lost);

  snapshot = parse(
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
      "that the latest NVIDIA driver is installed and running.\n");
  EXPECT_THAT(snapshot.no_driver, HasSubstr("couldn't communicate"));
  snapshot = parse("Failed to initialize NVML: Driver/library version mismatch\n");
  EXPECT_THAT(snapshot.no_driver, HasSubstr("mismatch"));
  snapshot = parse("No devices were found\n");
  EXPECT_TRUE(snapshot.gpus.empty());
  EXPECT_TRUE(snapshot.no_driver.empty());
}

TEST(NvidiaSmi, SeesErrorsInPlaceOfValues) {
  EXPECT_TRUE(parse(log_of(with(h200, "gpu_temp", "GPU is lost"))).gpus[0].lost);
  EXPECT_TRUE(parse(log_of(with(h200, "gpu_util", "Unknown Error"))).gpus[0].unreadable);
  EXPECT_TRUE(parse(log_of(with(h200, "total", "ERR!"))).gpus[0].unreadable);
}

TEST(NvidiaSmi, RefusesWhatItDoesNotPrint) {
  EXPECT_THAT(error(""), HasSubstr("file: holds no XML"));
  EXPECT_THAT(error("command not found"), HasSubstr("holds no XML"));
  EXPECT_THAT(error("<?xml version=\"1.0\"?><a/>"), HasSubstr("not of nvidia-smi"));
  EXPECT_THAT(error(log_of(h200).substr(0, 2000)), HasSubstr("not valid XML at byte"));
  EXPECT_THAT(error(std::string(max_nvidia_smi_bytes + 1, ' ')), HasSubstr("longer than"));
  std::string deep = "<nvidia_smi_log>";
  for (int i = 0; i < 40; ++i) deep += "<a>";
  for (int i = 0; i < 40; ++i) deep += "</a>";
  EXPECT_THAT(error(deep + "</nvidia_smi_log>"), HasSubstr("nested deeper"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += "<gpu/>";
  EXPECT_THAT(error(log_of(many)), HasSubstr("more than 64"));
}

TEST(NvidiaSmi, ExpandsNoEntities) {
  const std::string bomb =
      "<?xml version=\"1.0\"?><!DOCTYPE nvidia_smi_log [<!ENTITY a \"aaaaaaaaaa\">"
      "<!ENTITY b SYSTEM \"file:///etc/passwd\">]>"
      "<nvidia_smi_log><gpu><product_name>&a;&b;</product_name></gpu></nvidia_smi_log>";
  EXPECT_EQ(parse(bomb).gpus.at(0).product, "&a;&b;");
}

TEST(NvidiaSmi, TextFromElsewhereIsMadeSafe) {
  const GpuFacts gpu = parse(log_of(with(with(h200, "product_name", "A\x1b[31m\xff rest"), "uuid",
                                         std::string(5000, 'u'))))
                           .gpus[0];
  EXPECT_EQ(gpu.product, "A?[31m");
  EXPECT_EQ(gpu.uuid.size(), 128U);
}

}  // namespace
}  // namespace trainward::hwprobe
