#include "trainer/loop/setup/environment.hpp"

#include <gtest/gtest.h>

#include <map>

#include "common/protocol/protocol.hpp"

namespace trainward::trainer {
namespace {

Result<WorkerEnvironment> read(const std::map<std::string, std::string>& variables) {
  return read_environment([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(EnvironmentTest, TellsAnAbsentResumeFromAnEmptyOne) {
  auto by_hand = read({});
  ASSERT_TRUE(by_hand);
  EXPECT_FALSE(by_hand->resume_from);
  EXPECT_EQ(by_hand->attempt, 0);
  auto supervised = read({{env::resume_from, ""}, {env::attempt, "3"}, {env::run, "main"}});
  ASSERT_TRUE(supervised);
  EXPECT_EQ(supervised->resume_from, "");
  EXPECT_EQ(supervised->attempt, 3);
  EXPECT_EQ(supervised->run, "main");
  EXPECT_FALSE(supervised->program_cache);
  EXPECT_EQ(read({{env::program_cache, "/cache"}})->program_cache, "/cache");
  EXPECT_FALSE(read({{env::program_cache, ""}})->program_cache);
}

TEST(EnvironmentTest, RefusesAnAttemptThatIsNoNumber) {
  for (const char* bad : {"three", "3x", "-1", " 3"}) {
    auto environment = read({{env::attempt, bad}});
    ASSERT_FALSE(environment) << bad;
    EXPECT_EQ(environment.error().where, env::attempt);
  }
}

}  // namespace
}  // namespace trainward::trainer
