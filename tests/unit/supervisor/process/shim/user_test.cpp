// A worker as another user, with an umask and limits of its own; and which file its command is.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "shim_fixture.hpp"

namespace trainward {
namespace {

using ::testing::HasSubstr;

constexpr uid_t nobody = 65534;
constexpr gid_t group = 64321;

class ShimUser : public Shim {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    ASSERT_EQ(::chmod(folder().c_str(), 0755), 0);
    spec_.user = Credentials{nobody, group, {group, 64322}};
  }
  std::string said() { return log(attempt_files::standard_output); }
};

TEST_F(Shim, UmaskAndLimitsAreTheWorkers) {
  spec_.umask = 0077;
  spec_.limits = {{"open_files", 123, 456}, {"core", 0, 0}};
  start_script("umask; ulimit -n; ulimit -Hn; ulimit -c");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(log(attempt_files::standard_output), "0077\n123\n456\n0\n");
}

TEST_F(Shim, ALimitThatMayNotBeSetIsNamed) {
  // More than the kernel gives to anybody (fs.nr_open).
  spec_.limits = {{"core", 0, 0}, {"open_files", 1ULL << 40U, 1ULL << 40U}};
  start_script("echo never");
  EXPECT_NE(wait(), 0);
  const auto failed = records().back();
  EXPECT_EQ(failed.type, "exec_failed");
  EXPECT_THAT(std::string(failed.fields.at("what").as_string()), HasSubstr("limits.open_files"));
  EXPECT_FALSE(failed.fields.at("transient").as_bool());
}

// Not by that of the shim: an environment of Python's is made of little else.
TEST_F(Shim, TheCommandIsLookedForInTheWorkersOwnPath) {
  ASSERT_TRUE(make_folders(folder() / "venv" / "bin"));
  ASSERT_TRUE(make_folders(folder() / "shut"));
  const auto tool = folder() / "venv" / "bin" / "some-tool";
  ASSERT_TRUE(write_file_durably(tool, "#!/bin/sh\necho found\n", 0755));
  ASSERT_TRUE(write_file_durably(folder() / "shut" / "some-tool", "", 0644));
  spec_.environment["PATH"] = (folder() / "shut").string() + ":venv/bin:/bin";
  start({"some-tool"});
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(log(attempt_files::standard_output), "found\n");
}

TEST_F(ShimUser, TheWorkerIsThatUserAndNothingElse) {
  start_script("id -u; id -g; id -G; grep Cap /proc/self/status");
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(said(), HasSubstr("65534\n64321\n64321 64322\n"));
  EXPECT_THAT(said(), HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_THAT(said(), HasSubstr("CapPrm:\t0000000000000000"));
}

TEST_F(ShimUser, ItMayOpenItsOwnOutputAndSendMessages) {
  start_script(
      "echo by name > /dev/stdout; python3 -c '"
      "import os, socket\n"
      "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
      "s.connect(os.environ[\"TRAINWARD_SOCKET\"])\n"
      "s.send(b\"STEP=3\")'");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(said(), "by name\n") << log(attempt_files::standard_error);
  EXPECT_EQ(records().at(1).type, "message");
}

TEST_F(ShimUser, FilesOfTheAttemptAreNotIts) {
  start_script(
      "cat launch.json; echo x >> journal.ndjson; rm -f stdout.log; mv worker.sock other; "
      "ls worker.sock");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(said(), "worker.sock\n");
  EXPECT_EQ(records().front().type, "started");
}

TEST_F(ShimUser, ItDiesWithTheShim) {
  start_script("echo $$; exec tail -f /dev/null");
  const pid_t worker = printed_pid();
  ASSERT_TRUE(lives(worker));
  ::kill(pid_, SIGKILL);
  wait();
  until([&] { return !lives(worker); });
}

TEST_F(ShimUser, ItIsStoppedAndKilled) {
  start_script("trap '' TERM; echo $$; tail -f /dev/null & wait; wait");
  const pid_t worker = printed_pid();
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGUSR2);
  EXPECT_EQ(wait(), 0);
  EXPECT_FALSE(lives(worker));
}

TEST_F(ShimUser, WhatItCannotEnterIsNamed) {
  ASSERT_TRUE(make_folders(folder() / "shut"));
  ASSERT_EQ(::chmod((folder() / "shut").c_str(), 0700), 0);
  spec_.environment["TRAINWARD_CHECKPOINT_DIR"] = (folder() / "shut").string();
  start_script("echo never");
  EXPECT_NE(wait(), 0);
  const std::string what(records().back().fields.at("what").as_string());
  EXPECT_THAT(what, HasSubstr("shut as user 65534"));
  EXPECT_THAT(what, HasSubstr("chmod o+x"));
}

}  // namespace
}  // namespace trainward
