#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "supervisor/daemon/boards/board_repair.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using ::testing::ElementsAre;

class Purge : public ::testing::Test {
 protected:
  Purge() {
    std::filesystem::create_directories(kernels_ / "tt-metal-cache");
    std::filesystem::create_directories(paths_.kernels_cache("B2", "") / "tt-metal-cache");
    std::filesystem::create_directories(paths_.programs_cache(""));
    command_.command.emplace_back();
    state_.history.last_cause = core::Cause::cache_corrupt;
    state_.history.rungs[core::Cause::cache_corrupt] = 1;
  }

  TemporaryFolder folder_;
  Paths paths_{folder_.path(), {}};
  std::filesystem::path kernels_ = paths_.kernels_cache("B1", "");
  core::State state_;
  config::Program own_;  // without a command it is our worker
  config::Program command_;
};

TEST_F(Purge, KernelsOfTheBoardFirstThenTheProgramsToo) {
  EXPECT_THAT(folders_to_purge(paths_, state_, "B1", own_), ElementsAre(kernels_));
  state_.history.rungs[core::Cause::cache_corrupt] = 2;
  EXPECT_THAT(folders_to_purge(paths_, state_, "B1", own_),
              ElementsAre(paths_.programs_cache(""), kernels_));
}

TEST_F(Purge, BothWhereKernelsCannotBeToBlame) {
  const auto both = ElementsAre(paths_.programs_cache(""), kernels_);
  EXPECT_THAT(folders_to_purge(paths_, state_, "B1", command_), both) << "a command of the user's";
  state_.history.last_cause = core::Cause::hang;
  EXPECT_THAT(folders_to_purge(paths_, state_, "B1", own_), both);
  state_.history.last_cause = core::Cause::cache_corrupt;
  std::filesystem::remove(kernels_ / "tt-metal-cache");
  EXPECT_THAT(folders_to_purge(paths_, state_, "B1", own_), both) << "there are no kernels";
  std::filesystem::remove(kernels_);
  EXPECT_THAT(folders_to_purge(paths_, state_, "B1", own_), both);
}

TEST_F(Purge, AProgramWithAUserOfItsOwnHasCachesOfItsOwn) {
  own_.name = "run";
  own_.user = User{"alice", "", "", {1000, 1000, {}}};
  const auto cache = folder_.path() / "runs" / "run" / "cache";
  EXPECT_THAT(folders_to_purge(paths_, state_, "B1", own_),
              ElementsAre(cache / "programs", cache / "tt-metal" / "B1"));
}

TEST_F(Purge, DeletesWhatIsInsideAndOnlyThat) {
  std::ofstream(kernels_ / "tt-metal-cache" / "x.elf") << "elf";
  EXPECT_EQ(purge_folders({kernels_, folder_.path() / "missing"}), "");
  EXPECT_TRUE(std::filesystem::is_empty(kernels_));
  EXPECT_TRUE(std::filesystem::exists(paths_.kernels_cache("B2", "") / "tt-metal-cache"));
  EXPECT_TRUE(std::filesystem::exists(paths_.programs_cache("")));
}

}  // namespace
}  // namespace trainward::daemon
