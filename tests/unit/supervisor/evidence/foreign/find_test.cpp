// Which files and folders are checkpoints.
#include "supervisor/evidence/foreign/checkpoints/find.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "common/os/file.hpp"
#include "temporary_folder.hpp"

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class FindCheckpoints : public testing::Test {
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
    for (const Candidate& file : find_checkpoints(spec, folders()).candidates) {
      out.push_back(file.path.lexically_relative(root()).string());
    }
    return out;
  }
  TemporaryFolder folder_;
};

TEST_F(FindCheckpoints, NewestStepFirst) {
  for (const char* name : {"run/ckpts/step9.pt", "run/ckpts/step10.pt", "run/ckpts/final.pt",
                           "run/ckpts/.step11.pt", "run/other/step12.pt", "state/step13.pt"}) {
    put(name);
  }
  EXPECT_THAT(find({"ckpts/*.pt"}),
              ElementsAre("run/ckpts/step10.pt", "run/ckpts/step9.pt", "run/ckpts/final.pt"));
  EXPECT_THAT(find({"*/step1?.pt", "ckpts/step10.pt"}),
              ElementsAre("run/other/step12.pt", "run/ckpts/step10.pt"));
  EXPECT_THAT(find({"{checkpoint_dir}/*.pt"}), ElementsAre("state/step13.pt"));
  EXPECT_THAT(find({"nowhere/*.pt"}), IsEmpty());
}

TEST_F(FindCheckpoints, TheNewestIsFoundAmongMany) {
  put("run/step1.pt");
  for (int step = 2; step <= 12'000; ++step) {  // links, because new files can be slow to make
    std::filesystem::create_hard_link(root() / "run/step1.pt",
                                      root() / fmt::format("run/step{}.pt", step));
  }
  const auto found = find({"step*.pt"});
  ASSERT_EQ(found.size(), 12'000U);
  EXPECT_EQ(found.front(), "run/step12000.pt");
}

TEST_F(FindCheckpoints, OnlyThoseWrittenSince) {
  put("run/step1.pt");
  put("run/step2.pt");
  WatchSpec spec;
  spec.checkpoints = {"step*.pt"};
  const auto all = find_checkpoints(spec, folders()).candidates;
  ASSERT_EQ(all.size(), 2U);
  const std::int64_t newest = std::max(all[0].modified_ns, all[1].modified_ns);
  EXPECT_EQ(find_checkpoints(spec, folders(), newest + 1).candidates.size(), 0U);
  EXPECT_EQ(find_checkpoints(spec, folders(), all.back().modified_ns).candidates.size(), 2U);
}

TEST_F(FindCheckpoints, NothingIsFollowedOutOfTheFolder) {
  put("run/real/step1.pt");
  put("outside/step2.pt");
  std::filesystem::create_symlink(root() / "outside", root() / "run/link");
  std::filesystem::create_symlink(root() / "outside/step2.pt", root() / "run/real/step3.pt");
  std::filesystem::create_symlink("real", root() / "run/alias");
  WatchSpec spec;
  spec.checkpoints = {"real/*.pt"};
  const auto passed = find_checkpoints(spec, folders()).passed_over;
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_EQ(passed[0].path, root() / "run/real/step3.pt");
  EXPECT_EQ(passed[0].reason, "a link leads out of its folder");
  EXPECT_THAT(find({"link/*.pt", "real/*.pt"}), ElementsAre("run/real/step1.pt"));
  EXPECT_THAT(find({"alias/*.pt"}), ElementsAre("run/alias/step1.pt"));
  EXPECT_TRUE(lies_inside(root() / "run/real/step1.pt", folders()));
  EXPECT_TRUE(lies_inside(root() / "run/not/yet.pt", folders()));
  EXPECT_FALSE(lies_inside(root() / "run/link/step2.pt", folders()));
  EXPECT_FALSE(lies_inside(root() / "run/../outside/step2.pt", folders()));
  EXPECT_FALSE(lies_inside(root() / "run", folders()));
  EXPECT_FALSE(lies_inside(root() / "running/step1.pt", folders()));
}

TEST_F(FindCheckpoints, AFolderIsOneAsAWhole) {
  put("run/out/checkpoint-500/model.safetensors");
  put("run/out/checkpoint-500/global_step500/mp_rank_00_model_states.pt");
  put("run/out/checkpoint-1000/model.safetensors");
  put("run/out/tmp-checkpoint-1500/model.safetensors");
  put("run/out/notes.txt");
  EXPECT_THAT(find({"out/checkpoint-*/"}),
              ElementsAre("run/out/checkpoint-1000", "run/out/checkpoint-500"));
  WatchSpec spec;
  spec.checkpoints = {"out/*checkpoint-*"};
  const auto found = find_checkpoints(spec, folders()).candidates;
  ASSERT_EQ(found.size(), 2U) << "what is being written is none";
  EXPECT_EQ(found[1].step, 500);
  EXPECT_EQ(found[1].bytes, 2U);
  EXPECT_THAT(found[1].folders, ElementsAre(root() / "run/out/checkpoint-500",
                                            root() / "run/out/checkpoint-500/global_step500"));
  const auto before = found[1];
  put("run/out/checkpoint-500/global_step500/optimizer.pt");
  EXPECT_NE(find_checkpoints(spec, folders()).candidates[1], before);
}

TEST_F(FindCheckpoints, TheStepIsInAnyPartOfThePath) {
  put("run/out/step_500/v2/model.pt");
  put("run/out/step_1500/v2/model.pt");
  EXPECT_THAT(find({"out/step_*/v2/model.pt"}),
              ElementsAre("run/out/step_1500/v2/model.pt", "run/out/step_500/v2/model.pt"));
}

TEST_F(FindCheckpoints, WhatIsNeitherFileNorFolderIsNamed) {
  std::filesystem::create_directories(root() / "run");
  ASSERT_EQ(::mkfifo((root() / "run/step1.pt").c_str(), 0600), 0);
  WatchSpec spec;
  spec.checkpoints = {"*.pt"};
  const auto found = find_checkpoints(spec, folders());
  EXPECT_THAT(found.candidates, IsEmpty());
  ASSERT_EQ(found.passed_over.size(), 1U);
  EXPECT_EQ(found.passed_over[0].reason, "is neither a file nor a folder");
}

TEST_F(FindCheckpoints, APatternInAnotherLanguageIsDoubted) {
  for (const char* glob : {"out/*.pt", "{checkpoint_dir}/*.pt", "checkpoint-[0-9]*/"}) {
    EXPECT_EQ(doubt_of_glob(glob), "") << glob;
  }
  for (const char* glob : {"step_\\d+.pt", "step.*", "(step|iter)*.pt", "{epoch}-{step}.ckpt",
                           "step%d.pt", "step[0-9.pt", "^step*"}) {
    EXPECT_NE(doubt_of_glob(glob), "") << glob;
  }
}

TEST_F(FindCheckpoints, FoldersOnTheWayAreWatchedToo) {
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

TEST_F(FindCheckpoints, PatternsStayInside) {
  EXPECT_TRUE(check_glob("a/*.pt"));
  EXPECT_TRUE(check_glob("{checkpoint_dir}/*.pt"));
  EXPECT_TRUE(check_glob("checkpoint-*/")) << "a folder";
  for (const char* glob : {"", "/a", "../a", "a/../../b", "/", "./", "{checkpoint_dir}/"}) {
    EXPECT_FALSE(check_glob(glob)) << glob;
  }
}

}  // namespace
}  // namespace trainward::foreign
