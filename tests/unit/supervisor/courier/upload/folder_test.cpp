#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "fetch_into.hpp"
#include "fixture.hpp"
#include "supervisor/courier/upload/folder/folder_store.hpp"
#include "supervisor/courier/upload/plain_target.hpp"
#include "supervisor/courier/upload/target/publication.hpp"
#include "swapping.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

struct FolderTarget : testing::Test {
  TemporaryFolder folder;
  TestMemory memory;
  fs::path root = folder.path() / "nas";
  FolderTarget() { fs::create_directory(root); }

  std::unique_ptr<PlainTarget> target(const TargetOptions& options = {}) {
    return std::make_unique<PlainTarget>(std::make_unique<FolderStore>(root, memory, options),
                                         memory);
  }
};

const Texts files{{"model.safetensors", std::string(300'000, 'm')}, {"MANIFEST.json", "{}"}};

TEST_F(FolderTarget, PublishesAndBringsBack) {
  auto to = target();
  ASSERT_TRUE(to->check());
  std::int64_t last = 0;
  const auto published = to->publish(make_package(folder, "step-5", 5, files),
                                     [&](std::int64_t bytes) { last = bytes; });
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_EQ(published->place, (root / "gpt/step-5").string());
  EXPECT_EQ(published->sent_bytes, 300'002);
  EXPECT_EQ(last, 300'002);
  EXPECT_EQ(text_of(root / "gpt/step-5/model.safetensors"), files[0].second);
  EXPECT_NE(text_of(root / "gpt/latest.json").find("step-5"), std::string::npos);
  EXPECT_TRUE(memory.values.empty()) << "nothing stays to be remembered";

  const auto remotes = to->list("gpt");
  ASSERT_TRUE(remotes);
  ASSERT_EQ(remotes->size(), 1U);
  EXPECT_TRUE(to->verify("gpt", remotes->front()));
  const fs::path into = folder.path() / "back";
  fs::create_directory(into);
  const auto fetched = to->fetch("gpt", remotes->front(), trainward::test::fetch_into(into), {});
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(text_of(into / "model.safetensors"), files[0].second);
}

TEST_F(FolderTarget, NothingIsSentTwice) {
  ASSERT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  const auto again = target()->publish(make_package(folder, "step-5", 5, files), {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sent_bytes, 0);
}

TEST_F(FolderTarget, ACheckpointSavedAnewReplacesTheOther) {
  ASSERT_TRUE(target()->publish(
      make_package(folder, "step-5", 5, {{"model.safetensors", "old"}, {"old.json", "x"}}), {}));
  ASSERT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  const auto remotes = target()->list("gpt");
  ASSERT_TRUE(remotes);
  ASSERT_EQ(remotes->size(), 1U);
  EXPECT_TRUE(target()->verify("gpt", remotes->front()));
  EXPECT_FALSE(fs::exists(root / "gpt/step-5/old.json")) << "of the one before";
}

// Two runs that were given the same place: neither loses anything, and who goes on has the place.
TEST_F(FolderTarget, ANewRunReplacesNothingOfAnother) {
  const auto of_run = [&](const std::string& name, std::int64_t step, const Texts& texts,
                          upload::Run run) {
    Package package = make_package(folder, name, step, texts);
    package.run = std::move(run);
    return target()->publish(package, {});
  };
  ASSERT_TRUE(of_run("step-5", 5, files, {"first", false}));
  const auto tree = [&] {
    std::map<std::string, std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file()) out[entry.path().string()] = text_of(entry.path());
    }
    return out;
  };
  const auto before = tree();
  for (const std::int64_t step : {5, 9}) {
    const auto refused =
        of_run("step-" + std::to_string(step), step, {{"a.bin", "other"}}, {"second", false});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
    EXPECT_NE(refused.error().message().find("another run"), std::string::npos);
  }
  EXPECT_EQ(tree(), before);

  ASSERT_TRUE(of_run("step-9", 9, {{"a.bin", "goes on"}}, {"third", true}));
  EXPECT_TRUE(of_run("step-5", 5, {{"a.bin", "goes on"}}, {"third", true}))
      << "what is left of the run before is replaced";
  const auto late = of_run("step-12", 12, files, {"first", false});
  EXPECT_FALSE(late) << "the box that was given up came back";
}

// A new box whose clock is behind, or whose checkpoints were copied with their times.
TEST_F(FolderTarget, WhoGoesOnByAnEarlierClockGoesOn) {
  Package first = make_package(folder, "step-5", 5, files);
  first.run = {"first", false};
  ASSERT_TRUE(target()->publish(first, {}));
  memory.values.clear();  // of another box
  for (const std::int64_t step : {6, 7}) {
    Package next = make_package(folder, "step-" + std::to_string(step), step, files);
    next.run = {"second", true};
    next.saved_ms = step;
    const auto done = target()->publish(next, {});
    EXPECT_TRUE(done) << done.error().message();
  }
}

// The box of a run was lost between its record and latest.json.
TEST_F(FolderTarget, ARecordAloneIsAnotherRunsToo) {
  Package first = make_package(folder, "step-5", 5, files);
  first.run = {"first", false};
  ASSERT_TRUE(target()->publish(first, {}));
  fs::remove(root / "gpt/latest.json");
  Package second = make_package(folder, "step-5", 5, {{"a.bin", "other"}});
  second.run = {"second", false};
  EXPECT_FALSE(target()->publish(second, {}));
  EXPECT_TRUE(target()->verify("gpt", target()->list("gpt")->front()));
}

TEST_F(FolderTarget, WhatACrashLeftOfARecordGoesIntoTheNext) {
  const fs::path part = root / "gpt/published/.trainward-part-000000000005.step-5.json";
  fs::create_directories(part.parent_path());
  std::ofstream(part) << "{ half of";
  ASSERT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  EXPECT_FALSE(fs::exists(part));
  EXPECT_EQ(target()->list("gpt")->size(), 1U);
  // Or goes with what is not worth sending any more.
  std::ofstream(part) << "{ half of";
  ASSERT_TRUE(target()->abandon("gpt", "step-4"));
  EXPECT_FALSE(fs::exists(part));
}

TEST_F(FolderTarget, AnInterruptedCopyGoesOn) {
  const std::string text = std::string(100'000, 'a') + std::string(100'000, 'b');
  fs::create_directories(root / "gpt/step-5");
  std::ofstream(root / "gpt/step-5/.trainward-part-model.bin") << text.substr(0, 150'000);
  std::int64_t least = INT64_MAX;
  const auto published =
      target()->publish(make_package(folder, "step-5", 5, {{"model.bin", text}}),
                        [&](std::int64_t bytes) { least = std::min(least, bytes); });
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_GT(least, 150'000) << "what has arrived is not copied again";
  EXPECT_EQ(text_of(root / "gpt/step-5/model.bin"), text);
}

TEST_F(FolderTarget, ADamagedBeginningIsCopiedAnew) {
  const std::string text(200'000, 'a');
  fs::create_directories(root / "gpt/step-5");
  std::ofstream(root / "gpt/step-5/.trainward-part-model.bin") << std::string(150'000, 'x');
  const Package package = make_package(folder, "step-5", 5, {{"model.bin", text}});
  const auto first = target()->publish(package, {});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::transient);
  const auto second = target()->publish(package, {});
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(text_of(root / "gpt/step-5/model.bin"), text);
}

TEST_F(FolderTarget, AChangedSourceIsNotPublished) {
  Package package = make_package(folder, "step-5", 5, files);
  folder.write("source/step-5/model.safetensors", std::string(300'000, 'x'));
  const auto published = target()->publish(package, {});
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().kind, ErrorKind::corrupt);
  const auto remotes = target()->list("gpt");
  ASSERT_TRUE(remotes);
  EXPECT_TRUE(remotes->empty());
}

TEST_F(FolderTarget, ADiskThatIsNotMountedIsNotFilled) {
  fs::remove(root);
  const auto checked = target()->check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::permanent);
  EXPECT_FALSE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  EXPECT_FALSE(target()->list("gpt")) << "an empty list would mean that there is nothing";
  EXPECT_FALSE(fs::exists(root));
}

// The folder that a disk is mounted on is there without it, and what lies beneath is another disk.
TEST_F(FolderTarget, ADiskThatWasMountedIsWaitedFor) {
  if (::mount("tmpfs", root.c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "this user may not mount anything";
  }
  const auto published = target()->publish(make_package(folder, "step-5", 5, files), {});
  EXPECT_TRUE(published) << published.error().message();
  ASSERT_EQ(::umount(root.c_str()), 0);
  const auto refused = target()->publish(make_package(folder, "step-9", 9, files), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  EXPECT_NE(refused.error().message().find("not mounted now"), std::string::npos);
  EXPECT_FALSE(target()->list("gpt"));
  EXPECT_TRUE(fs::is_empty(root)) << "nothing fills the disk beneath";
  ASSERT_EQ(::mount("tmpfs", root.c_str(), "tmpfs", 0, "size=4m"), 0);
  EXPECT_TRUE(target()->publish(make_package(folder, "step-9", 9, files), {}));
  ASSERT_EQ(::umount(root.c_str()), 0);
}

TEST_F(FolderTarget, LinksLeadNowhere) {
  const fs::path elsewhere = folder.path() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_directory_symlink(elsewhere, root / "gpt");
  EXPECT_FALSE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  EXPECT_TRUE(fs::is_empty(elsewhere));
}

// Somebody else may write into the folder of uploads, and exchanges one in it for a link, as fast
// as the kernel lets them.
class Raced : public FolderTarget {
 protected:
  Raced() {
    fs::create_directories(outside);
    std::ofstream(outside / "victim") << "of somebody else";
  }
  [[nodiscard]] bool untouched() const {
    return std::distance(fs::directory_iterator(outside), fs::directory_iterator()) == 1 &&
           text_of(outside / "victim") == "of somebody else";
  }
  // Everything that changes something there, over and over.
  void work() {
    const auto to = target();
    for (int round = 0; round < 60; ++round) {
      const Package package = make_package(folder, "step-5", 5, {{"victim", "ours"}, {"a", "x"}});
      (void)to->publish(package, {});
      const Remote remote = remote_of(package);
      (void)to->verify("gpt", remote);
      (void)to->abandon("gpt", "step-5");
      memory.values.clear();
      (void)FolderStore(root, memory, {}).remove("gpt/step-5/victim");
      (void)FolderStore(root, memory, {}).remove("gpt/published/000000000005.step-5.json");
    }
  }
  fs::path outside = folder.path() / "outside";
};

TEST_F(Raced, NothingAppearsOrGoesOutsideOfIt) {
  for (const char* name : {"gpt", "gpt/step-5", "gpt/published"}) {
    fs::create_directories(root / name);
    fs::create_directory_symlink(outside, root / "link");
    {
      const Swapping somebody(root / name, root / "link");
      do work();
      while (somebody.swaps() < 100);
    }
    EXPECT_TRUE(untouched()) << name;
    fs::remove_all(root);
    fs::create_directory(root);
  }
  EXPECT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {}));
}

TEST_F(Raced, RootWorksWithTheRightsOfTheUserWhoCanMoveTheFolderItself) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has others' rights";
  constexpr uid_t somebody_else = 1234;
  fs::permissions(folder.path(), fs::perms(0755));
  fs::create_directories(folder.path() / "theirs");
  fs::rename(root, folder.path() / "theirs/nas");
  root = folder.path() / "theirs/nas";
  fs::create_directory_symlink(outside, folder.path() / "theirs/link");
  for (const auto& path : {root, folder.path() / "theirs"}) {
    ASSERT_EQ(::chown(path.c_str(), somebody_else, somebody_else), 0);
  }
  {
    const Swapping somebody(root, folder.path() / "theirs/link");
    do work();
    while (somebody.swaps() < 100);
  }
  EXPECT_TRUE(untouched());
  if (fs::is_symlink(root)) root = folder.path() / "theirs/link";
  ASSERT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  struct stat info {};
  ASSERT_EQ(::stat((root / "gpt/step-5/model.safetensors").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, somebody_else);
}

TEST_F(FolderTarget, WhatLiesWhereACopyIsToBeginIsUsedOnlyIfItIsOurs) {
  const fs::path part = root / "gpt/step-5/.trainward-part-model.safetensors";
  fs::create_directories(part.parent_path());
  folder.write("precious", "of somebody else");
  fs::create_hard_link(folder.path() / "precious", part);
  ASSERT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  EXPECT_EQ(text_of(folder.path() / "precious"), "of somebody else");
  EXPECT_EQ(text_of(root / "gpt/step-5/model.safetensors"), files[0].second);
}

TEST_F(FolderTarget, DamageAtThePlaceIsFound) {
  ASSERT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {}));
  const auto remotes = target()->list("gpt");
  ASSERT_TRUE(remotes);
  std::ofstream(root / "gpt/step-5/model.safetensors") << std::string(300'000, 'x');
  const auto verified = target()->verify("gpt", remotes->front());
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().kind, ErrorKind::corrupt);
  const fs::path into = folder.path() / "back";
  fs::create_directory(into);
  EXPECT_FALSE(target()->fetch("gpt", remotes->front(), trainward::test::fetch_into(into), {}));
}

TEST_F(FolderTarget, WhatIsGivenUpLeavesNothing) {
  std::stop_source stop;
  TargetOptions options;
  options.stop = stop.get_token();
  std::string large;
  large.resize(40'000'000, 'a');
  const Package package = make_package(folder, "step-5", 5, {{"a.bin", "a"}, {"model.bin", large}});
  const auto published = target(options)->publish(package, [&](std::int64_t bytes) {
    if (bytes > 1) stop.request_stop();
  });
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().kind, ErrorKind::transient);
  EXPECT_TRUE(fs::exists(root / "gpt/step-5/a.bin"));
  ASSERT_TRUE(target()->abandon("gpt", "step-5"));
  EXPECT_FALSE(fs::exists(root / "gpt/step-5/a.bin"));
  EXPECT_FALSE(fs::exists(root / "gpt/step-5/.trainward-part-model.bin"));
  // What is published stays.
  ASSERT_TRUE(target()->publish(make_package(folder, "step-6", 6, files), {}));
  ASSERT_TRUE(target()->abandon("gpt", "step-6"));
  EXPECT_TRUE(target()->verify("gpt", target()->list("gpt")->front()));
}

TEST_F(FolderTarget, LatestIsTheOneSavedLast) {
  ASSERT_TRUE(target()->publish(make_package(folder, "step-9", 9, files), {}));
  ASSERT_TRUE(target()->publish(make_package(folder, "step-5", 5, files), {})) << "a milestone";
  EXPECT_NE(text_of(root / "gpt/latest.json").find("step-9"), std::string::npos);
  const auto remotes = target()->list("gpt");
  ASSERT_TRUE(remotes);
  EXPECT_EQ(remotes->front().step, 9);
}

}  // namespace
}  // namespace trainward::upload
