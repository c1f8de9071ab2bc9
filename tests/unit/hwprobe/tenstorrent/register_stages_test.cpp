// The stages that read registers, the whole way with real children: a fake tree, and a driver and
// its board played by a double.
#include "hwprobe/tenstorrent/look/register_stages.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "fake_driver.hpp"
#include "host_fixture.hpp"
#include "hwprobe/stages/recording.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
namespace at = wormhole::ethernet;

class RegisterStages : public HostFixture {
 protected:
  void SetUp() override {
    use(std::make_shared<FakeDriver>());
    put_board("0000:c1:00.0", 0);
  }

  void use(std::shared_ptr<FakeDriver> driver) {
    driver_ = std::move(driver);
    options_.kmd_calls = driver_;
  }
  // Without a heartbeat among the attributes, so that nothing is waited for.
  void put_board(const std::string& bus_id, int number) const {
    put_card(bus_id, number, "010001451170C0C4");
  }

  std::vector<BoardLook> look() {
    const auto stages = probe_stages(options_);
    auto looks = look_at_host(options_, stages, processes_);
    EXPECT_TRUE(remember_counters(looks, stages, options_.state));
    return looks;
  }
  // And what is recorded says the same.
  static Report report(const std::vector<BoardLook>& looks) {
    auto report = report_of(looks, probe_stages({}), "sysfs");
    EXPECT_TRUE(report);
    const auto again = looks_from_text(to_text(looks));
    EXPECT_TRUE(again);
    const auto replayed = report_of(*again, probe_stages({}), "sysfs");
    EXPECT_TRUE(replayed);
    EXPECT_EQ(to_json(*replayed), to_json(*report));
    return std::move(*report);
  }
  Board board() { return report(look()).boards.at(0); }
  static std::vector<std::string> names(const BoardLook& look) {
    std::vector<std::string> out;
    for (const StageResult& stage : look.stages) out.push_back(stage.stage);
    return out;
  }

  std::shared_ptr<FakeDriver> driver_;
};

