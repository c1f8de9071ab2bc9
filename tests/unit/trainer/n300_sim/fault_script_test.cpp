#include "trainer/n300_sim/fault_script.hpp"

#include <gtest/gtest.h>

namespace trainward::n300 {
namespace {

Result<FaultScript> read(std::string_view text) {
  return read_fault_script(json::parse(text).get_object(), "SCRIPT");
}

std::string complaint(std::string_view text) {
  const auto script = read(text);
  return script ? "" : script.error().message();
}

TEST(FaultScript, NothingIsABoardWithoutFaults) {
  const auto script = read("{}");
  ASSERT_TRUE(script) << script.error().message();
  EXPECT_FALSE(script->hang || script->abort || script->ethernet_loss || script->flip);
  EXPECT_EQ(script->oom, OutOfMemory::error_13);
  EXPECT_TRUE(script->loads_executables);
  EXPECT_FALSE(script->compiles_without_device);
}

TEST(FaultScript, EveryKeyIsRead) {
  const auto script = read(
      R"({"chips": 8, "dram_bytes": 1000, "base_bytes": 10, "leak_bytes_per_step": 5,
          "oom": "resource_exhausted", "hang": {"attempt": 1, "after_steps": 2},
          "abort": {"attempt": 3, "after_steps": 4}, "ethernet_loss": {"attempt": 5},
          "compile_ms_per_op": 7, "slow_compile": {"attempt": 2, "ms_per_op": 30},
          "corrupt_kernel_cache": {"attempt": 6}, "dead_second_chip": true,
          "loads_executables": false, "compiles_without_device": true,
          "slow_chip": {"chip": "R", "factor": 1.5}, "link": {"gb_per_s": 0.5, "latency_us": 10},
          "flip": {"attempt": 1, "after_steps": 3, "chip": "L", "bit": 17}})");
  ASSERT_TRUE(script) << script.error().message();
  EXPECT_EQ(script->chips, 8);
  EXPECT_EQ(script->slow_chip, (SlowChip{"R", 1.5}));
  EXPECT_EQ(script->link, (Link{0.5, 10}));
  EXPECT_EQ(script->flip, (Flip{{1, 3}, "L", 17}));
  EXPECT_EQ(script->dram_bytes, 1000U);
  EXPECT_EQ(script->base_bytes, 10U);
  EXPECT_EQ(script->leak_bytes_per_step, 5U);
  EXPECT_EQ(script->oom, OutOfMemory::resource_exhausted);
  EXPECT_EQ(script->hang, (Moment{1, 2}));
  EXPECT_EQ(script->abort, (Moment{3, 4}));
  EXPECT_EQ(script->ethernet_loss, (Moment{5, 0}));
  EXPECT_EQ(script->compile_ms_per_op_in(1), 7);
  EXPECT_EQ(script->compile_ms_per_op_in(2), 30);
  EXPECT_EQ(script->corrupt_kernel_cache, 6);
  EXPECT_TRUE(script->dead_second_chip && !script->loads_executables &&
              script->compiles_without_device);
}

TEST(FaultScript, WhatIsWrongIsNamed) {
  EXPECT_NE(complaint(R"({"hung": 1})").find("SCRIPT.hung"), std::string::npos);
  EXPECT_NE(complaint(R"({"hang": {"after": 1}})").find("SCRIPT.hang.after"), std::string::npos);
  EXPECT_NE(complaint(R"({"hang": {"after_steps": 1}})").find("SCRIPT.hang.attempt"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"corrupt_kernel_cache": {}})").find("attempt"), std::string::npos);
  EXPECT_NE(complaint(R"({"oom": "quietly"})").find("quietly"), std::string::npos);
  EXPECT_NE(complaint(R"({"compile_ms_per_op": -1})"), "");
  EXPECT_NE(complaint(R"({"slow_chip": {"factor": 2}})").find("SCRIPT.slow_chip.chip"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"slow_chip": {"chip": "R", "factor": 0.5}})"), "");
  EXPECT_NE(complaint(R"({"flip": {"attempt": 1}})").find("SCRIPT.flip.chip"), std::string::npos);
  const auto names = [](std::string_view text, const std::string& key) {
    return complaint(text).find(key) != std::string::npos;
  };
  EXPECT_TRUE(names(R"({"flip": {"attempt": 1, "chip": "X"}})", "SCRIPT.flip.chip"));
  EXPECT_TRUE(names(R"({"chips": 1, "slow_chip": {"chip": "R"}})", "SCRIPT.slow_chip.chip"));
  EXPECT_TRUE(names(R"({"chips": 4, "slow_chip": {"chip": "4"}})", "SCRIPT.slow_chip.chip"));
  EXPECT_TRUE(names(R"({"chips": 4, "slow_chip": {"chip": "03"}})", "SCRIPT.slow_chip.chip"));
  EXPECT_EQ(complaint(R"({"chips": 4, "slow_chip": {"chip": "3"}})"), "");
  EXPECT_TRUE(
      names(R"({"flip": {"attempt": 1, "chip": "R", "bit": 103079215104}})", "SCRIPT.flip.bit"));
  EXPECT_TRUE(names(R"({"flip": {"attempt": 1, "chip": "R", "bit": -1}})", "SCRIPT.flip.bit"));
  EXPECT_NE(complaint(R"({"link": {"latency_us": 2}})").find("SCRIPT.link.gb_per_s"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"link": {"gb_per_s": 0}})"), "");
  EXPECT_NE(complaint(R"({"link": {"gb_per_s": 1, "latency_us": -1}})"), "");
  EXPECT_NE(complaint(R"({"link": {"gb_per_s": 1, "rate": 1}})").find("SCRIPT.link.rate"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"chips": 0})"), "");
}

}  // namespace
}  // namespace trainward::n300
