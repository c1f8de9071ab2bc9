// A chip's memory runs out in both ways, leaks, and is there again once given back.
#include <gmock/gmock.h>

#include "n300_sim/plugin_harness.hpp"

namespace trainward::n300::test {
namespace {

using testing::HasSubstr;

// Two chips of 12 banks of 1 MiB.
constexpr const char* small = R"({"dram_bytes": 25165824})";
const Floats four_mib(std::size_t{1} << 20, 1);

std::vector<pjrt::Buffer> fill(pjrt::Client& client, std::size_t count, std::size_t device = 0) {
  std::vector<pjrt::Buffer> buffers;
  for (std::size_t i = 0; i < count; ++i) buffers.push_back(upload(client, four_mib, device));
  return buffers;
}

TEST(PluginMemory, IsThatOfOneChip) {
  const World world(small);
  const auto client = make_client();
  auto held = fill(*client, 2);
  auto other_chip = fill(*client, 2, 1);
  const graph::Type type{graph::Element::f32, {1 << 20}};
  const std::string said = printed_by([&] {
    const auto refused = client->upload(0, type, four_mib.data());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, pjrt::ErrorCode::internal);
    EXPECT_EQ(refused.error().text, "Error code: 13");
  });
  EXPECT_THAT(said,
              HasSubstr("Out of Memory: Not enough space to allocate 4194304 B DRAM buffer "
                        "across 12 banks, where each bank needs to store 350208 B, but bank "
                        "size is 1048576 B (allocated: 700416 B, free: 348160 B, largest free "
                        "block: 348160 B)"));
}

TEST(PluginMemory, WhatIsDestroyedIsFree) {
  const World world(small);
  const auto client = make_client();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(fill(*client, 2).size(), 2U);
}

TEST(PluginMemory, ResultsThatDoNotFitCloseTheDevice) {
  const World world(small);
  const auto client = make_client();
  const auto executable = client->compile(plus_one("block_forward", 1 << 20));
  ASSERT_TRUE(executable) << executable.error().text;
  const auto held = fill(*client, 2);
  const std::string said = printed_by([&] {
    const auto refused = run(*executable, held[0]);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "Error code: 13");
  });
  EXPECT_THAT(said, HasSubstr("utils.h:62     ERR| Exception:"));
  EXPECT_THAT(said, HasSubstr("bank_manager.cpp:462: false\ninfo:\nOut of Memory: Not enough"));
  std::vector<std::byte> bytes(four_mib.size() * 4);
  printed_by([&] {
    EXPECT_FALSE(run(*executable, held[0])) << "the mesh device is closed";
    EXPECT_FALSE(held[0].download(bytes));
  });
}

TEST(PluginMemory, AsXlaSaysItTheDeviceGoesOn) {
  const World world(R"({"dram_bytes": 25165824, "oom": "resource_exhausted"})");
  const auto client = make_client();
  const auto executable = client->compile(plus_one("block_forward", 1 << 20));
  ASSERT_TRUE(executable) << executable.error().text;
  auto held = fill(*client, 2);
  const auto refused = run(*executable, held[0]);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, pjrt::ErrorCode::resource_exhausted);
  EXPECT_THAT(refused.error().text,
              HasSubstr("Out of memory while trying to allocate 4194304 bytes on device 0: Out of "
                        "Memory: Not enough space to allocate 4194304 B DRAM buffer"));
  held.pop_back();
  EXPECT_TRUE(run(*executable, held[0]));
}

TEST(PluginMemory, WhatIsComputedOnTheWayNeedsRoomToo) {
  const auto text = program("block_forward", [](graph::Builder& b) -> std::vector<graph::Value> {
    // [1024, 1024] of f32 in between, and little at both ends.
    const graph::Value x = b.parameter("x", {graph::Element::f32, {1024, 32}});
    const graph::Value square = b.dot(x, x, {{}, {}, {1}, {1}, graph::Precision::f32});
    return {b.dot(square, x, {{}, {}, {1}, {0}, graph::Precision::f32})};
  });
  const Floats values(1024 * 32, 0);
  const graph::Type type{graph::Element::f32, {1024, 32}};
  for (const auto& [dram, fits] : {std::pair{24 << 20, true}, std::pair{6 << 20, false}}) {
    const World world(fmt::format(R"({{"dram_bytes": {}, "oom": "resource_exhausted"}})", dram));
    const auto client = make_client();
    const auto executable = client->compile(text);
    ASSERT_TRUE(executable) << executable.error().text;
    const auto argument = client->upload(0, type, values.data());
    ASSERT_TRUE(argument);
    EXPECT_EQ(run(*executable, *argument).has_value(), fits) << dram;
  }
}

TEST(PluginMemory, ALeakEndsTheRunAfterItsSteps) {
  // 12 MiB a chip, of which the base takes 6 and each step 1.
  const World world(
      R"({"dram_bytes": 25165824, "base_bytes": 12582912, "leak_bytes_per_step": 2097152})");
  const auto client = make_client();
  const auto forward = client->compile(plus_one("block_forward"));
  const auto update = client->compile(plus_one("update_block"));
  ASSERT_TRUE(forward && update);
  const pjrt::Buffer argument = upload(*client, Floats(1024, 0));
  int steps = 0;
  const std::string said = printed_by([&] {
    while (steps < 100 && run(*forward, argument) && run(*forward, argument) &&
           run(*update, argument)) {
      ++steps;
    }
  });
  EXPECT_EQ(steps, 5);
  EXPECT_THAT(said, HasSubstr("Not enough space to allocate 1048576 B DRAM"));
}

}  // namespace
}  // namespace trainward::n300::test
