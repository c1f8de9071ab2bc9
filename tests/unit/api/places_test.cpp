#include "supervisor/api/places.hpp"

#include <gtest/gtest.h>

namespace trainward::api {
namespace {

constexpr uid_t daemon_user = 500;
constexpr uid_t member = 1001;

// Clients of `user` that have all sent their requests; how many found a place.
std::size_t fill(Places& places, uid_t user, Places::Client& next, std::size_t count = 100) {
  std::size_t admitted = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto client = next++;
    if (!places.admit(client, user).refusal.empty()) continue;
    places.asked(client);
    ++admitted;
  }
  return admitted;
}

TEST(Places, NobodyElseCanTakeWhatIsKeptForTheOwners) {
  Places places(daemon_user);
  Places::Client next = 1;
  EXPECT_EQ(fill(places, member, next), 16U);
  EXPECT_EQ(fill(places, member + 1, next), 16U);
  EXPECT_EQ(fill(places, member + 2, next), 16U);
  EXPECT_EQ(fill(places, member + 3, next), 0U);
  EXPECT_EQ(fill(places, daemon_user, next, 10), 10U);
  EXPECT_EQ(fill(places, 0, next), 6U);
  EXPECT_EQ(places.admit(next, 0).refusal, "64 clients are connected already");
}

TEST(Places, AnOwnerMayHaveThemAll) {
  Places places(daemon_user);
  Places::Client next = 1;
  EXPECT_EQ(fill(places, daemon_user, next), 64U);
  EXPECT_NE(places.admit(next, member).refusal, "");
}

TEST(Places, TheRefusalSaysWhoseClientsThereAre) {
  Places places(daemon_user);
  Places::Client next = 1;
  fill(places, member, next);
  EXPECT_EQ(places.admit(next, member).refusal, "16 clients of user 1001 are connected already");
}

TEST(Places, TheOldestThatHasNotAskedMakesRoomForAClientOfTheSameUser) {
  Places places(daemon_user);
  for (Places::Client client = 1; client <= 16; ++client) places.admit(client, member);
  places.asked(1);
  const auto verdict = places.admit(17, member);
  EXPECT_EQ(verdict.refusal, "");
  EXPECT_EQ(verdict.displaced, Places::Client{2});
}

TEST(Places, OneUsersIdleClientsMakeNoRoomForAnotherButForAnOwner) {
  Places places(daemon_user);
  Places::Client next = 1;
  for (uid_t user = member; user < member + 3; ++user) {
    for (int i = 0; i < 16; ++i) places.admit(next++, user);
  }
  EXPECT_NE(places.admit(next++, member + 3).refusal, "");
  EXPECT_EQ(fill(places, daemon_user, next, 16), 16U);
  const auto verdict = places.admit(next, 0);
  EXPECT_EQ(verdict.refusal, "");
  EXPECT_EQ(verdict.displaced, Places::Client{1});
}

TEST(Places, WhoLeavesMakesRoom) {
  Places places(daemon_user);
  Places::Client next = 1;
  fill(places, member, next);
  places.left(5);
  places.left(5);
  EXPECT_EQ(fill(places, member, next), 1U);
}

}  // namespace
}  // namespace trainward::api
