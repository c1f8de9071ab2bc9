// The whole way with real children: bus, boards, report, recording.
#include "hwprobe/tenstorrent/look/host_look.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host_fixture.hpp"
#include "hwprobe/health.hpp"
#include "hwprobe/stages/recording.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class HostLook : public HostFixture {
 protected:
  void SetUp() override {
    options_.wait = [this](milliseconds) { put_beat("0000:c1:00.0", "101"); };
    std::filesystem::create_directories(folder_ / "sys/bus/pci/devices");
  }

  void put_beat(const std::string& bus_id, const std::string& beat) const {
    write(node(bus_id) + "tt_heartbeat", beat + "\n");
  }
  void put_card(const std::string& bus_id) const {
    FakeHost::put_card(bus_id);
    write(device(bus_id) + "hwmon/hwmon3/temp1_input", "57000\n");
    put_beat(bus_id, "100");
  }
  void put_fifo(const std::string& name) const {
    std::filesystem::remove(folder_ / name);
    ASSERT_EQ(::mkfifo((folder_ / name).c_str(), 0600), 0);
  }

  std::vector<ProbeStage> stages(milliseconds deadline) const {
    auto stages = probe_stages(options_);
    for (ProbeStage& stage : stages) stage.stage.deadline = deadline;
    return stages;
  }
  // A hanging stage ends after `deadline`.
  std::vector<BoardLook> look(milliseconds deadline = milliseconds(20'000)) {
    return look_at_host(options_, stages(deadline), processes_);
  }
  Result<Report> report(const std::vector<BoardLook>& looks) const {
    return report_of(looks, stages(milliseconds(1)), "sysfs");
  }
};

TEST_F(HostLook, HealthyBoardsAndTheSameFromTheirRecording) {
  put_card("0000:c1:00.0");
  options_.wait = [this](milliseconds) {
    // Both boards' children do this, so each says something of its own.
    put_beat("0000:c1:00.0", std::to_string(::getpid()));
    put_beat("0000:c2:00.0", std::to_string(::getpid()));
  };
  put_card("0000:c2:00.0");
  write(device("0000:00:00.0") + "vendor", "0x8086\n");
  const auto looks = look();
  const auto live = report(looks);
  ASSERT_TRUE(live) << live.error().message();
  ASSERT_EQ(live->boards.size(), 2U);
  EXPECT_EQ(health(*live), Health::healthy);
  EXPECT_EQ(live->boards[1].bus_id, "0000:c2:00.0");
  EXPECT_EQ(live->boards[1].serial, "0100014511708037");

  const auto read = looks_from_text(to_text(looks));
  ASSERT_TRUE(read) << read.error().message();
  const auto replayed = report(*read);
  ASSERT_TRUE(replayed);
  EXPECT_EQ(to_json(*replayed), to_json(*live));
}

TEST_F(HostLook, AnAttributeThatHangsKeepsWhatWasReadBefore) {
  put_card("0000:c1:00.0");
  put_fifo(node("0000:c1:00.0") + "tt_serial");
  const auto found = report(look(milliseconds(500)));
  ASSERT_TRUE(found);
  const Board& board = found->boards.at(0);
  EXPECT_EQ(board.verdict, Verdict::unknown);
  EXPECT_FALSE(usable(board.verdict));
  EXPECT_EQ(health(*found), Health::unclear);
  EXPECT_EQ(board.type, "n300");
  EXPECT_EQ(board.chips.at(0).temperature_c, 57);
  EXPECT_EQ(board.chips.at(0).verdict, Verdict::unknown);
  EXPECT_THAT(board.evidence.at(0).what, HasSubstr("the stage 'attributes' was not done after"));
  EXPECT_THAT(board.evidence.at(0).what, HasSubstr("tt_heartbeat"));
}

TEST_F(HostLook, AHeartbeatThatCannotBeReadAgainIsNotFrozen) {
  put_card("0000:c1:00.0");
  options_.wait = [this](milliseconds) { put_fifo(node("0000:c1:00.0") + "tt_heartbeat"); };
  const auto looks = look(milliseconds(500));
  const auto found = report(looks);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->boards.at(0).verdict, Verdict::unknown);
  EXPECT_EQ(report(*looks_from_text(to_text(looks)))->boards.at(0).verdict, Verdict::unknown);
}

