// Old checkpoints of somebody else go when that was asked for, and nothing else does.
#include <gmock/gmock.h>

#include "common/os/file.hpp"
#include "state_files.hpp"
#include "supervisor/evidence/foreign/checkpoints/foreign_retention.hpp"
#include "temporary_folder.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ForeignRetention : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& bytes = zip()) {
    ASSERT_TRUE(make_folders((run() / name).parent_path()));
    ASSERT_TRUE(write_file_durably(run() / name, bytes));
  }
  fs::path run() const { return folder_.path() / "run"; }
  std::vector<std::string> prune(std::vector<std::string> globs, const Retention& retention) {
    WatchSpec spec;
    spec.checkpoints = std::move(globs);
    const Pruned pruned = foreign::prune(spec, {run(), folder_.path() / "state"}, retention);
    EXPECT_THAT(pruned.problems, IsEmpty());
    return left();
  }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(run())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  TemporaryFolder folder_;
};

TEST_F(ForeignRetention, TheNewestStepsStay) {
  for (const char* name : {"step1.pt", "step2.pt", "step3.pt", "step4.pt", "optim-step1.pt",
                           "optim-step4.pt", "best.pt"}) {
    put(name);
  }
  EXPECT_THAT(prune({"*.pt"}, {.keep = 2, .keep_every = 0, .held = {}}),
              UnorderedElementsAre("step3.pt", "step4.pt", "optim-step4.pt", "best.pt"));
  EXPECT_THAT(prune({"*.pt"}, {.keep = 1, .keep_every = 0, .held = {}}),
              UnorderedElementsAre("step3.pt", "step4.pt", "optim-step4.pt", "best.pt"))
      << "one may turn out damaged";
}

TEST_F(ForeignRetention, WhatIsDamagedDoesNotCount) {
  put("step1.pt");
  put("step2.pt");
  put("step3.pt", zip().substr(0, 20));
  put("step4.pt", "");
  EXPECT_EQ(prune({"*.pt"}, {.keep = 2, .keep_every = 0, .held = {}}).size(), 4U);
}

TEST_F(ForeignRetention, FoldersGoAsAWhole) {
  for (int step = 1; step <= 4; ++step) put(fmt::format("checkpoint-{}/a/model.pt", step));
  put("checkpoint-1/PINNED", "the best so far");
  EXPECT_THAT(prune({"checkpoint-*"}, {.keep = 2, .keep_every = 0, .held = {}}),
              UnorderedElementsAre("checkpoint-1", "checkpoint-3", "checkpoint-4"));
}

TEST_F(ForeignRetention, MilestonesAndWhatIsInUseStay) {
  for (int step = 1; step <= 9; ++step) put(fmt::format("step{}.pt", step));
  EXPECT_THAT(prune({"step*.pt"}, {.keep = 2, .keep_every = 5, .held = {run() / "step2.pt"}}),
              UnorderedElementsAre("step2.pt", "step5.pt", "step8.pt", "step9.pt"));
}

TEST_F(ForeignRetention, NothingElsewhereIsTouched) {
  put("step8.pt");
  put("step9.pt");
  ASSERT_TRUE(make_folders(folder_.path() / "outside/step1"));
  ASSERT_TRUE(write_file_durably(folder_.path() / "outside/step1/precious.pt", zip()));
  fs::create_symlink(folder_.path() / "outside/step1", run() / "step1");
  fs::create_symlink("step8.pt", run() / "step3.pt");
  put("step2/model.pt");
  fs::create_symlink(folder_.path() / "outside", run() / "step2/link");
  EXPECT_THAT(prune({"step*"}, {.keep = 2, .keep_every = 0, .held = {}}),
              UnorderedElementsAre("step1", "step3.pt", "step8.pt", "step9.pt"));
  EXPECT_TRUE(fs::exists(folder_.path() / "outside/step1/precious.pt"));
}

TEST_F(ForeignRetention, WhatACrashLeftOfARemovalGoes) {
  put(".trainward-removing-step1/model.pt");
  for (int step = 2; step <= 4; ++step) put(fmt::format("step{}.pt", step));
  EXPECT_THAT(prune({"step*"}, {.keep = 2, .keep_every = 0, .held = {}}),
              UnorderedElementsAre("step3.pt", "step4.pt"));
}

}  // namespace
}  // namespace trainward::foreign
