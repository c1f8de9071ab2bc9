// The kernel driver, played by a double: versions 1.27 to 2.10, windows that run out, resets.
#include "hwprobe/tenstorrent/registers/kmd.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <cstring>

#include "fake_driver.hpp"
#include "fake_host.hpp"
#include "hwprobe/tenstorrent/decode/arc.hpp"
#include "hwprobe/tenstorrent/decode/ethernet.hpp"
#include "hwprobe/tenstorrent/registers/kmd_abi.hpp"

namespace trainward::hwprobe {
namespace {

using testing::ElementsAre;

KmdRegisters registers_of(FakeDriver& driver) { return {driver, "/dev/tenstorrent/0", "config"}; }

TEST(Kmd, OpensLateOnceAndQuietly) {
  FakeDriver driver;
  {
    KmdRegisters registers = registers_of(driver);
    EXPECT_EQ(registers.config32(0), 0x401E1E52U);
    EXPECT_TRUE(driver.opened.empty());
    EXPECT_EQ(registers.bar32(wormhole::bar::post_code), 0xC0DE0001U);
    EXPECT_EQ(registers.bar32(wormhole::bar::scratch6), 0U);
    EXPECT_EQ(registers.noc32(0, 10, wormhole::noc_check), 0x1060A280U);
    EXPECT_THAT(driver.opened, ElementsAre("/dev/tenstorrent/0"));
    EXPECT_EQ(driver.open_flags, O_RDWR | O_CLOEXEC | O_APPEND | O_NONBLOCK);
  }
  EXPECT_EQ(driver.freed, 1);  // it was unmapped before
  EXPECT_THAT(driver.requests, ElementsAre(2, 11, 13, 12));
}

TEST(Kmd, AWindowIsMovedOnlyWhenItMust) {
  FakeDriver driver;
  KmdRegisters registers = registers_of(driver);
  EXPECT_EQ(registers.noc32(9, 6, wormhole::ethernet::train_status), 1U);
  EXPECT_EQ(registers.noc32(9, 6, wormhole::ethernet::firmware), 0x6E000U);
  EXPECT_EQ(registers.noc32(9, 6, wormhole::ethernet::soft_reset), 0U);
  EXPECT_EQ(registers.noc32(1, 6, wormhole::ethernet::remote_channel), 1U);
  EXPECT_THAT(driver.requests, ElementsAre(11, 13, 13, 13));
}

TEST(Kmd, TakesALargerWindowWhenTheSmallOnesAreTaken) {
  for (const std::uint64_t size : {1ULL << 20, 2ULL << 20, 16ULL << 20}) {
    FakeDriver driver;
    driver.smallest_free = size;
    KmdRegisters registers = registers_of(driver);
    EXPECT_EQ(registers.noc32(0, 10, wormhole::noc_check), 0x1060A280U);
    EXPECT_EQ(driver.window_sizes.back(), size);
  }
  FakeDriver driver;
  driver.smallest_free = 1ULL << 40;
  KmdRegisters registers = registers_of(driver);
  EXPECT_EQ(error_name(registers.noc32(0, 10, wormhole::noc_check).error()), "ENOMEM");
  EXPECT_EQ(driver.window_sizes.size(), 3U);
  EXPECT_FALSE(registers.noc32(9, 6, wormhole::ethernet::train_status));
  EXPECT_EQ(driver.window_sizes.size(), 3U);  // not asked again
}

TEST(Kmd, AWindowThatCannotBeMappedIsGivenBack) {
  FakeDriver driver;
  driver.map_error = ENODEV;
  {
    KmdRegisters registers = registers_of(driver);
    EXPECT_EQ(error_name(registers.noc32(0, 10, wormhole::noc_check).error()), "ENODEV");
  }
  EXPECT_EQ(driver.freed, 1);
}

TEST(Kmd, RefusesOtherAddressesWithoutOpening) {
  FakeDriver driver;
  KmdRegisters registers = registers_of(driver);
  EXPECT_EQ(registers.bar32(0x1FF30328).error().kind, ErrorKind::usage);
  EXPECT_EQ(registers.noc32(1, 1, 0xFFB11030).error().kind, ErrorKind::usage);
  EXPECT_EQ(registers.config32(0x40).error().kind, ErrorKind::usage);
  EXPECT_TRUE(driver.opened.empty());
}

TEST(Kmd, ABarThatIsTooSmallIsNotMapped) {
  FakeDriver driver;
  driver.bar0_bytes = 1 << 20;
  KmdRegisters registers = registers_of(driver);
  EXPECT_EQ(error_name(registers.bar32(wormhole::bar::post_code).error()), "ENXIO");
}

TEST(Kmd, EveryDriverVersion) {
  const std::vector<std::pair<int, int>> versions{{1, 27}, {1, 28}, {1, 29}, {1, 31}, {1, 32},
                                                  {1, 34}, {2, 0},  {2, 3},  {2, 6},  {2, 10}};
  for (const auto& [major, minor] : versions) {
    SCOPED_TRACE(fmt::format("{}.{}", major, minor));
    FakeDriver driver(major, minor);
    KmdRegisters registers = registers_of(driver);
    const ArcLook look = look_at_arc(registers);
    ASSERT_TRUE(look.driver);
    EXPECT_EQ(look.driver->version, major < 2 ? "" : fmt::format("{}.{}.1", major, minor));
    EXPECT_EQ(look.driver->bus_id, "0000:c1:00.0");
    EXPECT_EQ(look.hang, Hang::none);
    EXPECT_EQ(look.state, ArcState::running);
    EXPECT_EQ(look.heartbeat, Heartbeat::alive);
    const EthernetLook ethernet = look_at_ethernet(registers, wormhole::on_board_channels);
    ASSERT_EQ(ethernet.channels.size(), 2U);
    const bool windows = major > 1 || minor >= 32;
    EXPECT_EQ(judge_on_board_link(ethernet.channels[0], FakeCard::board_id).state,
              windows ? EthernetState::up : EthernetState::unknown);
  }
}

TEST(Kmd, AResetIsNoHang) {
  for (const int error : {ENODEV, ENODATA, EBUSY, EAGAIN}) {
    FakeDriver driver;
    driver.open_error = error;
    KmdRegisters registers = registers_of(driver);
    const ArcLook look = look_at_arc(registers);
    EXPECT_EQ(look.driver_error, ::strerrorname_np(error));
    EXPECT_EQ(look.hang, Hang::none);
    EXPECT_EQ(look.state, ArcState::unknown);
    EXPECT_EQ(driver.opened.size(), 1U);
  }
  FakeDriver driver;
  driver.ioctl_error = ENODEV;
  KmdRegisters registers = registers_of(driver);
  EXPECT_EQ(look_at_arc(registers).driver_error, "ENODEV");
}

TEST(Kmd, AllOnesAreAHang) {
  FakeDriver driver;
  driver.card.noc[{0, 10, wormhole::noc_check}] = 0xFFFFFFFF;
  KmdRegisters registers = registers_of(driver);
  EXPECT_EQ(look_at_arc(registers).hang, Hang::noc);
}

class SystemCalls : public FakeHost {};

TEST_F(SystemCalls, ReadConfigurationSpaceAndSayWhatFailed) {
  SystemKmdCalls calls;
  const auto file = write("config", std::string("\x52\x1e\x1e\x40\x01\x02", 6));
  EXPECT_EQ(calls.config32(file, 0), 0x401E1E52U);
  EXPECT_EQ(error_name(calls.config32(file, 4).error()), "ENODATA");
  EXPECT_EQ(error_name(calls.config32(folder_ / "none", 0).error()), "ENOENT");
  EXPECT_EQ(error_name(calls.open(folder_ / "none", O_RDWR).error()), "ENOENT");
  auto fd = calls.open(file, O_RDONLY | O_CLOEXEC);
  ASSERT_TRUE(fd);
  EXPECT_EQ(calls.ioctl(fd->get(), kmd::get_driver_info, nullptr), ENOTTY);
  const auto window = calls.map(fd->get(), 0, 4096);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->get()[0], 0x401E1E52U);
  EXPECT_FALSE(calls.map(fd->get(), 1, 4096));
  calls.wait(std::chrono::milliseconds(0));
}

TEST_F(SystemCalls, WhatIsNoDriverIsSaidSo) {
  SystemKmdCalls calls;
  const auto file = write("node", "x");
  KmdRegisters registers(calls, file, file);
  EXPECT_EQ(error_name(registers.driver().error()), "ENOTTY");
  EXPECT_EQ(error_name(registers.bar32(wormhole::bar::post_code).error()), "ENOTTY");
  EXPECT_EQ(error_name(registers.noc32(0, 10, wormhole::noc_check).error()), "ENOTTY");
}

}  // namespace
}  // namespace trainward::hwprobe
