// Work through an open folder stays below it, even if names turn into links meanwhile.
#include "common/os/folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <seccomp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/file.hpp"
#include "common/os/path_trust.hpp"
#include "root_and_outside.hpp"
#include "swapping.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class FolderTest : public RootAndOutside {
 protected:
  FolderTest() : RootAndOutside("a/b") {}
};

TEST_F(FolderTest, FilesAreMadeReadRenamedAndRemovedByNamesBelowIt) {
  ASSERT_TRUE(root_->write_durably("a/b/one", "1"));
  EXPECT_EQ(root_->read("a/b/one", 10), "1");
  ASSERT_TRUE(root_->write_durably("a/b/one", "2", 0600, "part"));
  EXPECT_EQ(root_->read("a/b/one", 10), "2");
  EXPECT_EQ((*root_->look("a/b/one"))->st_mode & 07777U, 0600U);
  EXPECT_FALSE(root_->read("a/b/one", 0));
  ASSERT_TRUE(root_->rename("a/b/one", "a/two"));
  ASSERT_TRUE(root_->write_durably("a/three", ""));
  EXPECT_FALSE(root_->rename("a/two", "a/three", Folder::Existing::keep));
  ASSERT_TRUE(root_->rename("a/two", "a/four", Folder::Existing::keep));
  auto inner = root_->make("a/c/d", 0700);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->path(), path("root/a/c/d"));
  ASSERT_TRUE(root_->make("a/c/d"));  // again
  EXPECT_EQ(root_->enter("a")->names().value().size(), 4U);
  EXPECT_THAT(root_->enter("a")->names().value(), UnorderedElementsAre("b", "c", "three", "four"));
  EXPECT_FALSE(root_->enter("a")->names(3));
  EXPECT_FALSE(root_->remove_folder("a/c"));
  ASSERT_TRUE(root_->remove_folder("a/c/d"));
  ASSERT_TRUE(root_->remove_file("a/three"));
  ASSERT_TRUE(root_->remove_file("a/three"));  // is gone
  EXPECT_EQ(*root_->look("a/three"), std::nullopt);
}

TEST_F(FolderTest, NamesThatLeadElsewhereAreRefused) {
  for (const char* name : {"", ".", "..", "a/..", "a/../../outside/victim", "/etc/passwd", "a//b",
                           "a/", "./a", "../outside/victim"}) {
    EXPECT_FALSE(root_->open_file(name, O_RDONLY)) << name;
    EXPECT_FALSE(root_->write_durably(name, "x")) << name;
    EXPECT_FALSE(root_->remove_file(name)) << name;
    EXPECT_FALSE(root_->look(name)) << name;
    EXPECT_FALSE(root_->make(name)) << name;
    EXPECT_FALSE(root_->rename("a", name)) << name;
  }
  EXPECT_FALSE(root_->look(std::string("a\0b", 3)));
  EXPECT_TRUE(untouched());
}

TEST_F(FolderTest, LinksAreNotFollowedWhereverTheyStand) {
  fs::create_symlink(path("outside"), path("root/link"));
  fs::create_symlink(path("outside/victim"), path("root/file"));
  fs::create_symlink("../../outside", path("root/a/up"));
  for (const char* name : {"link/victim", "a/up/victim", "file"}) {
    EXPECT_FALSE(root_->open_file(name, O_RDONLY)) << name;
    EXPECT_FALSE(root_->open_file(name, O_WRONLY | O_CREAT | O_TRUNC)) << name;
  }
  EXPECT_THAT(root_->enter("link").error().message(), HasSubstr("symbolic link"));
  EXPECT_FALSE(root_->make("link/new"));
  EXPECT_FALSE(root_->rename("a", "link/a"));
  ASSERT_TRUE(root_->write_durably("file", "ours"));  // in the link's place
  ASSERT_TRUE(root_->remove_file("link"));            // the link itself
  EXPECT_TRUE(untouched());
  EXPECT_FALSE(Folder::open(path("root/a/up"), Folder::Last::no_link));
}

TEST_F(FolderTest, AFolderThatIsMovedIsStillTheOneThatWasOpened) {
  auto inner = root_->enter("a");
  ASSERT_TRUE(inner);
  fs::rename(path("root/a"), path("root/moved"));
  fs::create_symlink(path("outside"), path("root/a"));
  ASSERT_TRUE(inner->write_durably("here", "x"));
  EXPECT_TRUE(fs::exists(path("root/moved/here")));
  EXPECT_TRUE(untouched());
}

constexpr int rounds = 300;

// Everything that changes something, while a folder on the way is a link half of the time.
void write_and_remove(const Folder& root) {
  (void)root.write_durably("a/new", "x");
  (void)root.make("a/deep/er");
  (void)root.write_durably("a/victim", "ours");
  (void)root.rename("a/victim", "a/moved");
  (void)root.remove_file("a/victim");
  (void)root.remove_file("a/new");
  (void)root.rename("other", "a/other");
  (void)root.write_durably("other", "x");
}

TEST_F(FolderTest, NothingAppearsOutsideWhileNamesAreSwapped) {
  fs::create_symlink(path("outside"), path("root/link"));
  const Swapping somebody(path("root/a"), path("root/link"));
  int round = 0;
  for (; round < rounds || somebody.swaps() < 100; ++round) write_and_remove(*root_);
  EXPECT_TRUE(untouched()) << somebody.swaps() << " swaps in " << round << " rounds";
}

