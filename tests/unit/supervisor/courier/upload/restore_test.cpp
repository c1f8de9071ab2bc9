#include "supervisor/courier/upload/restore.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "checkpoint/checkpoint.hpp"
#include "common/os/user.hpp"
#include "fixture.hpp"
#include "supervisor/courier/upload/folder/folder_store.hpp"
#include "supervisor/courier/upload/make_target.hpp"
#include "supervisor/courier/upload/package.hpp"
#include "swapping.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;

struct Restoring : testing::Test {
  TemporaryFolder folder;
  TestMemory memory;
  orders::UploadOrder order;
  std::vector<std::string> notes;

  Restoring() {
    order.source = {"gpt", path("new/checkpoints"), path("new/work")};
    for (const char* name : {"nas", "usb"}) {
      fs::create_directories(path(name));
      order.upload.targets.push_back({name, orders::FolderPlace{path(name)}, {}});
    }
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder.path() / name).string();
  }

  // A checkpoint of ours, published at a target.
  void publish(std::size_t target, std::int64_t step) {
    checkpoint::Contents contents;
    contents.state.step = step;
    const auto saved = checkpoint::save(path("old/checkpoints"), contents);
    ASSERT_TRUE(saved) << saved.error().message();
    orders::Source source{"gpt", path("old/checkpoints"), path("old/work")};
    publish_path(target, source, saved->string(), step);
  }
  void publish_path(std::size_t target, const orders::Source& source, const std::string& at,
                    std::int64_t step) {
    auto opened =
        open_package(source, {at, published_name(at, step), step, 1'000 + step}, memory, {});
    ASSERT_TRUE(opened) << opened.error().message();
    auto to = make_target(order.upload.targets[target], memory, {});
    ASSERT_TRUE(to);
    const auto published = (*to)->publish(opened->package, {});
    ASSERT_TRUE(published) << published.error().message();
  }
  Result<Restored> run() {
    RestoreOptions options;
    options.note = [&](const std::string& text) { notes.push_back(text); };
    return restore(order, options);
  }
};

TEST_F(Restoring, TheNewestOfAllTargets) {
  publish(0, 5);
  publish(1, 9);
  publish(0, 7);
  const auto restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->step, 9);
  EXPECT_EQ(restored->target, "usb");
  EXPECT_EQ(restored->path, path("new/checkpoints/") + "step-00000009");
  EXPECT_TRUE(checkpoint::verify(restored->path));
  const auto selected = checkpoint::select(path("new/checkpoints"));
  ASSERT_TRUE(selected);
  ASSERT_TRUE(selected->chosen);
  EXPECT_EQ(selected->chosen->step, 9);
}

TEST_F(Restoring, NothingAnywhereIsANewRun) {
  const auto restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_TRUE(restored->path.empty());
}

TEST_F(Restoring, ATargetThatIsAwayMayHaveOne) {
  fs::remove(path("usb"));
  EXPECT_FALSE(run()) << "nobody begins anew because a disk is not mounted";
  publish(0, 5);
  const auto restored = run();
  ASSERT_TRUE(restored) << "but what is there is taken";
  EXPECT_EQ(restored->step, 5);
  ASSERT_FALSE(notes.empty());
  EXPECT_NE(notes.front().find("usb"), std::string::npos);
}

TEST_F(Restoring, ADamagedOneIsPassedOver) {
  publish(0, 5);
  publish(0, 9);
  std::ofstream(path("nas/gpt/step-00000009/state.json")) << "{}";
  const auto restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->step, 5);
  ASSERT_EQ(notes.size(), 1U);
  for (const auto& entry : fs::directory_iterator(path("new/checkpoints"))) {
    EXPECT_EQ(entry.path().filename(), "step-00000005") << "nothing else is left there";
  }
}

TEST_F(Restoring, AFileOfAnotherProgramGoesWhereItLay) {
  order.source.foreign = true;
  folder.write("old/work/out/pretrain_step500.pt", pickle);
  folder.write("old/work/out/checkpoint-600/a/b.bin", "tree");
  orders::Source source{"gpt", path("old/checkpoints"), path("old/work"), true};
  publish_path(0, source, path("old/work/out/pretrain_step500.pt"), 500);
  auto restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->path, path("new/work/out/pretrain_step500.pt"));
  EXPECT_TRUE(fs::is_regular_file(restored->path));
  publish_path(1, source, path("old/work/out/checkpoint-600"), 600);
  restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->step, 600);
  EXPECT_TRUE(fs::is_regular_file(path("new/work/out/checkpoint-600/a/b.bin")));
}

// Its program was ended while it wrote it; whoever sent it did not notice.
TEST_F(Restoring, ATornOneOfAnotherProgramIsPassedOver) {
  order.source.foreign = true;
  folder.write("old/work/out/step500.pt", pickle);
  folder.write("old/work/out/step600.pt", std::string("PK\x03\x04") + std::string(500, 'x'));
  // It sends what it is given.
  const orders::Source source{"gpt", path("old/checkpoints"), path("old/work"), false};
  publish_path(0, source, path("old/work/out/step500.pt"), 500);
  publish_path(0, source, path("old/work/out/step600.pt"), 600);
  const auto restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->step, 500);
}

