#include "supervisor/courier/upload/target/ownership.hpp"

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace trainward::upload {
namespace {

struct Ownership : testing::Test {
  TestMemory memory;
  Status may(const upload::Run& run, const std::string& there) {
    return may_publish(run, there, memory, "there");
  }
};

TEST_F(Ownership, ARunThatBeganFromNothingTakesNothing) {
  EXPECT_TRUE(may({"a", false}, "a"));
  EXPECT_TRUE(may({"b", false}, "")) << "of a version that told no run";
  EXPECT_TRUE(may({}, "a"));
  const auto refused = may({"b", false}, "a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
}

TEST_F(Ownership, WhoGoesOnTakesThePlaceOverOnce) {
  const upload::Run run{"b", true};
  EXPECT_TRUE(may(run, "a")) << "it began with what was there";
  ASSERT_TRUE(note_ownership(run, memory));
  EXPECT_TRUE(may(run, "b"));
  const auto refused = may(run, "c");
  ASSERT_FALSE(refused) << "another one went on, and this one came back";
  EXPECT_NE(refused.error().message().find("another run has continued there"), std::string::npos);
  // Restored from there it is another training.
  EXPECT_TRUE(may({"d", true}, "c"));
}

}  // namespace
}  // namespace trainward::upload
