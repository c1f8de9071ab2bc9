// The kernel's view, from fake trees: every look is recorded and judged from the recording, as a
// parent does with what its children said, but here in one process. Waiting is a function of the
// test: no test sleeps.
#include "hwprobe/tenstorrent/look/sysfs.hpp"

#include <gmock/gmock.h>

#include <array>
#include <random>

#include "fake_host.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"
#include "hwprobe/tenstorrent/look/host_look.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class Sysfs : public FakeHost {
 protected:
  void put(const std::string& name, const std::string& text) const { write(device() + name, text); }
  void put_attribute(const std::string& name, const std::string& text) const {
    write(node() + name, text + "\n");
  }

  // A card in good health; the heartbeat moves whenever somebody waits.
  void put_healthy_card() {
    put_card();
    put("current_link_speed", "16.0 GT/s PCIe\n");
    put("max_link_speed", "16.0 GT/s PCIe\n");
    put("current_link_width", "16\n");
    put("max_link_width", "16\n");
    put("hwmon/hwmon3/temp1_input", "57000\n");
    put("hwmon/hwmon3/temp1_max", "75000\n");
    put_attribute("tt_fw_bundle_ver", "19.7.1.0");
    put_attribute("tt_heartbeat", "100");
    on_wait_ = [this] { put_attribute("tt_heartbeat", "112"); };
  }

  // Runs the bodies here; `change` may bend what was read.
  std::vector<BoardLook> looks() {
    HostOptions options;
    options.root = folder_;
    options.wait = [this](milliseconds time) {
      waits_.push_back(time.count());
      if (on_wait_) on_wait_();
    };
    LiveFiles live(folder_, options.wait);
    StageResult bus;
    bus.stage = "bus";
    RecordingFiles files(live, [&](const Reading& reading) { bus.readings.push_back(reading); });
    const auto boards = look_at_bus(files).boards;
    std::vector<BoardLook> looks{{"bus", {bus}}};
    for (const std::string& bus_id : boards.value_or(std::vector<std::string>())) {
      BoardLook look{bus_id, {}};
      for (const ProbeStage& stage : probe_stages(options)) {
        if (stage.stage.when && !stage.stage.when(bus_id, look.stages)) continue;
        StageResult result;
        result.stage = stage.stage.name;
        EXPECT_TRUE(stage.stage.body(
            bus_id, [&](const Reading& reading) { result.readings.push_back(reading); }));
        look.stages.push_back(std::move(result));
      }
      looks.push_back(std::move(look));
    }
    return looks;
  }
  Result<Report> look() { return report_of(looks(), probe_stages({}), "sysfs"); }
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
  const std::filesystem::path card = folder_ / device();
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

TEST_F(Sysfs, HoldersMakeItBusy) {
  put_healthy_card();
  write("proc/driver/tenstorrent/0/pids", "");
  EXPECT_EQ(only_board().verdict, Verdict::ok);
  put_attribute("tt_heartbeat", "100");
  write("proc/driver/tenstorrent/0/pids", "77\n0\n77\n");
  const Board board = only_board();
  EXPECT_EQ(board.verdict, Verdict::busy);
  EXPECT_THAT(board.evidence.at(0).what, HasSubstr("process 77, 0"));
}

// What attribute `name` answers becomes `error`.
void refuse(BoardLook& look, std::string_view name, const std::string& error) {
  for (StageResult& stage : look.stages) {
    for (Reading& reading : stage.readings) {
      if (reading.key.ends_with(name)) reading = {reading.key, "", error};
    }
  }
}

TEST_F(Sysfs, AResetTakesTheDataAway) {
  put_healthy_card();
  const std::vector<BoardLook> healthy = looks();
  const auto verdict = [&](const std::vector<std::pair<std::string, std::string>>& refused) {
    std::vector<BoardLook> bent = healthy;
    for (const auto& [name, error] : refused) refuse(bent.at(1), name, error);
    const auto report = report_of(bent, probe_stages({}), "replay");
    EXPECT_TRUE(report && report->boards.size() == 1);
    return report->boards.at(0);
  };
  EXPECT_EQ(verdict({{"tt_serial", "ENODEV"}}).verdict, Verdict::resetting);
  EXPECT_EQ(verdict({{"tt_serial", "ENODATA"}}).verdict, Verdict::ok);
  const std::vector<std::pair<std::string, std::string>> no_data{{"tt_serial", "ENODATA"},
                                                                 {"tt_card_type", "ENODATA"},
                                                                 {"tt_fw_bundle_ver", "ENODATA"},
                                                                 {"tt_heartbeat", "ENODATA"}};
  // Its sensors still answer: firmware that publishes nothing else, no reset.
  EXPECT_EQ(verdict(no_data).verdict, Verdict::ok);
  auto nothing = no_data;
  nothing.emplace_back("temp1_input", "ENODATA");
  const Board board = verdict(nothing);
  EXPECT_EQ(board.verdict, Verdict::resetting);
  EXPECT_THAT(board.evidence.at(0).advice, HasSubstr("three minutes"));
  EXPECT_EQ(board.chips.at(0).verdict, Verdict::resetting);
}

TEST_F(Sysfs, AHealthyCardIsNeverCalledBadWhateverCannotBeRead) {
  put_healthy_card();
  for (const char* name : {"tt_aiclk", "tt_asic_id", "tt_arc_fw_ver"}) put_attribute(name, "1");
  write("proc/driver/tenstorrent/0/pids", "");
  const std::vector<BoardLook> healthy = looks();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    std::vector<BoardLook> bent = healthy;
    const unsigned share = random() % 101;
    for (StageResult& stage : bent.at(1).stages) {
      for (Reading& reading : stage.readings) {
        if (random() % 100 < share && !reading.key.ends_with("/tenstorrent")) {
          const std::array<const char*, 4> errors{"ENOENT", "EACCES", "EIO", "EINVAL"};
          reading = {reading.key, "", errors.at(random() % errors.size())};
        }
      }
    }
    const auto report = report_of(bent, probe_stages({}), "replay");
    ASSERT_TRUE(report);
    ASSERT_EQ(report->boards.at(0).verdict, Verdict::ok) << report->boards[0].evidence.at(0).what;
  }
}

// Cut anywhere, the look says less; it never says that something is broken.
TEST_F(Sysfs, ALookThatWasCutShortBlamesNobody) {
  put_healthy_card();
  on_wait_ = [this] {
    if (waits_.size() == 2) put_attribute("tt_heartbeat", "101");
  };
  const std::vector<BoardLook> whole = looks();
  ASSERT_EQ(waits_.size(), 2U);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    for (std::size_t kept = 0; kept < whole.at(1).stages.at(stage).readings.size(); ++kept) {
      std::vector<BoardLook> cut = whole;
      cut[1].stages.resize(stage + 1);
      StageResult& last = cut[1].stages.back();
      last.readings.resize(kept);
      last.ending = Ending::deadline;
      const auto report = report_of(cut, probe_stages({}), "replay");
      ASSERT_TRUE(report);
      const Board& board = report->boards.at(0);
      EXPECT_EQ(board.verdict, Verdict::unknown) << stage << " " << kept;
      EXPECT_EQ(board.evidence.size(), 1U);
      EXPECT_THAT(board.evidence.at(0).what, HasSubstr("was not done"));
    }
  }
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
