// A thread that acts as another user, and users by their names. What needs root is skipped without.
#include "common/os/credentials.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "common/os/file.hpp"
#include "common/os/user.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

constexpr uid_t nobody = 65534;
const Credentials as_nobody{nobody, nobody, {nobody}};

uid_t owner_of_new_file(const std::filesystem::path& file) {
  if (!write_file_durably(file, "x")) return 0;
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 ? info.st_uid : 0;
}

class ActingAsNobody : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
    ASSERT_TRUE(write_file_durably(path("secret"), "of root", 0600));
  }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return folder_.path() / name; }
  TemporaryFolder folder_;
};

TEST_F(ActingAsNobody, ThisThreadSeesWhatThatUserSeesAndTheOthersGoOn) {
  {
    const ActingAs acting(as_nobody);
    ASSERT_TRUE(acting);
    EXPECT_FALSE(read_file(path("secret"), 100)) << "of root alone";
    EXPECT_EQ(owner_of_new_file(path("theirs")), nobody);
    std::thread([&] { EXPECT_FALSE(read_file(path("secret"), 100)) << "inherited"; }).join();
    EXPECT_EQ(::geteuid(), 0U);
  }
  EXPECT_TRUE(read_file(path("secret"), 100));
  EXPECT_NE(owner_of_new_file(path("ours")), nobody);

  std::thread([&] {
    const ActingAs acting(as_nobody);
    std::thread([] {}).join();
    EXPECT_FALSE(read_file(path("secret"), 100));
  }).join();
  EXPECT_TRUE(read_file(path("secret"), 100));
}

// A name that a user has turned into a link leads root nowhere.
TEST_F(ActingAsNobody, ALinkOfThatUserLeadsNowhere) {
  ASSERT_TRUE(make_folders(path("victim")));
  ASSERT_TRUE(write_file_durably(path("victim") / "data", "of root", 0600));
  ASSERT_EQ(::symlink(path("victim").c_str(), path("link").c_str()), 0);
  const ActingAs acting(as_nobody);
  std::error_code error;
  std::filesystem::remove_all(path("link") / "data", error);
  EXPECT_TRUE(error);
  EXPECT_FALSE(write_file_durably(path("link") / "more", "x"));
  EXPECT_FALSE(read_file(path("link") / "data", 100));
}

TEST_F(ActingAsNobody, WithoutAUserNothingChanges) {
  const ActingAs nobody_else(std::nullopt);
  EXPECT_TRUE(nobody_else);
  EXPECT_TRUE(read_file(path("secret"), 100));
  const ActingAs root(Credentials{});
  EXPECT_TRUE(root);
  EXPECT_TRUE(read_file(path("secret"), 100));
}

TEST(Users, AreFoundByNameOrNumber) {
  const User root = find_user("root").value();
  EXPECT_EQ(root.credentials.user, 0U);
  EXPECT_EQ(find_user("0").value(), root);
  EXPECT_EQ(find_user("no-such-user").error().kind, ErrorKind::usage);
  EXPECT_EQ(find_user("root", "no-such-group").error().kind, ErrorKind::usage);
  EXPECT_EQ(find_user("").error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace trainward
