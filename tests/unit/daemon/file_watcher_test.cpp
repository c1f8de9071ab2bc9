// Who is told of which change.
#include "supervisor/daemon/file_watcher.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using testing::ElementsAre;

class FileWatcherTest : public testing::Test {
 protected:
  void put(const std::string& name) { std::ofstream(folder_.path() / name, std::ios::app) << "x"; }
  void note(const std::string& what) {
    notes_.push_back(what);
    if (notes_.size() >= expected_) loop_.stop();
  }
  Loop loop_;
  std::unique_ptr<FileWatcher> watcher_ = FileWatcher::make(loop_).value();
  TemporaryFolder folder_;
  std::vector<std::string> notes_;
  std::size_t expected_ = 1;
};

TEST_F(FileWatcherTest, TwoMayWatchTheSameFolder) {
  expected_ = 2;
  ASSERT_TRUE(watcher_->add_folder(folder_.path(), [&](const auto& n) { note("one " + n); }));
  ASSERT_TRUE(watcher_->add_folder(folder_.path(), [&](const auto& n) { note("two " + n); }));
  put("a");
  loop_.run([] {});
  EXPECT_THAT(notes_, ElementsAre("one a", "two a"));
}

TEST_F(FileWatcherTest, OneThatIsRemovedHearsNothingAndTheOtherDoes) {
  const int id =
      watcher_->add_folder(folder_.path(), [&](const auto& n) { note("one " + n); }).value();
  ASSERT_TRUE(watcher_->add_folder(folder_.path(), [&](const auto& n) { note("two " + n); }));
  watcher_->remove(id);
  put("a");
  loop_.run([] {});
  EXPECT_THAT(notes_, ElementsAre("two a"));
}

TEST_F(FileWatcherTest, AFileTellsOfWritesAndAFolderOfFilesMovedIn) {
  put("a");
  put(".b");
  std::filesystem::create_directories(folder_.path() / "in");
  expected_ = 2;
  ASSERT_TRUE(watcher_->add(folder_.path() / "a", [&] { note("a"); }));
  ASSERT_TRUE(watcher_->add_folder(folder_.path() / "in", [&](const auto& n) { note("in " + n); }));
  put("a");
  std::filesystem::rename(folder_.path() / ".b", folder_.path() / "in/b");
  loop_.run([] {});
  EXPECT_THAT(notes_, ElementsAre("a", "in b"));
  EXPECT_FALSE(watcher_->add(folder_.path() / "none", [] {}));
  EXPECT_FALSE(watcher_->add_folder(folder_.path() / "a", [](const auto&) {}));
}

}  // namespace
}  // namespace trainward::daemon