// In a child, since a filter cannot be taken off again.
TEST_F(FolderTest, WithoutOpenat2EachPartIsOpenedByItself) {
  fs::create_symlink(path("outside"), path("root/link"));
  const pid_t child = ::fork();
  if (child == 0) {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0);
    if (seccomp_load(filter) != 0) ::_exit(3);
    if (!root_->write_durably("a/b/one", "1") || root_->read("a/b/one", 9) != "1") ::_exit(1);
    if (root_->enter("link") || root_->write_durably("link/x", "x")) ::_exit(2);
    const Swapping somebody(path("root/a"), path("root/link"));
    for (int round = 0; round < rounds || somebody.swaps() < 100; ++round) {
      write_and_remove(*root_);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(untouched());
}

class PathTrust : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make folders of others";
    ASSERT_TRUE(make_folders(path("a/b")));
    ::chmod(files_.path().c_str(), 0755);
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return files_.path() / name; }
  [[nodiscard]] std::string weak(const std::string& name,
                                 Judged judged = Judged::way_and_end) const {
    auto found = weakest_place(path(name), judged);
    if (!found) return found.error().message();
    if (!*found) return "";
    const std::string mends = remedy(**found);
    return (*found)->place.lexically_relative(files_.path()).string() + ": " +
           (mends.empty() ? "somebody's" : mends);
  }
  TemporaryFolder files_;  // in /tmp, which everybody may write, with the sticky bit
};

TEST_F(PathTrust, FoldersOfRootAloneAreTrusted) {
  EXPECT_EQ(weak("a/b"), "");
  EXPECT_EQ(weak("a/b/is/not/there"), "");
  ::chmod(path("a").c_str(), 01777);
  EXPECT_EQ(weak("a/b"), "");
}

TEST_F(PathTrust, TheFirstPlaceThatSomebodyElseCouldChangeIsNamed) {
  ASSERT_EQ(::chown(path("a").c_str(), 1234, 1234), 0);
  EXPECT_EQ(weak("a/b/is/not/there"), "a: somebody's");
  EXPECT_EQ(weak("a", Judged::way_and_end), weak("a/b"));
  EXPECT_THAT(describe(**weakest_place(path("a/b"))), HasSubstr("belongs to user 1234"));
  ASSERT_EQ(::chown(path("a").c_str(), 0, 1234), 0);
  EXPECT_EQ(weak("a/b"), "");
  ::chmod(path("a").c_str(), 0775);
  EXPECT_EQ(weak("a/b"), "a: chmod go-w " + path("a").string());
  ASSERT_EQ(::chown(path("a").c_str(), 0, 0), 0);
  EXPECT_EQ(weak("a/b"), "") << "root's own group";
  ::chmod(path("a").c_str(), 0757);
  EXPECT_EQ(weak("a/b"), "a: chmod go-w " + path("a").string());
}

TEST_F(PathTrust, AnEndThatOthersMayWriteIsNoMatterWhereOnlyTheWayCounts) {
  ASSERT_EQ(::chown(path("a/b").c_str(), 1234, 1234), 0);
  ::chmod(path("a/b").c_str(), 0777);
  EXPECT_NE(weak("a/b"), "");
  EXPECT_EQ(weak("a/b", Judged::way), "");
  fs::create_symlink("a/b", path("link"));
  EXPECT_EQ(weak("link", Judged::way), "");
  // Its owner can rename it away; other users cannot.
  ::chmod(path("a").c_str(), 01777);
  EXPECT_NE(weak("a/b", Judged::way), "");
  ASSERT_EQ(::chown(path("a/b").c_str(), 0, 0), 0);
  EXPECT_EQ(weak("a/b", Judged::way), "");
}

TEST_F(PathTrust, RootWorksWithTheRightsOfWhoeverCouldBendTheWay) {
  EXPECT_EQ(rights_in(path("a/b")).value(), std::nullopt);
  ASSERT_EQ(::chown(path("a/b").c_str(), 1234, 1234), 0);
  EXPECT_EQ(rights_in(path("a/b")).value(), std::nullopt) << "what lies in it is theirs";
  ASSERT_EQ(::chown(path("a").c_str(), 1234, 1235), 0);
  ::chmod(path("a").c_str(), 0775);  // as a user's own group has it
  EXPECT_EQ(rights_in(path("a/b")).value(), (Credentials{1234, 65534, {}}));
  ::chmod(path("a").c_str(), 0777);
  EXPECT_THAT(rights_in(path("a/b")).error().message(), HasSubstr("chmod go-w"));
  ASSERT_EQ(::chown(path("a").c_str(), 0, 1235), 0);
  ::chmod(path("a").c_str(), 0775);
  EXPECT_THAT(rights_in(path("a/b")).error().message(), HasSubstr("chmod go-w"));
}

TEST_F(PathTrust, LinksAreFollowedAndJudgedOneByOne) {
  ASSERT_TRUE(make_folders(path("theirs")));
  fs::create_symlink("../theirs/../a/./b", path("a/link"));
  fs::create_symlink(path("a/link"), path("first"));
  EXPECT_EQ(weak("first/x"), "");
  ASSERT_EQ(::chown(path("theirs").c_str(), 1234, 0), 0);
  EXPECT_EQ(weak("first/x"), "theirs: somebody's");
  ASSERT_EQ(::lchown(path("first").c_str(), 1234, 0), 0);
  EXPECT_EQ(weak("first/x"), "first: somebody's");
  fs::create_symlink("loop", path("loop"));
  EXPECT_THAT(weak("loop"), HasSubstr("Too many levels"));
}

}  // namespace
}  // namespace trainward
