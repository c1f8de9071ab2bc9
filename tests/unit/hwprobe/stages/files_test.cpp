#include <gmock/gmock.h>

#include <vector>

#include "fake_host.hpp"
#include "hwprobe/stages/live_files.hpp"
#include "hwprobe/stages/recorded_files.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::Optional;

class StageFiles : public FakeHost {
 protected:
  LiveFiles live() {
    return {folder_, [this](milliseconds time) { waits_.push_back(time.count()); }};
  }
  std::vector<std::int64_t> waits_;
};

TEST_F(StageFiles, AreReadBelowTheRoot) {
  write("sys/a", "57000\n");
  write("sys/hex", "0x1e52\n");
  write("sys/empty", "\n");
  write("sys/config", std::string("\x52\x1e\x1e\x40", 4) + std::string(300, '\0'));
  std::filesystem::create_symlink("../b", folder_ / "sys/link");
  LiveFiles files(folder_, nullptr);
  EXPECT_THAT(files.text("/sys/a"), Optional(std::string("57000")));
  EXPECT_THAT(files.number("/sys/a"), Optional(57000));
  EXPECT_THAT(files.number("/sys/hex"), Optional(0x1e52));
  EXPECT_FALSE(files.text("/sys/empty"));
  EXPECT_FALSE(files.number("/sys/config"));
  EXPECT_THAT(files.bytes("/sys/config"), Optional("521e1e40" + std::string(120, '0')));
  EXPECT_EQ(files.answer("link", "/sys/link").value, "../b");
  EXPECT_THAT(files.names("/sys"), Optional(ElementsAre("a", "config", "empty", "hex", "link")));
}

TEST_F(StageFiles, SayWithWhatErrorTheyFailed) {
  write("sys/a", "1");
  LiveFiles files = live();
  EXPECT_EQ(files.answer("file", "/none").error, "ENOENT");
  EXPECT_EQ(files.answer("file", "/sys").error, "EISDIR");
  EXPECT_EQ(files.answer("list", "/sys/a").error, "ENOTDIR");
  EXPECT_EQ(files.answer("list", "/none").error, "ENOENT");
  EXPECT_EQ(files.answer("link", "/sys/a").error, "EINVAL");
  EXPECT_EQ(files.answer("noc", "1 2 0x0").error, "EOPNOTSUPP");
}

TEST_F(StageFiles, ALongFileIsCutAndANameWithASpaceLeftOut) {
  write("sys/long", std::string(100'000, 'x'));
  write("sys/two words", "1");
  LiveFiles files = live();
  EXPECT_EQ(files.text("/sys/long")->size(), 4096U);
  EXPECT_THAT(files.names("/sys"), Optional(ElementsAre("long")));
}

TEST_F(StageFiles, WaitsAreBounded) {
  LiveFiles files = live();
  EXPECT_TRUE(files.wait(milliseconds(1200)));
  files.answer("wait", "999999999999");
  files.answer("wait", "-5");
  files.answer("wait", "soon");
  EXPECT_THAT(waits_, ElementsAre(1200, 60'000, 0, 0));
}

TEST_F(StageFiles, ARecordingAnswersLikeTheHost) {
  write("sys/beat", "1\n");
  write("sys/folder/x", "");
  LiveFiles host = live();
  std::vector<Reading> readings;
  RecordingFiles recording(host, [&](const Reading& reading) { readings.push_back(reading); });
  const auto look = [](Files& files, const std::function<void()>& between) {
    std::vector<Reading> seen{files.answer("file", "/sys/beat"),
                              files.answer("list", "/sys/folder"), files.answer("wait", "10")};
    between();
    seen.push_back(files.answer("file", "/sys/beat"));
    seen.push_back(files.answer("file", "/none"));
    return seen;
  };
  const auto seen = look(recording, [&] { write("sys/beat", "2\n"); });
  EXPECT_EQ(seen, readings);
  for (const Beyond beyond : {Beyond::repeat_the_last, Beyond::not_recorded}) {
    ReplayFiles replay(readings, beyond);
    EXPECT_EQ(look(replay, [] {}), readings);
  }
}

TEST(Replay, BeyondWhatWasRecorded) {
  const std::vector<Reading> readings{{"file /a", "1", ""}, {"file /a", "2", ""}};
  ReplayFiles whole(readings, Beyond::repeat_the_last);
  ReplayFiles cut(readings, Beyond::not_recorded);
  for (const char* value : {"1", "2"}) {
    EXPECT_EQ(whole.answer("file", "/a").value, value);
    EXPECT_EQ(cut.answer("file", "/a").value, value);
  }
  EXPECT_EQ(whole.answer("file", "/a").value, "2");
  EXPECT_EQ(cut.answer("file", "/a").error, ReplayFiles::not_recorded);
  EXPECT_EQ(whole.answer("file", "/b").error, ReplayFiles::not_recorded);
  EXPECT_FALSE(whole.wait(milliseconds(1)));
}

}  // namespace
}  // namespace trainward::hwprobe