// An older one would throw away what was trained since.
TEST_F(Restoring, WhatCannotBeHadJustNowIsNotPassedOver) {
  publish(0, 5);
  publish(0, 9);
  const std::string record = path("nas/gpt/published/000000000009.step-00000009.json");
  std::string text = *read_file(record, 1 << 20);
  const auto size = text.find("\"size\":") + 7;
  text.insert(size, "9000000000");  // more than any disk has room for
  std::ofstream(record) << text;
  auto restored = run();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind, ErrorKind::transient);
  EXPECT_NE(restored.error().message().find("too full"), std::string::npos)
      << restored.error().message();
  EXPECT_FALSE(fs::exists(path("new/checkpoints/step-00000005")));
}

TEST_F(Restoring, RecordsThatCannotBeReadAreNoNewRun) {
  publish(0, 5);
  const std::string record = path("nas/gpt/published/000000000005.step-00000005.json");
  std::ofstream(record) << "{}";
  auto restored = run();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind, ErrorKind::corrupt);
  publish(0, 7);
  EXPECT_EQ(run()->step, 7) << "one that is damaged hides no other";
}

TEST_F(Restoring, ANewerTrainwardsRecordsAreNotLeftOut) {
  publish(0, 5);
  publish(0, 7);
  const std::string record = path("nas/gpt/published/000000000007.step-00000007.json");
  std::ofstream(record) << R"({"format": "trainward-upload", "version": 2})";
  const auto restored = run();
  ASSERT_FALSE(restored) << "an older one would be taken for the newest";
  EXPECT_EQ(restored.error().kind, ErrorKind::permanent);
}

// Whoever may write at the target cannot put a file anywhere in the program's folder.
TEST_F(Restoring, NothingGoesWhereTheProgramLooksForNoCheckpoints) {
  order.source.foreign = true;
  order.source.patterns = {"out/*/step*.pt", "{checkpoint_dir}/*"};
  folder.write("old/work/sitecustomize.pt", pickle);
  folder.write("old/work/out/a/step500.pt", pickle);
  const orders::Source source{"gpt", path("old/checkpoints"), path("old/work"), true};
  publish_path(0, source, path("old/work/sitecustomize.pt"), 600);
  EXPECT_FALSE(run()) << "and it is no new run";
  EXPECT_FALSE(fs::exists(path("new/work/sitecustomize.pt")));
  publish_path(0, source, path("old/work/out/a/step500.pt"), 500);
  const auto restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->path, path("new/work/out/a/step500.pt"));
}

TEST_F(Restoring, NoLinkIsWrittenThrough) {
  publish(0, 5);
  fs::create_directories(path("elsewhere"));
  fs::create_directories(path("new/work"));
  order.source.foreign = true;
  folder.write("old/work/out/step7.pt", pickle);
  publish_path(0, {"gpt", path("old/checkpoints"), path("old/work"), true},
               path("old/work/out/step7.pt"), 7);
  fs::create_directory_symlink(path("elsewhere"), path("new/work/out"));
  const auto restored = run();
  EXPECT_TRUE(fs::is_empty(path("elsewhere")));
  ASSERT_TRUE(restored) << "the other one has another place";
  EXPECT_EQ(restored->step, 5);
}

TEST_F(Restoring, NothingAppearsOutsideWhileAFolderOnTheWayIsExchangedForALink) {
  folder.write("old/work/out/a/step7.pt", pickle);
  publish_path(0, {"gpt", path("old/checkpoints"), path("old/work"), true},
               path("old/work/out/a/step7.pt"), 7);
  order.source.foreign = true;
  fs::create_directories(path("elsewhere"));
  fs::create_directories(path("new/work/out"));
  fs::create_directory_symlink(path("elsewhere"), path("new/work/link"));
  {
    const Swapping somebody(path("new/work/out"), path("new/work/link"));
    for (int round = 0; round < 100 || somebody.swaps() < 100; ++round) {
      (void)run();
      std::error_code ignored;
      fs::remove(path("new/work/out/a/step7.pt"), ignored);
    }
  }
  EXPECT_TRUE(fs::is_empty(path("elsewhere")));
}

TEST_F(Restoring, ForAnotherUserTheFilesAreThatUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can restore for others";
  publish(0, 5);
  order.source.user = "nobody";
  const auto nobody = find_user("nobody");
  ASSERT_TRUE(nobody);
  fs::permissions(folder.path(), fs::perms(0755));
  fs::create_directories(path("new/checkpoints"));
  EXPECT_FALSE(run()) << "nobody may write there";
  ASSERT_EQ(::chown(path("new/checkpoints").c_str(), nobody->credentials.user, 0), 0);
  const auto restored = run();
  ASSERT_TRUE(restored) << restored.error().message();
  for (const auto& entry : fs::recursive_directory_iterator(path("new/checkpoints"))) {
    struct stat info {};
    ASSERT_EQ(::lstat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, nobody->credentials.user) << entry.path();
  }
}

TEST_F(Restoring, ItCanBeStopped) {
  publish(0, 5);
  std::stop_source stop;
  RestoreOptions options;
  options.stop = stop.get_token();
  options.progress = [&](const RestoreProgress&) { stop.request_stop(); };
  const auto restored = restore(order, options);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind, ErrorKind::transient);
  EXPECT_FALSE(fs::exists(path("new/checkpoints/step-00000005")));
  EXPECT_TRUE(run());
}

}  // namespace
}  // namespace trainward::upload
