#include <fstream>

#include "fixture.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(CtlTest, AnUnknownVerbGetsTheNearestOne) {
  const Ran ran = ctl({"statsu"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "trainwardctl: unknown command 'statsu'; did you mean 'status'?\n");
  EXPECT_THAT(ctl({"ckpt", "verfy", "x"}).err, HasSubstr("did you mean 'verify'?"));
  EXPECT_THAT(ctl({"--state-dir", "xyzzy", "hist"}).err, HasSubstr("unknown command 'hist'"));
  EXPECT_THAT(ctl({"frobnicate"}).err, HasSubstr("--help lists them"));
}

TEST_F(CtlTest, WrongUseIsExitCodeTwo) {
  EXPECT_EQ(ctl({}).code, 2);
  EXPECT_EQ(ctl({"start"}).code, 2);
  EXPECT_EQ(ctl({"why", "trainer", "zero"}).code, 2);
  EXPECT_EQ(ctl({"why", "trainer", "0"}).code, 2);
  EXPECT_EQ(ctl({"status", "--jsn"}).code, 2);
  EXPECT_EQ(ctl({"tail", "trainer", "stdlog"}).code, 2);
  EXPECT_EQ(ctl({"tail", "-f", "trainer", "--json"}).code, 2);
  EXPECT_EQ(ctl({"ckpt"}).code, 2);
}

TEST_F(CtlTest, WrongUseSaysWhatWouldBeRight) {
  EXPECT_THAT(ctl({"ckpt"}).err,
              testing::AllOf(HasSubstr("'ckpt' is followed by one of: "), HasSubstr("verify")));
  EXPECT_THAT(ctl({"history", "-n", "x"}).err, HasSubstr("a whole number from 1 on, not x"));
  EXPECT_LT(ctl({"history", "-n", "0"}).err.size(), 120U) << ctl({"history", "-n", "0"}).err;
  EXPECT_THAT(ctl({"curve"}).err, HasSubstr("'top' draws the loss"));
}

// The folder here may be another daemon's.
TEST_F(CtlTest, ASocketThatIsNotThereIsNotAnsweredFromAnotherDatabase) {
  ASSERT_TRUE(store::Store::open(folder_ / "trainward.db").has_value());
  EXPECT_EQ(ctl({"status"}).code, 0) << "from the database";
  const Ran ran = ctl({"-s", "/nope", "status"});
  EXPECT_EQ(ran.code, 4);
  EXPECT_THAT(ran.err, HasSubstr("/nope"));
  EXPECT_THAT(ran.err, HasSubstr("--state-dir"));
  EXPECT_EQ(ran.err.find("answering from the database"), std::string::npos) << ran.err;
}

TEST_F(CtlTest, HelpAndVersionAreNoFailure) {
  EXPECT_EQ(ctl({"--help"}).code, 0);
  EXPECT_THAT(ctl({"--help"}).out, HasSubstr("history"));
  EXPECT_THAT(ctl({"--version"}).out, StartsWith("trainwardctl "));
  EXPECT_EQ(ctl({"tail", "--help"}).code, 0);
}

TEST_F(CtlTest, ConfigCheckListsEveryProblem) {
  const Ran ran = ctl({"config", "check", (folder_ / "none.yaml").string()});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("none.yaml"));
  const Ran as_json = ctl({"config", "check", (folder_ / "none.yaml").string(), "--json"});
  EXPECT_EQ(as_json.code, 1);
  EXPECT_THAT(as_json.out, HasSubstr(R"("ok":false)"));
}

TEST_F(CtlTest, ConfigWorkerShowsWhatAWorkerIsGiven) {
  const std::string file = (folder_ / "two.yaml").string();
  const std::string own = "    training_config: {model: femto_1x, steps: 3, data: [two.yaml]}\n";
  std::ofstream(file) << "programs:\n  a:\n" + own + "  b: {command: [/bin/true]}\n";
  const Ran ran = ctl({"config", "worker", file, "a"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"model\":\"femto_1x\""));
  EXPECT_THAT(ctl({"config", "worker", file}).err, HasSubstr("name one"));
  EXPECT_THAT(ctl({"config", "worker", file, "c"}).err, HasSubstr("no program c"));
  EXPECT_THAT(ctl({"config", "worker", file, "b"}).err, HasSubstr("a command of its own"));
  EXPECT_EQ(ctl({"config", "worker", (folder_ / "none.yaml").string()}).code, 1);
}

TEST_F(CtlTest, CkptOfNothing) {
  EXPECT_EQ(ctl({"ckpt", "digest", (folder_ / "none").string()}).code, 1);
  const Ran empty = ctl({"ckpt", "verify", folder_.string()});
  EXPECT_EQ(empty.code, 1);
  EXPECT_THAT(empty.err, HasSubstr("holds no checkpoint"));
  EXPECT_EQ(ctl({"ckpt", "list", folder_.string()}).out, "No checkpoints\n");
}

TEST(Settings, TheSystemServicesSocketIsNotInItsStateFolder) {
  Settings settings;
  settings.state_dir = "/srv/x";
  EXPECT_EQ(settings.socket_path(), "/srv/x/trainward.sock");
  settings.state_dir = "/var/lib/trainward";
  EXPECT_EQ(settings.socket_path(), "/run/trainward/trainward.sock");
  settings.socket = "/s";
  EXPECT_EQ(settings.socket_path(), "/s");
}

}  // namespace
}  // namespace trainward::ctl
