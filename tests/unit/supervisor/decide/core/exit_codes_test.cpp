#include "supervisor/decide/core/exit_codes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/protocol/protocol.hpp"

namespace trainward::core {
namespace {

State ended(Stage stage, Cause cause) {
  State state;
  state.attempt = 3;
  state.stage = stage;
  state.history.last_cause = cause;
  return state;
}

TEST(ExitCodes, OfOneProgram) {
  EXPECT_EQ(exit_code_of(ended(Stage::exited, Cause::done)), exit_code::done);
  EXPECT_EQ(exit_code_of(ended(Stage::exited, Cause::crash)), exit_code::failed);
  EXPECT_EQ(exit_code_of(ended(Stage::fatal, Cause::nan)), exit_code::do_not_requeue);
  EXPECT_EQ(exit_code_of(ended(Stage::fatal, Cause::config)), exit_code::configuration);
  EXPECT_EQ(exit_code_of(ended(Stage::stopped, Cause::stopped)), exit_code::try_again);
  EXPECT_EQ(exit_code_of(ended(Stage::training, Cause::none)), exit_code::try_again);
  EXPECT_EQ(exit_code_of(State{}), exit_code::done) << "of autostart: false";
}

// Whatever the programs are called, which decides whose turn it is.
TEST(ExitCodes, OfSeveralTheWorstCounts) {
  std::vector codes{exit_code::done, exit_code::try_again, exit_code::failed,
                    exit_code::configuration, exit_code::do_not_requeue};
  for (auto worst = codes.size(); worst > 0; --worst) {
    std::vector some(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(worst));
    std::ranges::sort(some);
    do {
      EXPECT_EQ(std::accumulate(some.begin(), some.end(), exit_code::done, worse_exit_code),
                codes[worst - 1]);
    } while (std::ranges::next_permutation(some).found);
  }
}

}  // namespace
}  // namespace trainward::core
