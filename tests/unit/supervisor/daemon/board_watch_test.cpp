// Boards of an attempt, watched: real helpers over described hosts and fake trees.
#include "supervisor/daemon/boards/board_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "supervisor/daemon/loop/loop.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using testing::HasSubstr;

constexpr const char* serial = "010001451170c0c4";
constexpr const char* bus_id = "0000:41:00.0";

class BoardWatchTest : public testing::Test {
 protected:
  BoardWatchTest() : store_(store::Store::open(folder_.path() / "trainward.db").value()) {
    EXPECT_TRUE(store_.put_board(serial, "n300", bus_id, "OK", "", 1).has_value());
  }

  void write(const std::filesystem::path& name, const std::string& text) const {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // Described, going through `parts`.
  BoardWatch::Order described(const std::string& parts) const {
    write("host.yaml", "boards:\n  - serial: \"" + std::string(serial) +
                           "\"\n    chips: [{id: L, temperature_c: 57}]\n    watch:\n" + parts);
    BoardWatch::Order order = tree();
    order.root = "/";
    order.host = folder_.path() / "host.yaml";
    return order;
  }
  BoardWatch::Order tree() const {
    BoardWatch::Order order;
    order.program = "run";
    order.attempt = 7;
    order.boards = {{serial, bus_id}};
    order.every_ms = 20;
    order.patience_ms = 20'000;
    order.root = folder_.path() / "root";
    return order;
  }
  static std::string device(const char* name) {
    return std::string("root/sys/bus/pci/devices/") + bus_id + "/" + name;
  }
  // Ends when `enough` facts came.
  void watch(const BoardWatch::Order& order, std::size_t enough) {
    const BoardWatch watch(loop_, processes_, paths_, store_, order, [&](core::HostFact fact) {
      facts_.push_back(std::move(fact));
      if (facts_.size() == enough) loop_.stop();
    });
    loop_.run();
  }
  // Looks now and then, as long as the test may take.
  void watch_until(const BoardWatch::Order& order, const std::function<bool()>& condition) {
    const BoardWatch watch(loop_, processes_, paths_, store_, order,
                           [&](core::HostFact fact) { facts_.push_back(std::move(fact)); });
    Timer timer(loop_);
    std::function<void()> look = [&] {
      if (condition()) return loop_.stop();
      timer.after(5, look);
    };
    timer.after(5, look);
    loop_.run();
  }
  json::array samples() const { return store_.board_samples_json(serial, -1, 1000).value(); }
  json::array events() const { return store_.events_json("run", 0, 1000).value(); }

  TemporaryFolder folder_;
  store::Store store_;
  Paths paths_{folder_.path(), PROGRAMS};
  Loop loop_;
  hwprobe::Processes processes_;
  std::vector<core::HostFact> facts_;
};

TEST_F(BoardWatchTest, SamplesAreRecordedAndHeatIsToldWithItsNumbers) {
  watch(described("      - {samples: 2}\n      - {temperature_c: 80}\n"), 1);
  EXPECT_EQ(facts_[0].source, "board watch");
  EXPECT_EQ(facts_[0].text, "board 010001451170c0c4: at 80 °C, its limit is 75 °C");
  EXPECT_EQ(facts_[0].weight, 15);
  EXPECT_EQ(facts_[0].cause, core::Cause::unknown);
  const auto taken = samples();
  ASSERT_GE(taken.size(), 2U);
  EXPECT_EQ(taken[0].at("temperature_c").as_double(), 57);
  EXPECT_EQ(taken[0].at("program").as_string(), "run");
  EXPECT_EQ(taken[0].at("attempt").as_int64(), 7);
  EXPECT_EQ(taken.back().at("temperature_c").as_double(), 80);
  EXPECT_TRUE(taken.back().at("clock_mhz").is_int64());
}

TEST_F(BoardWatchTest, ThatItIsOverIsAnEventAndNoEvidence) {
  watch_until(described("      - {temperature_c: 80, samples: 3}\n      - {}\n"),
              [this] { return !events().empty(); });
  EXPECT_EQ(facts_.size(), 1U);
  const auto told = events();
  EXPECT_EQ(told[0].at("kind").as_string(), "board");
  EXPECT_EQ(told[0].at("attempt").as_int64(), 7);
  EXPECT_THAT(std::string(told[0].at("text").as_string()),
              HasSubstr("below its limit of 75 °C again, at 57 °C"));
}

TEST_F(BoardWatchTest, ErrorsOfTheLinkAndABoardThatGoesAwayAreEvidence) {
  write(device("vendor"), "0x1e52\n");
  write(device("aer_dev_fatal"), "TOTAL_ERR_FATAL 0\n");
  BoardWatch::Order order = tree();
  watch_until(order, [&] {
    if (samples().empty()) return false;
    if (facts_.empty()) {
      write("fatal", "TOTAL_ERR_FATAL 1\n");
      std::filesystem::rename(folder_.path() / "fatal", folder_.path() / device("aer_dev_fatal"));
      return false;
    }
    std::filesystem::remove_all(folder_.path() / device(""));
    return facts_.size() == 2;
  });
  EXPECT_THAT(facts_[0].text, HasSubstr("1 fatal PCIe error"));
  EXPECT_EQ(facts_[0].cause, core::Cause::device_lost);
  EXPECT_THAT(facts_[1].text, HasSubstr("gone from the PCI bus"));
  EXPECT_EQ(facts_[1].weight, 45);
}

TEST_F(BoardWatchTest, AReadThatNeverAnswersHoldsNobodyUp) {
  write(device("vendor"), "0x1e52\n");
  ASSERT_EQ(::mkfifo((folder_.path() / device("aer_dev_correctable")).c_str(), 0600), 0);
  BoardWatch::Order order = tree();
  order.patience_ms = 200;
  // Meanwhile the loop has its turns.
  int turns = 0;
  Timer timer(loop_);
  std::function<void()> turn = [&] {
    ++turns;
    timer.after(1, turn);
  };
  timer.after(1, turn);
  watch(order, 1);
  EXPECT_THAT(facts_[0].text, HasSubstr("gave no sample for"));
  EXPECT_EQ(facts_[0].weight, 15);
  EXPECT_GT(turns, 20);
  EXPECT_TRUE(samples().empty());
}

TEST_F(BoardWatchTest, NonsenseIsNotRecordedNorAFlood) {
  std::filesystem::create_directories(folder_.path() / "bin");
  write("bin/trainward-probe",
        "#!/bin/sh\necho nonsense; echo '{\"board\": 7}'; echo '[]'\n"
        "i=0; while [ $i -lt 200 ]; do i=$((i+1)); "
        "echo '{\"board\": \"b\", \"temperature_c\": 50}'; done\n"
        "while :; do sleep 0.03; echo '{\"board\": \"b\", \"temperature_c\": 90}'; done\n");
  std::filesystem::permissions(folder_.path() / "bin/trainward-probe",
                               std::filesystem::perms::owner_all);
  paths_.programs = folder_.path() / "bin";
  BoardWatch::Order order = tree();
  order.every_ms = 60'000;  // a flood measured by this: one sample
  watch_until(order, [this] { return !samples().empty(); });
  EXPECT_EQ(samples().size(), 1U);
  EXPECT_TRUE(facts_.empty());
}

TEST_F(BoardWatchTest, ABoardWithoutAnAddressIsNotWatched) {
  BoardWatch::Order order = tree();
  order.boards = {{serial, ""}};
  const BoardWatch watch(loop_, processes_, paths_, store_, order, [](const core::HostFact&) {});
  EXPECT_FALSE(std::filesystem::exists(paths_.board_watch()));
}

}  // namespace
}  // namespace trainward::daemon
