// The kernel's view, from fake trees. Waiting is a function of the test: no test sleeps.
#include "hwprobe/sysfs.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "temporary_folder.hpp"

namespace trainward::hwprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Sysfs : public TemporaryFolder {
 protected:
  static constexpr const char* device = "sys/bus/pci/devices/0000:c1:00.0/";

  void put(const std::string& name, const std::string& text) const { write(device + name, text); }
  void put_attribute(const std::string& name, const std::string& text) const {
    put("tenstorrent/tenstorrent!0/" + name, text + "\n");
  }

  // A card in good health; the heartbeat moves whenever somebody waits.
  void put_healthy_card() {
    put("vendor", "0x1e52\n");
    put("config", "\x52\x1e\x1e\x40");
    put("current_link_speed", "16.0 GT/s PCIe\n");
    put("max_link_speed", "16.0 GT/s PCIe\n");
    put("current_link_width", "16\n");
    put("max_link_width", "16\n");
    put("hwmon/hwmon3/temp1_input", "57000\n");
    put("hwmon/hwmon3/temp1_max", "75000\n");
    put_attribute("tt_serial", "0100014511708037");
    put_attribute("tt_card_type", "n300");
    put_attribute("tt_fw_bundle_ver", "19.7.1.0");
    put_attribute("tt_heartbeat", "100");
    on_wait_ = [this] { put_attribute("tt_heartbeat", "112"); };
  }

  Result<Report> look() {
    SysfsSource source(
        folder_,
        [this](std::chrono::milliseconds time) {
          waits_.push_back(time.count());
          if (on_wait_) on_wait_();
        },
        4321);
    return source.look();
  }
  Board only_board() {
    const auto report = look();
    EXPECT_TRUE(report);
    EXPECT_EQ(report ? report->boards.size() : 0, 1U);
    return report && !report->boards.empty() ? report->boards[0] : Board{};
  }

  std::vector<std::int64_t> waits_;
  std::function<void()> on_wait_;
};

TEST_F(Sysfs, HealthyCard) {
  put_healthy_card();
  write("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n");
  const Board board = only_board();
  EXPECT_EQ(board.verdict, Verdict::ok) << (board.evidence.empty() ? "" : board.evidence[0].what);
  EXPECT_EQ(board.serial, "0100014511708037");
  EXPECT_EQ(board.type, "n300");
  EXPECT_EQ(board.bus_id, "0000:c1:00.0");
  ASSERT_EQ(board.chips.size(), 2U);
  EXPECT_EQ(board.chips[0].temperature_c, 57);
  EXPECT_EQ(board.chips[1].confidence, "not read");
  EXPECT_THAT(waits_, ElementsAre(1200));
}

TEST_F(Sysfs, AbsentAttributesAreNeverAFault) {
  put_healthy_card();
  const std::filesystem::path card = folder_ / device;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(card)) {
    if (entry.is_regular_file() && entry.path().filename() != "vendor") {
      files.push_back(entry.path());
    }
  }
  ASSERT_GE(files.size(), 11U);
  for (const auto& file : files) {
    put_attribute("tt_heartbeat", "100");
    const auto aside = folder_ / "aside";
    std::filesystem::rename(file, aside);
    if (file.filename() == "tt_heartbeat") on_wait_ = nullptr;
    EXPECT_EQ(only_board().verdict, Verdict::ok) << file;
    std::filesystem::rename(aside, file);
    put_healthy_card();
  }
  // All of them at once: the node of the driver alone is no fault either.
  for (const auto& file : files) std::filesystem::remove(file);
  on_wait_ = nullptr;
  EXPECT_EQ(only_board().verdict, Verdict::ok);
}

TEST_F(Sysfs, GarbageInAttributesIsNotAFault) {
  put_healthy_card();
  put_attribute("tt_heartbeat", "soon");
  put("hwmon/hwmon3/temp1_input", "warm\n");
  put("hwmon/hwmon3/temp1_max", "0\n");
  put_attribute("tt_fw_bundle_ver", "?.?");
  EXPECT_EQ(only_board().verdict, Verdict::ok);
}

TEST_F(Sysfs, FrozenHeartbeatIsLookedAtThreeTimes) {
  put_healthy_card();
  on_wait_ = nullptr;
  const Board board = only_board();
  EXPECT_EQ(board.verdict, Verdict::arc_dead);
  EXPECT_THAT(waits_, ElementsAre(1200, 1000));
}

TEST_F(Sysfs, SlowHeartbeatIsAlive) {
  put_healthy_card();
  on_wait_ = [this] {
    if (waits_.size() == 2) put_attribute("tt_heartbeat", "101");
  };
  EXPECT_EQ(only_board().verdict, Verdict::ok);
}

TEST_F(Sysfs, ConfigurationSpaceOfAllOnesIsOffTheBus) {
  put_healthy_card();
  put("config", "\xff\xff\xff\xff");
  EXPECT_EQ(only_board().verdict, Verdict::off_bus);
}

TEST_F(Sysfs, HotCard) {
  put_healthy_card();
  put("hwmon/hwmon3/temp1_input", "76500\n");
  EXPECT_EQ(only_board().verdict, Verdict::hot);
}

TEST_F(Sysfs, NarrowLinkIsDegraded) {
  put_healthy_card();
  put("current_link_width", "8\n");
  const Board board = only_board();
  EXPECT_EQ(board.verdict, Verdict::degraded);
  EXPECT_EQ(board.evidence.at(0).what,
            "PCIe runs at 16.0 GT/s PCIe x8, the card can do 16.0 GT/s PCIe x16");
}

TEST_F(Sysfs, CardWithoutDriver) {
  put("vendor", "0x1e52\n");
  EXPECT_EQ(only_board().verdict, Verdict::no_driver);
}

TEST_F(Sysfs, OtherHoldersMakeItBusyAndWeDoNot) {
  put_healthy_card();
  write("proc/driver/tenstorrent/0/pids", "4321\n");
  EXPECT_EQ(only_board().verdict, Verdict::ok);
  put_attribute("tt_heartbeat", "100");
  write("proc/driver/tenstorrent/0/pids", "77\n4321\n77\n");
  const Board board = only_board();
  EXPECT_EQ(board.verdict, Verdict::busy);
  EXPECT_THAT(board.evidence.at(0).what, HasSubstr("process 77"));
}

TEST_F(Sysfs, AFifoIsNotWaitedFor) {
  put_healthy_card();
  const auto path = folder_ / device / "tenstorrent/tenstorrent!0/tt_serial";
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(only_board().serial, "");
}

TEST_F(Sysfs, EmptyBusSaysWhy) {
  std::filesystem::create_directories(folder_ / "sys/bus/pci/devices");
  auto report = look();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->evidence.at(0).what, HasSubstr("no Tenstorrent board"));
  EXPECT_TRUE(waits_.empty());
  write("sys/module/tenstorrent/version", "2.7.0\n");
  report = look();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->evidence.at(0).what, HasSubstr("driver is loaded"));
}

TEST_F(Sysfs, WithoutABusNothingCanBeTold) { EXPECT_FALSE(look()); }

}  // namespace
}  // namespace trainward::hwprobe
