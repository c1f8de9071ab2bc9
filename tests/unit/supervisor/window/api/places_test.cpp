#include "supervisor/window/api/http/places.hpp"

#include <gtest/gtest.h>

namespace trainward::api {
namespace {

using Visitor = Places::Visitor;

constexpr int member = 1001;

Visitor user(int number) { return {"user " + std::to_string(number)}; }
Visitor owner() { return {"user 500", true}; }
Visitor root() { return {"user 0", true}; }

// Clients of `visitor` that have all sent their requests; how many found a place.
std::size_t fill(Places& places, const Visitor& visitor, Places::Client& next,
                 std::size_t count = 100) {
  std::size_t admitted = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto client = next++;
    if (!places.admit(client, visitor).refusal.empty()) continue;
    places.asked(client);
    ++admitted;
  }
  return admitted;
}

TEST(Places, NobodyElseCanTakeWhatIsKeptForTheOwners) {
  Places places;
  Places::Client next = 1;
  EXPECT_EQ(fill(places, user(member), next), 16U);
  EXPECT_EQ(fill(places, user(member + 1), next), 16U);
  EXPECT_EQ(fill(places, user(member + 2), next), 16U);
  EXPECT_EQ(fill(places, user(member + 3), next), 0U);
  EXPECT_EQ(fill(places, owner(), next, 10), 10U);
  EXPECT_EQ(fill(places, root(), next), 6U);
  EXPECT_EQ(places.admit(next, root()).refusal, "64 clients are connected already");
}

TEST(Places, AnOwnerMayHaveThemAll) {
  Places places;
  Places::Client next = 1;
  EXPECT_EQ(fill(places, owner(), next), 64U);
  EXPECT_NE(places.admit(next, user(member)).refusal, "");
}

TEST(Places, TheRefusalSaysWhoseClientsThereAre) {
  Places places;
  Places::Client next = 1;
  fill(places, user(member), next);
  EXPECT_EQ(places.admit(next, user(member)).refusal,
            "16 clients of user 1001 are connected already");
}

TEST(Places, TheOldestThatHasNotAskedMakesRoomForAClientOfTheSameUser) {
  Places places;
  for (Places::Client client = 1; client <= 16; ++client) places.admit(client, user(member));
  places.asked(1);
  const auto verdict = places.admit(17, user(member));
  EXPECT_EQ(verdict.refusal, "");
  EXPECT_EQ(verdict.displaced, Places::Client{2});
}

TEST(Places, OneUsersIdleClientsMakeNoRoomForAnotherButForAnOwner) {
  Places places;
  Places::Client next = 1;
  for (int number = member; number < member + 3; ++number) {
    for (int i = 0; i < 16; ++i) places.admit(next++, user(number));
  }
  EXPECT_NE(places.admit(next++, user(member + 3)).refusal, "");
  EXPECT_EQ(fill(places, owner(), next, 16), 16U);
  const auto verdict = places.admit(next, root());
  EXPECT_EQ(verdict.refusal, "");
  EXPECT_EQ(verdict.displaced, Places::Client{1});
}

TEST(Places, AShareMayBeLarger) {
  Places places;
  Places::Client next = 1;
  EXPECT_EQ(fill(places, {"this machine", false, 40}, next), 40U);
  EXPECT_EQ(fill(places, user(member), next), 8U) << "all others together have 48";
}

TEST(Places, WhoRestsBetweenTwoRequestsMakesRoom) {
  Places places;
  Places::Client next = 1;
  fill(places, user(member), next);
  EXPECT_NE(places.admit(100, user(member)).refusal, "");
  places.rests(7);
  const auto verdict = places.admit(101, user(member));
  EXPECT_EQ(verdict.refusal, "");
  EXPECT_EQ(verdict.displaced, Places::Client{7});
}

TEST(Places, WhoLeavesMakesRoom) {
  Places places;
  Places::Client next = 1;
  fill(places, user(member), next);
  places.left(5);
  places.left(5);
  EXPECT_EQ(fill(places, user(member), next), 1U);
}

}  // namespace
}  // namespace trainward::api
