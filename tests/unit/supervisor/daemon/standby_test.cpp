// A standby is used for exactly what it was started for, and for nothing else.
#include "supervisor/daemon/attempt/standby.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/os/file.hpp"
#include "common/protocol/protocol.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

class StandbyIdentity : public ::testing::Test {
 protected:
  StandbyIdentity() {
    write("train.py", "print(1)");
    spec_.run = "a";
    spec_.attempt = 4;
    spec_.nonce = "n4";
    spec_.argv = {"python3", "train.py", "--epochs", "3"};
    spec_.directory = folder_.path();
    spec_.environment = {{env::plan, "{}"}, {env::resume_from, ""}, {"TMPDIR", "/a"}};
    spec_.cgroup = "trainward.1.a.4.standby";
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_durably(folder_.path() / name, text));
  }
  // What is another in the attempt that has become of it.
  std::string other(const std::function<void(LaunchSpec&)>& change,
                    const std::string& config = "") {
    const LaunchIdentity expected = identity_of(spec_, "");
    LaunchSpec actual = spec_;
    change(actual);
    return difference(expected, identity_of(actual, config));
  }

  TemporaryFolder folder_;
  LaunchSpec spec_;
};

TEST_F(StandbyIdentity, WhatIsOnlyKnownAtTheBeginMayBeAnother) {
  EXPECT_EQ(other([](LaunchSpec& spec) {
              spec.environment[env::resume_from] = "/checkpoints/step-7";
              spec.environment["TMPDIR"] = "/b";
              spec.memory = LaunchSpec::Memory::take;
              spec.cgroup = "trainward.1.a.4";
            }),
            "");
}

TEST_F(StandbyIdentity, AnythingElseIsNamed) {
  EXPECT_EQ(other([](LaunchSpec& spec) { spec.attempt = 5; }), "it is another attempt");
  EXPECT_EQ(other([](LaunchSpec& spec) { spec.environment[env::plan] = R"({"batch": 2})"; }),
            "the plan of the attempt is another");
  EXPECT_EQ(
      other([](LaunchSpec& spec) { spec.environment[env::plan] = R"({"checkpoint_every": 7})"; }),
      "")
      << "it is told";
  EXPECT_EQ(other([](LaunchSpec& spec) { spec.environment["A"] = "1"; }), "A is another");
  EXPECT_EQ(other([](LaunchSpec& spec) { spec.environment.erase(env::plan); }),
            "the plan of the attempt is another");
  EXPECT_EQ(other([](LaunchSpec& spec) { spec.argv.back() = "4"; }),
            "its command or its limits are others");
  EXPECT_EQ(other([](LaunchSpec& spec) { spec.memory_limit_bytes = 1; }),
            "its command or its limits are others");
  EXPECT_EQ(other([](LaunchSpec&) {}, "{}"), "its configuration has changed");
}

TEST_F(StandbyIdentity, AFileOfTheCommandThatWasWrittenAgainIsAnother) {
  const LaunchIdentity expected = identity_of(spec_, "");
  write("train.py", "print(2)");
  EXPECT_EQ(difference(expected, identity_of(spec_, "")), "a file of its command has changed");
}

}  // namespace
}  // namespace trainward::daemon
