// Which files are checkpoints, and of which step.
#include "supervisor/foreign/checkpoint_files.hpp"

#include <gmock/gmock.h>

#include "common/os/file.hpp"
#include "temporary_folder.hpp"

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CheckpointFiles : public testing::Test {
 protected:
  void put(const std::string& name) {
    ASSERT_TRUE(make_folders((root() / name).parent_path()));
    ASSERT_TRUE(write_file_durably(root() / name, "x"));
  }
  std::filesystem::path root() const { return folder_.path(); }
  Folders folders() const { return {root() / "run", root() / "state"}; }
  std::vector<std::string> find(std::vector<std::string> globs) const {
    WatchSpec spec;
    spec.checkpoints = std::move(globs);
    std::vector<std::string> out;
    for (const CheckpointFile& file : find_checkpoints(spec, folders())) {
      out.push_back(file.path.lexically_relative(root()).string());
    }
    return out;
  }
  TemporaryFolder folder_;
};

TEST_F(CheckpointFiles, TheStepIsInTheName) {
  EXPECT_EQ(step_in_name("pretrain_step00000123.pt"), 123);
  EXPECT_EQ(step_in_name("step-120-of-500.pt"), 120);
  EXPECT_EQ(step_in_name("steps_7.ckpt"), 7);
  EXPECT_EQ(step_in_name("model_v2_77.pt"), 77);
  EXPECT_EQ(step_in_name("epoch3.mp4"), 3);
  EXPECT_EQ(step_in_name("step0.pt"), 0);
  EXPECT_EQ(step_in_name("final.pt"), std::nullopt);
  EXPECT_EQ(step_in_name("step99999999999999999999.pt"), std::nullopt);
  EXPECT_EQ(step_in_name(""), std::nullopt);
}

TEST_F(CheckpointFiles, NewestStepFirst) {
  for (const char* name : {"run/ckpts/step9.pt", "run/ckpts/step10.pt", "run/ckpts/final.pt",
                           "run/ckpts/.step11.pt", "run/other/step12.pt", "state/step13.pt"}) {
    put(name);
  }
  EXPECT_THAT(find({"ckpts/*.pt"}), ElementsAre("run/ckpts/step10.pt", "run/ckpts/step9.pt"));
  EXPECT_THAT(find({"*/step1?.pt", "ckpts/step10.pt"}),
              ElementsAre("run/other/step12.pt", "run/ckpts/step10.pt"));
  EXPECT_THAT(find({"{checkpoint_dir}/*.pt"}), ElementsAre("state/step13.pt"));
  EXPECT_THAT(find({"nowhere/*.pt"}), IsEmpty());
}

TEST_F(CheckpointFiles, TheNewestIsFoundAmongMany) {
  put("run/step1.pt");
  for (int step = 2; step <= 12'000; ++step) {  // links, because new files can be slow to make
    std::filesystem::create_hard_link(root() / "run/step1.pt",
                                      root() / fmt::format("run/step{}.pt", step));
  }
  const auto found = find({"step*.pt"});
  ASSERT_EQ(found.size(), 12'000U);
  EXPECT_EQ(found.front(), "run/step12000.pt");
}

TEST_F(CheckpointFiles, OnlyThoseWrittenSince) {
  put("run/step1.pt");
  put("run/step2.pt");
  WatchSpec spec;
  spec.checkpoints = {"step*.pt"};
  const auto all = find_checkpoints(spec, folders());
  ASSERT_EQ(all.size(), 2U);
  const std::int64_t newest = std::max(all[0].modified_ns, all[1].modified_ns);
  EXPECT_EQ(find_checkpoints(spec, folders(), newest + 1).size(), 0U);
  EXPECT_EQ(find_checkpoints(spec, folders(), all.back().modified_ns).size(), 2U);
}

TEST_F(CheckpointFiles, NothingIsFollowedOutOfTheFolder) {
  put("run/real/step1.pt");
  put("outside/step2.pt");
  std::filesystem::create_symlink(root() / "outside", root() / "run/link");
  std::filesystem::create_symlink(root() / "outside/step2.pt", root() / "run/real/step3.pt");
  std::filesystem::create_symlink("real", root() / "run/alias");
  std::filesystem::create_directories(root() / "run/real/step4.pt");
  EXPECT_THAT(find({"link/*.pt", "real/*.pt"}), ElementsAre("run/real/step1.pt"));
  EXPECT_THAT(find({"alias/*.pt"}), ElementsAre("run/alias/step1.pt"));
  EXPECT_TRUE(lies_inside(root() / "run/real/step1.pt", folders()));
  EXPECT_TRUE(lies_inside(root() / "run/not/yet.pt", folders()));
  EXPECT_FALSE(lies_inside(root() / "run/link/step2.pt", folders()));
  EXPECT_FALSE(lies_inside(root() / "run/../outside/step2.pt", folders()));
  EXPECT_FALSE(lies_inside(root() / "run", folders()));
  EXPECT_FALSE(lies_inside(root() / "running/step1.pt", folders()));
}

TEST_F(CheckpointFiles, FoldersOnTheWayAreWatchedToo) {
  put("run/a/x/step1.pt");
  WatchSpec spec;
  spec.checkpoints = {"a/*/step*.pt", "later/step*.pt"};
  spec.status_file = "out/status.json";
  const auto run = folders().directory;
  EXPECT_THAT(folders_to_watch(spec, folders()), UnorderedElementsAre(run, run / "a", run / "a/x"));
  EXPECT_TRUE(may_matter(spec, "later"));
  EXPECT_TRUE(may_matter(spec, "out"));
  EXPECT_TRUE(may_matter(spec, "step7.pt"));
  EXPECT_TRUE(may_matter(spec, "")) << "nobody knows what changed";
  spec.checkpoints = {"step*.pt"};
  EXPECT_FALSE(may_matter(spec, "status.json"));
}

TEST_F(CheckpointFiles, PatternsStayInside) {
  EXPECT_TRUE(check_glob("a/*.pt"));
  EXPECT_TRUE(check_glob("{checkpoint_dir}/*.pt"));
  for (const char* glob : {"", "/a", "../a", "a/../../b", "a/", "{checkpoint_dir}/"}) {
    EXPECT_FALSE(check_glob(glob)) << glob;
  }
}

}  // namespace
}  // namespace trainward::foreign
