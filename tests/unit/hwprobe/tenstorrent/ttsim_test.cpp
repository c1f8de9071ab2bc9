// The simulator's backend, over a library that only has its functions; and over the simulator
// itself where TRAINWARD_TTSIM names its library (variant wh_x2, an N300).
#include "hwprobe/tenstorrent/registers/ttsim.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "common/os/file.hpp"
#include "fake_host.hpp"
#include "hwprobe/tenstorrent/decode/board_facts.hpp"
#include "hwprobe/tenstorrent/judge/verdict.hpp"
#include "hwprobe/tenstorrent/registers/addresses.hpp"
#include "hwprobe/tenstorrent/registers/register_recording.hpp"
#include "read_lines.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

TEST(Ttsim, ReadsThroughItsFirstWindow) {
  auto opened = TtsimRegisters::open(FAKE_TTSIM, 0);
  ASSERT_TRUE(opened) << opened.error().message();
  TtsimRegisters& registers = **opened;
  EXPECT_EQ(registers.config32(0), 0x401E1E52U);
  EXPECT_EQ(registers.bar32(wormhole::bar::post_code), 0xC0DE0001U);
  EXPECT_EQ(registers.noc32(9, 6, wormhole::ethernet::train_status), 1U);
  EXPECT_EQ(registers.noc32(0, 10, wormhole::noc_check), 0x1060A280U);
  EXPECT_EQ(registers.driver()->bus_id, "0000:00:00.0");
  registers.poke_bar(wormhole::bar::post_code, 7);
  registers.poke_noc(9, 6, wormhole::ethernet::train_status, 2);
  EXPECT_EQ(registers.bar32(wormhole::bar::post_code), 7U);
  EXPECT_EQ(registers.noc32(9, 6, wormhole::ethernet::train_status), 2U);
  EXPECT_TRUE(registers.wait(std::chrono::milliseconds(2)));
  EXPECT_GT(*registers.config32(4), 0U);
}

TEST(Ttsim, RefusesWhatWouldEndIt) {
  auto opened = TtsimRegisters::open(FAKE_TTSIM, 0);
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->config32(0x10).error().kind, ErrorKind::usage);
  EXPECT_EQ((*opened)->bar32(0x1FF300E0).error().kind, ErrorKind::usage);
  EXPECT_EQ((*opened)->noc32(1, 1, 0).error().kind, ErrorKind::usage);
}

TEST(Ttsim, SaysWhatIsWrongWithALibrary) {
  auto none = TtsimRegisters::open("/no/such/library.so", 0);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, HasSubstr("cannot load the simulator"));
  auto other = TtsimRegisters::open("libm.so.6", 0);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().what, HasSubstr("is not the simulator"));
  auto third = TtsimRegisters::open(FAKE_TTSIM, 3);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().what, HasSubstr("no board 3"));
}

// The simulated processor's counter stands still: here it moves whenever somebody waits.
class Beating : public RegisterIo {
 public:
  explicit Beating(TtsimRegisters& board) : board_(board) {}

  Result<std::uint32_t> config32(std::uint32_t offset) override { return board_.config32(offset); }
  Result<std::uint32_t> bar32(std::uint32_t offset) override { return board_.bar32(offset); }
  Result<std::uint32_t> noc32(unsigned x, unsigned y, std::uint64_t address) override {
    return board_.noc32(x, y, address);
  }
  Result<DriverInfo> driver() override { return board_.driver(); }
  Status wait(std::chrono::milliseconds time) override {
    if (const auto table = read_tag_table(board_); table && *table) {
      const auto beat = (*table)->offsets.find(32);
      if (beat != (*table)->offsets.end()) board_.poke_bar(beat->second, ++beats_);
    }
    return board_.wait(time);
  }

 private:
  TtsimRegisters& board_;
  std::uint32_t beats_ = 1000;
};

using Damage = std::function<void(TtsimRegisters&)>;

