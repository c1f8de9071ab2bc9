// Trees of somebody else's making removed: however deep or wide, whatever is changed meanwhile, and
// never anything outside.
#include "common/os/folder_removal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "common/os/file.hpp"
#include "common/os/folder.hpp"
#include "root_and_outside.hpp"
#include "swapping.hpp"

namespace trainward {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FolderRemoval : public RootAndOutside {
 protected:
  // In memory where that is possible: a journal takes a minute for 30,000 folders.
  FolderRemoval()
      : RootAndOutside("tree", ::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm")
                                                               : fs::temp_directory_path()) {}
  [[nodiscard]] bool gone(const std::string& name = "root/tree") const {
    struct stat info {};
    return ::lstat(path(name).c_str(), &info) != 0 && errno == ENOENT;
  }
};

// In a child, whose limits cannot be raised again; its exit status.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void limit(int resource, rlim_t most) {
  const rlimit limits{most, most};
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &limits) != 0) ::_exit(90);
}

// Of this process, its program and all.
[[maybe_unused]] rlim_t address_space() {  // no limit is for a sanitizer
  auto text = read_file("/proc/self/statm", 1'000);
  return text ? static_cast<rlim_t>(std::stoll(*text)) * static_cast<rlim_t>(::getpagesize()) : 0;
}

// `levels` folders one in the other; in some a file, links out and a folder with something in it.
void make_deep(const fs::path& top, int levels, const fs::path& outside) {
  Fd at(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < levels; ++i) {
    if (i % 50 == 0) {
      const Fd file(::openat(at.get(), "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      ASSERT_EQ(::symlinkat(outside.c_str(), at.get(), "link"), 0);
      ASSERT_EQ(::mkdirat(at.get(), "side", 0700), 0);
      ASSERT_EQ(::mkdirat(at.get(), "side/empty", 0700), 0);
      ASSERT_EQ(::symlinkat("../../../..", at.get(), "side/up"), 0);
    }
    ASSERT_EQ(::mkdirat(at.get(), "inner", 0700), 0);
    at = Fd(::openat(at.get(), "inner", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at);
  }
}

TEST_F(FolderRemoval, DepthCostsNeitherDescriptorsNorMemory) {
  make_deep(path("root/tree"), 30'000, path("outside"));
  const int ended = in_child([&] {
    limit(RLIMIT_NOFILE, 64);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_AS, address_space() + 4 * 1024 * 1024);
#endif
    return root_->remove_tree("tree") ? 0 : 1;
  });
  EXPECT_EQ(ended, 0);
  EXPECT_TRUE(gone());
  EXPECT_TRUE(untouched());
}

TEST_F(FolderRemoval, WidthCostsNoMemory) {
  for (int i = 0; i < 100; ++i) {
    files_.write("root/tree/" + std::to_string(i) + "/a/b/file", "x");
    for (int j = 0; j < 50; ++j) files_.write(fmt::format("root/tree/{}/{}", i, j), "");
  }
  fs::create_directory_symlink(path("outside"), path("root/tree/7/a/out"));
  const int ended = in_child([&] {
    limit(RLIMIT_NOFILE, 64);
    return root_->remove_tree("tree") ? 0 : 1;
  });
  EXPECT_EQ(ended, 0);
  EXPECT_TRUE(gone());
  EXPECT_TRUE(untouched());
}

TEST_F(FolderRemoval, WhateverANameIsOrIsNotIsGone) {
  EXPECT_TRUE(root_->remove_tree("missing"));
  fs::create_directory_symlink(path("outside"), path("root/link"));
  EXPECT_TRUE(root_->remove_tree("link"));
  EXPECT_TRUE(gone("root/link"));
  EXPECT_TRUE(untouched());
  ASSERT_EQ(::mkfifo(path("root/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(root_->remove_tree("pipe"));
  EXPECT_TRUE(gone("root/pipe"));
  for (const char* name : {"..", ".", "", "tree/..", "/etc", "tree/"}) {
    EXPECT_FALSE(root_->remove_tree(name)) << name;
  }
  files_.write("root/tree/a/b", "x");
  EXPECT_TRUE(root_->remove_tree("tree/a"));
  EXPECT_TRUE(gone("root/tree/a"));
  EXPECT_FALSE(gone());
  files_.write("root/tree/c/d/e", "x");
  EXPECT_TRUE(root_->enter("tree")->remove_contents());
  EXPECT_TRUE(fs::is_empty(path("root/tree")));
  EXPECT_TRUE(remove_tree(path("root/tree/")));
  EXPECT_TRUE(gone());
  EXPECT_TRUE(remove_tree(path("not/there/at/all")));
}

// What a path leads through is a link half of the time, and so is the tree itself.
TEST_F(FolderRemoval, NothingOutsideGoesWhileNamesAreSwapped) {
  const Swapping above(path("root/tree"), path("root/link"));
  const Swapping inside(path("root/tree/a"), path("root/tree/out"));
  const Swapping deeper(path("root/tree/a/b"), path("root/tree/a/out"));
  int round = 0;
  std::error_code ignored;
  for (; round < 300 || above.swaps() < 100 || inside.swaps() < 100; ++round) {
    // Either may be another one each time that it is looked at; once one is gone, nothing is
    // swapped.
    for (int tries = 0; tries < 100 && !(gone() && gone("root/link")); ++tries) {
      (void)root_->remove_tree("tree");
      (void)root_->remove_tree("link");
    }
    ASSERT_TRUE(gone() && gone("root/link")) << "in round " << round;
    files_.write("made/a/b/c/file", "x");
    fs::create_directory_symlink(path("outside"), path("made/out"));
    fs::create_directory_symlink(path("outside"), path("made/a/out"));
    fs::rename(path("made"), path("root/tree"), ignored);
    fs::create_directory_symlink(path("outside"), path("root/link"));
  }
  EXPECT_TRUE(untouched()) << above.swaps() << " and " << inside.swaps() << " swaps in " << round;
}

TEST_F(FolderRemoval, WhatStaysIsNamedAndAllElseGoes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make folders of others";
  files_.write("root/tree/a/kept/file", "x");
  files_.write("root/tree/b/file", "x");
  for (const char* name : {"root", "root/tree", "root/tree/a", "root/tree/b", "root/tree/b/file"}) {
    ASSERT_EQ(::lchown(path(name).c_str(), 1234, 1234), 0);
  }
  ASSERT_EQ(::chmod(files_.path().c_str(), 0755), 0);
  const int ended = in_child([&] {
    if (::setresgid(1234, 1234, 1234) != 0 || ::setresuid(1234, 1234, 1234) != 0) return 2;
    const auto removed = root_->remove_tree("tree");
    if (removed) return 3;
    return removed.error().where.find("/tree/a/kept") == std::string::npos ? 4 : 0;
  });
  EXPECT_EQ(ended, 0);
  EXPECT_FALSE(gone("root/tree/a/kept/file"));
  EXPECT_TRUE(gone("root/tree/b"));
}

TEST_F(FolderRemoval, WhatIsMountedStays) {
  files_.write("root/tree/a/b/file", "x");
  ASSERT_TRUE(make_folders(path("root/tree/a/mount")));
  const int ended = in_child([&] {
    if (::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(path("outside").c_str(), path("root/tree/a/mount").c_str(), nullptr, MS_BIND,
                nullptr) != 0) {
      return 99;
    }
    const auto removed = root_->remove_tree("tree");
    if (removed) return 1;
    if (removed.error().what.find("mount point") == std::string::npos) return 2;
    return removed.error().where.find("mount") == std::string::npos ? 3 : 0;
  });
  if (ended == 99) GTEST_SKIP() << "may not mount anything here";
  EXPECT_EQ(ended, 0);
  EXPECT_TRUE(gone("root/tree/a/b"));
  EXPECT_TRUE(untouched());
}

// As a lower layer of an overlay answers.
TEST_F(FolderRemoval, FoldersThatCannotBeMovedAreEmptiedInTheirPlace) {
  files_.write("root/tree/1/2/3/4/5/6/7/8/file", "x");
  files_.write("root/tree/1/2/three/file", "x");
  const int ended = in_child([&] {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EXDEV), SCMP_SYS(renameat), 0);
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EXDEV), SCMP_SYS(renameat2), 0);
    if (seccomp_load(filter) != 0) return 3;
    return root_->remove_tree("tree") ? 0 : 1;
  });
  EXPECT_EQ(ended, 0);
  EXPECT_TRUE(gone());
}

}  // namespace
}  // namespace trainward