TEST_F(HostLook, OneBoardThatHangsDoesNotSpoilTheOthers) {
  put_card("0000:c1:00.0");
  put_card("0000:c2:00.0");
  put_fifo(device("0000:c2:00.0") + "config");
  const auto found = report(look(milliseconds(500)));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->boards.size(), 2U);
  EXPECT_EQ(found->boards[0].verdict, Verdict::ok);
  EXPECT_EQ(found->boards[1].verdict, Verdict::unknown);
  EXPECT_EQ(health(*found), Health::degraded);
}

TEST_F(HostLook, ADegradedBoardThatDidNotAnswerIsNotUsable) {
  put_card("0000:c1:00.0");
  write(device("0000:c1:00.0") + "current_link_width", "8\n");
  write(device("0000:c1:00.0") + "max_link_width", "16\n");
  EXPECT_EQ(report(look())->boards.at(0).verdict, Verdict::degraded);
  put_fifo(node("0000:c1:00.0") + "tt_card_type");
  const auto found = report(look(milliseconds(500)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->boards.at(0).verdict, Verdict::unknown);
  ASSERT_EQ(found->boards[0].evidence.size(), 2U);
  EXPECT_THAT(found->boards[0].evidence[0].what, HasSubstr("was not done"));
  EXPECT_THAT(found->boards[0].evidence[1].what, HasSubstr("PCIe runs at"));
}

TEST_F(HostLook, ABoardOffTheBusIsAskedNothingElse) {
  put_card("0000:c1:00.0");
  write(device("0000:c1:00.0") + "config", "\xff\xff\xff\xff");
  const auto looks = look();
  EXPECT_EQ(looks.at(1).stages.size(), 1U);
  EXPECT_EQ(report(looks)->boards.at(0).verdict, Verdict::off_bus);
}

TEST_F(HostLook, ABoardThatHoldsItsChildIsStuck) {
  class Holding : public Processes {
   public:
    Waited wait(pid_t child) override {
      // Only the FIFO's reader is held: the others end by themselves.
      if (hold && killed) return {};
      return Processes::wait(child);
    }
    void kill(pid_t child) override {
      killed = true;
      Processes::kill(child);
    }
    bool hold = true;
    bool killed = false;
  } kernel;
  put_card("0000:c1:00.0");
  put_fifo(device("0000:c1:00.0") + "config");
  options_.limits.kill_grace = milliseconds(50);
  auto looks = look_at_host(options_, stages(milliseconds(400)), kernel);
  auto found = report(looks);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->boards.at(0).verdict, Verdict::stuck_in_kernel);
  EXPECT_EQ(found->boards.at(0).chips.at(0).verdict, Verdict::stuck_in_kernel);
  EXPECT_EQ(health(*found), Health::unusable);
  EXPECT_THAT(found->boards.at(0).evidence.at(0).advice, HasSubstr("reboot the host"));
  EXPECT_EQ(report(*looks_from_text(to_text(looks)))->boards.at(0).verdict,
            Verdict::stuck_in_kernel);
  kernel.hold = false;
  looks = look_at_host(options_, stages(milliseconds(400)), kernel);
  EXPECT_EQ(looks.at(1).stages.at(0).ending, Ending::deadline);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(HostLook, ABusThatCannotBeListed) {
  std::filesystem::remove_all(folder_ / "sys");
  const auto found = report(look());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr("cannot list the PCI devices"));
}

TEST_F(HostLook, ABusThatCannotBeLookedAt) {
  options_.state = folder_ / "none";
  const auto found = report(look());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::transient);
  EXPECT_THAT(found.error().message(), HasSubstr("--state FOLDER"));
}

TEST_F(HostLook, AnEmptyRecordingTellsNothing) { EXPECT_FALSE(report({})); }

TEST_F(HostLook, StagesOfANewerProgramAreSkipped) {
  put_card("0000:c1:00.0");
  auto looks = look();
  looks.at(1).stages.push_back({"quantum", Ending::finished, "", {{"qubit 1", "x", ""}}, 1});
  EXPECT_EQ(report(looks)->boards.at(0).verdict, Verdict::ok);
}

}  // namespace
}  // namespace trainward::hwprobe
