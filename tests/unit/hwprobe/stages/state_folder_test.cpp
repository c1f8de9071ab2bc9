#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "fake_host.hpp"
#include "hwprobe/stages/probe_state_folder.hpp"

namespace trainward::hwprobe {
namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

// As a user who is not root, with folders of this test.
class StateFolder : public FakeHost {
 protected:
  void SetUp() override {
    fs::permissions(folder_, fs::perms::all);
    for (const char* name : {"run", "tmp"}) {
      fs::create_directory(folder_ / name);
      fs::permissions(folder_ / name, fs::perms::all);
    }
    ::setenv("XDG_RUNTIME_DIR", (folder_ / "run").c_str(), 1);
    ::setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    if (user_ == 0) {
      ASSERT_EQ(::seteuid(nobody), 0);
    }
  }
  void TearDown() override {
    EXPECT_EQ(::seteuid(user_), 0);
    ::unsetenv("XDG_RUNTIME_DIR");
    ::unsetenv("TMPDIR");
  }
  [[nodiscard]] fs::path temporary() const {
    return folder_ / "tmp" / ("trainward-probe-" + std::to_string(::geteuid()));
  }

  uid_t user_ = ::geteuid();
};

TEST_F(StateFolder, IsMadeForThisUserAlone) {
  const auto made = default_state_folder();
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(*made, folder_ / "run/trainward-probe");
  EXPECT_EQ(fs::status(*made).permissions(), fs::perms::owner_all);
  EXPECT_EQ(default_state_folder().value(), *made);
}

TEST_F(StateFolder, WhatSomebodyElsePutThereIsNotTaken) {
  fs::create_directory(folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", folder_ / "run/trainward-probe");
  const auto made = default_state_folder();
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(*made, temporary());
}

TEST_F(StateFolder, WithoutAnyItSaysWhatToDo) {
  write("run/trainward-probe", "a file");
  write(fs::relative(temporary(), folder_).string(), "a file");
  const auto made = default_state_folder();
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message(), testing::HasSubstr("--state FOLDER"));
}

}  // namespace
}  // namespace trainward::hwprobe