TEST_F(RegisterStages, AHealthyBoard) {
  const auto looks = look();
  EXPECT_THAT(names(looks.at(1)), ElementsAre("pci", "attributes", "registers", "ethernet"));
  const Board board = report(looks).boards.at(0);
  EXPECT_EQ(board.verdict, Verdict::ok) << json::serialize(to_json(report(looks)));
  ASSERT_EQ(board.chips.size(), 2U);
  EXPECT_EQ(board.chips[0].confidence, "kernel attributes and registers");
  EXPECT_EQ(board.chips[0].temperature_c, 57);
  EXPECT_EQ(board.chips[1].confidence, "link level only");
  EXPECT_EQ(board.chips[1].verdict, Verdict::ok);
  EXPECT_EQ(board.links.size(), 2U);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(RegisterStages, AHeartIsWatchedOnce) {
  const auto waits = [](const StageResult& stage) {
    return std::any_of(stage.readings.begin(), stage.readings.end(),
                       [](const Reading& reading) { return reading.key == "wait 1200"; });
  };
  EXPECT_TRUE(waits(look().at(1).stages.at(2)));
  const std::string beat = node("0000:c1:00.0") + "tt_heartbeat";
  write(beat, "100\n");
  options_.wait = [this, beat](milliseconds) { write(beat, "101\n"); };
  driver_->card.arc_frozen = true;  // which the second watch would find
  const auto looks = look();
  EXPECT_TRUE(waits(looks.at(1).stages.at(1)));
  EXPECT_FALSE(waits(looks.at(1).stages.at(2)));
  EXPECT_EQ(report(looks).boards.at(0).verdict, Verdict::ok);
}

TEST_F(RegisterStages, ADeadLinkAndADeadProcessor) {
  driver_->card.at_channel(8, at::train_status) = 2;
  EXPECT_EQ(board().verdict, Verdict::degraded);
  driver_->card.bar[wormhole::bar::post_code] = 0;
  const auto looks = look();
  EXPECT_EQ(report(looks).boards.at(0).verdict, Verdict::arc_dead);
  EXPECT_THAT(names(looks.at(1)), ElementsAre("pci", "attributes", "registers"));
}

TEST_F(RegisterStages, AHungBoardIsAskedNothingElse) {
  driver_->card.noc[{0, 10, wormhole::noc_check}] = wormhole::all_ones;
  const auto looks = look();
  EXPECT_THAT(names(looks.at(1)), ElementsAre("pci", "attributes", "registers"));
  EXPECT_EQ(report(looks).boards.at(0).verdict, Verdict::noc_hung);
}

TEST_F(RegisterStages, CountersAreComparedWithTheFirstLookOfThisBoot) {
  driver_->card.at_channel(8, at::retrains) = 400;
  EXPECT_EQ(board().verdict, Verdict::ok);
  EXPECT_TRUE(std::filesystem::exists(options_.state / "0000:c1:00.0.counters"));
  EXPECT_EQ(board().verdict, Verdict::ok);
  driver_->card.at_channel(8, at::retrains) = 403;
  const Board worse = board();
  EXPECT_EQ(worse.verdict, Verdict::degraded);
  EXPECT_THAT(worse.evidence.at(0).what, HasSubstr("was retrained 3 times"));
  EXPECT_EQ(board().verdict, Verdict::degraded);  // and it stays known
  driver_->card.at_channel(8, at::retrains) = 2;  // it was reset
  EXPECT_EQ(board().verdict, Verdict::ok);
  write("state/0000:c1:00.0.counters", "{damaged");
  EXPECT_EQ(board().verdict, Verdict::ok);
}

TEST_F(RegisterStages, WhatCannotBeOpenedIsNoFault) {
  for (const int error : {EACCES, ENOENT, EPERM, ENOTTY}) {
    driver_->open_error = error;
    const Board found = board();
    EXPECT_EQ(found.verdict, Verdict::ok) << error;
    EXPECT_EQ(found.chips.at(0).confidence, "kernel attributes");
    EXPECT_EQ(found.chips.at(1).confidence, "not read");
  }
  driver_->open_error = EAGAIN;
  EXPECT_EQ(board().verdict, Verdict::busy);
  driver_->open_error = ENODEV;
  EXPECT_EQ(board().verdict, Verdict::resetting);
}

TEST_F(RegisterStages, AnOldDriverIsNoFault) {
  for (const auto& [major, minor] : {std::pair(1, 27), std::pair(1, 31), std::pair(1, 32)}) {
    use(std::make_shared<FakeDriver>(major, minor));
    const Board found = board();
    EXPECT_EQ(found.verdict, Verdict::ok) << major << "." << minor;
    EXPECT_EQ(found.links.size(), minor >= 32 ? 2U : 0U);
    EXPECT_EQ(found.chips.at(1).confidence, minor >= 32 ? "link level only" : "not read");
  }
}

TEST_F(RegisterStages, AnotherChipIsNotReadAsIfItWereAWormhole) {
  driver_->card.config[wormhole::config::ids] = 0xB1401E52;
  const auto looks = look();
  EXPECT_EQ(report(looks).boards.at(0).verdict, Verdict::ok);
  EXPECT_THAT(names(looks.at(1)), ElementsAre("pci", "attributes", "registers"));
  for (const Reading& reading : looks.at(1).stages.at(2).readings) {
    EXPECT_FALSE(reading.key.starts_with("bar") || reading.key.starts_with("noc")) << reading.key;
  }
}

TEST_F(RegisterStages, ABoardInAResetIsNotOpened) {
  // No fake tree gives ENODEV, so the stages before are told instead of run.
  const auto stages = probe_stages(options_);
  std::vector<StageResult> before{
      {"pci",
       Ending::finished,
       "",
       {{"list /sys/bus/pci/devices/0000:c1:00.0/tenstorrent", "tenstorrent!0", ""}},
       1},
      {"attributes",
       Ending::finished,
       "",
       {{"list /sys/bus/pci/devices/0000:c1:00.0/tenstorrent", "tenstorrent!0", ""},
        {"list /sys/bus/pci/devices/0000:c1:00.0/tenstorrent/tenstorrent!0", "tt_serial", ""},
        {"file /sys/bus/pci/devices/0000:c1:00.0/tenstorrent/tenstorrent!0/tt_serial", "",
         "ENODEV"}},
       1}};
  EXPECT_FALSE(stages.at(2).stage.when("0000:c1:00.0", before));
  before[1].readings.back() = {before[1].readings.back().key, "010001451170C0C4\\n", ""};
  EXPECT_TRUE(stages.at(2).stage.when("0000:c1:00.0", before));
  before[1].ending = Ending::deadline;
  EXPECT_FALSE(stages.at(2).stage.when("0000:c1:00.0", before));
}

TEST_F(RegisterStages, FirmwareThatDiffersFromCardToCard) {
  put_board("0000:c2:00.0", 1);
  write(node("0000:c2:00.0", 1) + "tt_fw_bundle_ver", "19.6.0.0\n");
  write(node("0000:c1:00.0") + "tt_fw_bundle_ver", "19.7.1.0\n");
  driver_->open_error = EACCES;
  const Report found = report(look());
  EXPECT_EQ(found.boards.at(0).verdict, Verdict::ok);
  EXPECT_EQ(found.boards.at(1).verdict, Verdict::degraded);
  EXPECT_THAT(found.boards.at(1).evidence.at(0).what, HasSubstr("another board of this host has"));
}

// What the kernel does to a mapping when the board is reset under it, and a call that does not come
// back.
class Trouble : public FakeDriver {
 public:
  int ioctl(int fd, unsigned long request, void* argument) override {
    if (request == kmd::allocate_window) {
      if (signal != 0) ::raise(signal);
      if (!fifo.empty()) std::ifstream(fifo).get();
    }
    return FakeDriver::ioctl(fd, request, argument);
  }
  int signal = 0;
  std::filesystem::path fifo;
};

TEST_F(RegisterStages, AMappingThatIsTakenAway) {
  auto trouble = std::make_shared<Trouble>();
  trouble->signal = SIGBUS;
  use(trouble);
  const Board found = board();
  EXPECT_EQ(found.verdict, Verdict::resetting);
  EXPECT_THAT(found.evidence.at(0).what, HasSubstr("'registers' read it (SIGBUS)"));
}

TEST_F(RegisterStages, FourBoardsWhoseDriversHangEndAtTheirDeadlines) {
  auto trouble = std::make_shared<Trouble>();
  trouble->fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(trouble->fifo.c_str(), 0600), 0);
  use(trouble);
  for (int i = 2; i <= 4; ++i) put_board("0000:c" + std::to_string(i) + ":00.0", i);
  auto stages = probe_stages(options_);
  stages[2].stage.deadline = milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  const auto looks = look_at_host(options_, stages, processes_);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(3'000));
  ASSERT_EQ(looks.size(), 5U);
  for (std::size_t i = 1; i < looks.size(); ++i) {
    EXPECT_EQ(looks[i].stages.back().ending, Ending::deadline);
    EXPECT_GE(looks[i].stages.back().took_ms, 300);
  }
  for (const Board& found : report(looks).boards) EXPECT_EQ(found.verdict, Verdict::unknown);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace trainward::hwprobe