// The child: reads, writes down what it read, and judges nothing.
[[noreturn]] void read_board(const std::filesystem::path& lines, const char* library,
                             const Damage& damage) {
  auto opened = TtsimRegisters::open(library, 0);
  if (!opened) ::_exit(2);
  damage(**opened);
  std::ofstream out(lines);
  Beating beating(**opened);
  RecordingRegisters recording(beating, [&](const Reading& r) { out << format(r) << "\n"; });
  look_at_arc(recording);
  look_at_ethernet(recording, wormhole::on_board_channels);
  out.close();
  ::_exit(0);
}

// The simulator starts once a process and may end it, so every look has a child of its own.
Board look(const std::filesystem::path& folder, const char* library, const Damage& damage) {
  const auto lines = folder / "lines";
  const pid_t child = ::fork();
  if (child == 0) read_board(lines, library, damage);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  auto text = read_file(lines, 1 << 20);
  EXPECT_TRUE(text);
  const auto readings = read_lines(text.value_or(""));
  ReplayRegisters replay(readings);
  BoardFacts facts;
  Baselines baselines("boot");
  const ArcLook arc = look_at_arc(replay);
  add(arc, facts);
  add(look_at_ethernet(replay, wormhole::on_board_channels), arc, baselines, facts);
  return judge(facts);
}

class Simulator : public FakeHost {
 protected:
  void SetUp() override {
    library_ = std::getenv("TRAINWARD_TTSIM");
    if (library_ == nullptr) GTEST_SKIP() << "TRAINWARD_TTSIM names no simulator";
  }
  Board look_after(const Damage& damage) { return look(folder_, library_, damage); }

  const char* library_ = nullptr;
};

std::string first_word(const Board& board) {
  return board.evidence.empty() ? "" : board.evidence.front().what;
}

TEST_F(Simulator, IsHealthy) {
  const Board board = look_after([](TtsimRegisters&) {});
  EXPECT_EQ(board.verdict, Verdict::ok) << first_word(board);
  EXPECT_EQ(board.serial, "01000146118320AE");
  EXPECT_EQ(board.type, "n300");
  ASSERT_EQ(board.chips.size(), 2U);
  EXPECT_EQ(board.chips[0].temperature_c, 40);
  EXPECT_EQ(board.chips[1].confidence, "link level only");
  ASSERT_EQ(board.links.size(), 2U);
  EXPECT_TRUE(board.links[0].up && board.links[1].up);
}

TEST_F(Simulator, ShowsTheFaultsThatAreWrittenIntoIt) {
  namespace at = wormhole::ethernet;
  const auto poke = [](unsigned channel, std::uint32_t address, std::uint32_t word) {
    return [=](TtsimRegisters& board) {
      const wormhole::Tile tile = wormhole::ethernet_tiles.at(channel);
      board.poke_noc(tile.x, tile.y, address, word);
    };
  };
  Board board = look_after(poke(8, at::train_status, 2));
  EXPECT_EQ(board.verdict, Verdict::degraded) << first_word(board);
  board = look_after(poke(9, at::soft_reset, 0x800));
  EXPECT_EQ(board.verdict, Verdict::degraded) << first_word(board);
  EXPECT_THAT(first_word(board), HasSubstr("held in reset"));
  board = look_after([&](TtsimRegisters& both) {
    poke(8, at::train_status, 2)(both);
    poke(9, at::remote_board_low, 5)(both);
  });
  EXPECT_EQ(board.verdict, Verdict::remote_lost) << first_word(board);
  board = look_after([](TtsimRegisters& hot) {
    const auto table = read_tag_table(hot);
    if (table && *table) hot.poke_bar((*table)->offsets.at(11), 101 << 16);
  });
  EXPECT_EQ(board.verdict, Verdict::hot) << first_word(board);
  board = look_after([](TtsimRegisters& dead) { dead.poke_bar(wormhole::bar::post_code, 0); });
  EXPECT_EQ(board.verdict, Verdict::arc_dead) << first_word(board);
}

}  // namespace
}  // namespace trainward::hwprobe
