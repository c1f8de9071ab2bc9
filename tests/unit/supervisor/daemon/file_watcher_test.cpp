// Who is told of which change; and that all is seen when the kernel refuses to tell.
#include "supervisor/daemon/loop/file_watcher.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cerrno>
#include <fstream>

#include "temporary_folder.hpp"

namespace {
std::atomic<int> no_watch{0};     // the errno with which the kernel refuses
std::atomic<int> no_instance{0};  // 0: it does not
int refused(int error) {
  errno = error;
  return -1;
}
}  // namespace

// Take the place of the C library's in this test.
extern "C" int inotify_add_watch(int fd, const char* path, std::uint32_t mask) noexcept {
  if (no_watch != 0) return refused(no_watch);
  return static_cast<int>(::syscall(SYS_inotify_add_watch, fd, path, mask));
}
extern "C" int inotify_init1(int flags) noexcept {
  if (no_instance != 0) return refused(no_instance);
  return static_cast<int>(::syscall(SYS_inotify_init1, flags));
}

namespace trainward::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FileWatcherTest : public testing::Test {
 protected:
  ~FileWatcherTest() override { no_watch = no_instance = 0; }
  void put(const std::string& name) { std::ofstream(folder_.path() / name, std::ios::app) << "x"; }
  void note(const std::string& what) {
    notes_.push_back(what);
    if (notes_.size() >= expected_) loop_.stop();
  }
  void note(const std::string& who, const FileWatcher::Names& names) {
    std::string text = who;
    for (const std::string& name : names) text += " " + name;
    note(text);
  }
  FileWatcher::Subscription folder(const std::string& who) {
    return watcher()
        .handle()
        .add_folder(folder_.path(), [=, this](const auto& n) { note(who, n); })
        .value();
  }
  FileWatcher::Subscription file(const std::string& name) {
    return watcher().handle().add(folder_.path() / name, [=, this] { note(name); }).value();
  }
  FileWatcher& watcher() {
    if (!watcher_) {
      watcher_.emplace(
          loop_, [this](const std::string& text) { said_.push_back(text); },
          FilePolls::Rhythm{20, 100});
    }
    return *watcher_;
  }
  // Until that many notes are there.
  std::vector<std::string> next(std::size_t count) {
    expected_ = count;
    loop_.context().restart();
    loop_.run();
    return std::exchange(notes_, {});
  }
  void until_said(std::size_t count) {
    loop_.context().restart();  // a note may have stopped it
    while (said_.size() < count) loop_.context().run_one();
  }
  Loop loop_;
  TemporaryFolder folder_;
  std::vector<std::string> notes_;
  std::vector<std::string> said_;
  std::size_t expected_ = 1;
  std::optional<FileWatcher> watcher_;
};

TEST_F(FileWatcherTest, TwoMayWatchTheSameFolder) {
  const auto one = folder("one");
  const auto two = folder("two");
  put("a");
  EXPECT_THAT(next(2), ElementsAre("one a", "two a"));
}

TEST_F(FileWatcherTest, OneThatIsRemovedHearsNothingAndTheOtherDoes) {
  auto one = folder("one");
  const auto two = folder("two");
  one = {};
  put("a");
  EXPECT_THAT(next(1), ElementsAre("two a"));
}

TEST_F(FileWatcherTest, AFileTellsOfWritesAndAFolderOfFilesMovedIn) {
  put("a");
  put(".b");
  std::filesystem::create_directories(folder_.path() / "in");
  const auto a = file("a");
  const auto in = watcher()
                      .handle()
                      .add_folder(folder_.path() / "in", [&](const auto& n) { note("in", n); })
                      .value();
  put("a");
  std::filesystem::rename(folder_.path() / ".b", folder_.path() / "in/b");
  EXPECT_THAT(next(2), ElementsAre("a", "in b"));
  EXPECT_FALSE(watcher().handle().add(folder_.path() / "none", [] {}));
  EXPECT_FALSE(watcher().handle().add_folder(folder_.path() / "a", [](const auto&) {}));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(FileWatcherTest, ABurstIsOneCall) {
  const auto watch = folder("in");
  for (int i = 0; i < 3; ++i) put(std::to_string(i));
  EXPECT_THAT(next(1), ElementsAre("in 0 1 2"));
  for (int i = 0; i < 1'000; ++i) {
    std::filesystem::create_hard_link(folder_.path() / "0", folder_.path() / fmt::format("n{}", i));
  }
  EXPECT_EQ(next(1).front(), "in") << "so many names are none";
}

TEST_F(FileWatcherTest, WithoutWatchesItLooksByItself) {
  no_watch = ENOSPC;
  put("a");
  const auto a = file("a");
  const auto in = folder("in");
  put("a");
  auto notes = next(4);
  EXPECT_EQ(std::count(notes.begin(), notes.end(), "a"), 1) << "it has changed once";
  EXPECT_GT(std::count(notes.begin(), notes.end(), "in"), 1) << "what is in it may have";
  ASSERT_EQ(said_.size(), 1U) << "once";
  EXPECT_THAT(said_[0], HasSubstr("fs.inotify.max_user_watches"));
  EXPECT_FALSE(watcher().handle().add(folder_.path() / "none", [] {}));
}

TEST_F(FileWatcherTest, WatchesThatComeBackEndThePolling) {
  no_watch = ENOSPC;
  put("a");
  const auto a = file("a");
  no_watch = 0;
  until_said(2);
  EXPECT_THAT(said_[1], HasSubstr("again"));
  put("a");
  EXPECT_THAT(next(1), ElementsAre("a"));
}

TEST_F(FileWatcherTest, AnInstanceThatComesLaterIsUsed) {
  no_instance = EMFILE;
  put("a");
  const auto a = file("a");
  until_said(1);
  EXPECT_THAT(said_[0], HasSubstr("fs.inotify.max_user_instances"));
  put("a");
  EXPECT_THAT(next(1), ElementsAre("a")) << "polled";
  no_instance = 0;
  until_said(2);
  put("a");
  EXPECT_THAT(next(1), ElementsAre("a")) << "told";
}

// In a process of its own, for it needs mounts of its own.
TEST_F(FileWatcherTest, OnAFileSystemThatDoesNotTellAllItLooksAsWell) {
  constexpr int no_mount = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto sub = [&](const char* name) {
      std::filesystem::create_directories(folder_.path() / name);
      return (folder_.path() / name).string();
    };
    const std::string options =
        "lowerdir=" + sub("low") + ",upperdir=" + sub("up") + ",workdir=" + sub("work");
    const std::string merged = sub("merged");
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("overlay", merged.c_str(), "overlay", 0, options.c_str()) != 0) {
      ::_exit(no_mount);
    }
    const auto in =
        watcher().handle().add_folder(merged, [&](const auto& n) { note("in", n); }).value();
    // Nothing happens there; it is looked at all the same.
    const bool looked = next(2) == std::vector<std::string>{"in", "in"};
    const bool said = said_.size() == 1 && said_[0].find("overlay") != std::string::npos;
    ::_exit(looked && said ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_mount) {
    GTEST_SKIP() << "an overlay cannot be mounted here (it takes root and a kernel that has it)";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(FileWatcherTest, ASubscriptionMayOutliveTheWatcher) {
  no_watch = ENOMEM;
  auto watch = folder("in");
  watcher_.reset();
  put("a");
  watch = {};
  loop_.context().poll();
  EXPECT_THAT(notes_, IsEmpty());
}

}  // namespace
}  // namespace trainward::daemon
