// What lies in a Hub: told, checked, brought back.
#include <fstream>

#include "fetch_into.hpp"
#include "fixture.hpp"

namespace trainward::upload::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Reading : public HubFixture {
 protected:
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(Reading, ListsTheBranchAndTheTags) {
  const auto at = target();
  EXPECT_TRUE(at->list("trainer")->empty());
  for (int step = 1; step < 5; ++step) {
    Package one = package("step-" + std::to_string(step), step, static_cast<unsigned>(step));
    if (step == 2) one.milestone = "two";
    ASSERT_TRUE(at->publish(one, {}));
  }
  const auto listed = at->list("trainer");
  ASSERT_TRUE(listed) << listed.error().message();
  std::vector<std::string> names;
  for (const Remote& remote : *listed) names.push_back(remote.name);
  EXPECT_THAT(names, ElementsAre("step-4", "step-2"));
  EXPECT_EQ(listed->front().origin, "{checkpoint_dir}/step-4");
  for (const Remote& remote : *listed) {
    EXPECT_TRUE(at->verify("trainer", remote));
    const auto into = folder.path() / ("back-" + remote.name);
    std::int64_t told = 0;
    ASSERT_TRUE(at->fetch("trainer", remote, trainward::test::fetch_into(into),
                          [&](std::int64_t bytes) { told = bytes; }));
    for (const Content& file : checkpoint_files(static_cast<unsigned>(remote.step))) {
      EXPECT_EQ(read(into / file.name), file.bytes) << file.name;
    }
    EXPECT_GE(told, 17'345);
  }
}

// Nobody may begin anew because a token does not see what is there.
TEST_F(Reading, ARepositoryThatIsHiddenFromTheTokenIsNotEmpty) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  hub.before =
      [&](std::size_t,
          const trainward::test::HttpRequest& request) -> std::optional<trainward::test::HttpStep> {
    if (!request.path().starts_with("/api/models/")) return std::nullopt;
    return trainward::test::HttpStep{.status = 404, .headers = {{"X-Error-Code", "RepoNotFound"}}};
  };
  const auto hidden = at->list("trainer");
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().kind, ErrorKind::permanent);
  EXPECT_THAT(hidden.error().message(), HasSubstr("may not see it"));
}

TEST_F(Reading, ARecordThatCannotBeReadIsNotNothing) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  hub.commit("me/run", "checkpoints/step-1.json", "{}");
  const auto damaged = at->list("trainer");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind, ErrorKind::corrupt);
  ASSERT_TRUE(at->publish(package("step-2", 2, 2), {}));
  EXPECT_EQ(at->list("trainer")->size(), 1U) << "it hides no other";
}

// Steps are not written with zeros before them.
TEST_F(Reading, OfTooManyTagsTheLatestSteps) {
  const auto at = target();
  Package one = package("step-1000", 1'000, 1);
  one.milestone = "step-1000";
  ASSERT_TRUE(at->publish(one, {}));
  ASSERT_TRUE(at->publish(package("step-1001", 1'001, 2), {}));
  auto& tags = hub.repositories.at("me/run").tags;
  for (int step = 1; step <= 250; ++step) {
    tags["step-" + std::to_string(step)] = hub.repositories.at("me/run").branches.at("main");
  }
  const auto listed = at->list("trainer");
  ASSERT_TRUE(listed) << listed.error().message();
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ(listed->back().name, "step-1000");
}

TEST_F(Reading, RecordsWithoutEndAreNotRead) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  for (int i = 0; i < 101; ++i) {
    hub.commit("me/run", "checkpoints/other-" + std::to_string(i) + ".json", "{}");
  }
  const std::size_t before = hub.count();
  const auto many = at->list("trainer");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().kind, ErrorKind::permanent);
  EXPECT_LT(hub.count() - before, 50U) << "the pages of the tree alone";
}

TEST_F(Reading, WhatIsNotThereAnyMoreIsSaid) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  const Remote old = at->list("trainer")->front();
  ASSERT_TRUE(at->publish(package("step-2", 2, 2), {}));
  const auto gone = at->verify("trainer", old);
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().message(), HasSubstr("no longer contains 'step-1'"));
}

TEST_F(Reading, BytesThatAreNotTheSameAreFound) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  const Remote remote = at->list("trainer")->front();
  const auto path = std::string("checkpoints/step-1/");
  hub.commit("me/run", path + "state.json", "[]\n");
  EXPECT_EQ(at->verify("trainer", remote).error().kind, ErrorKind::corrupt);
  hub.commit("me/run", path + "state.json", "{}\n");
  EXPECT_TRUE(at->verify("trainer", remote));
  for (auto& [oid, bytes] : hub.objects) bytes.back() ^= 1;
  const auto fetched =
      at->fetch("trainer", remote, trainward::test::fetch_into(folder.path() / "back"), {});
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().kind, ErrorKind::corrupt);
}

TEST_F(Reading, AFetchThatIsCutGoesOn) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package_of(folder, "step-1", 1, {{"model.pt", noise(900'000, 1)}}), {}));
  const Remote remote = at->list("trainer")->front();
  int cuts = 0;
  std::size_t sent = 0;
  hub.after = [&](std::size_t, const trainward::test::HttpRequest& request,
                  trainward::test::HttpStep& step) {
    if (!request.path().starts_with("/store/get/")) return;
    sent += std::min<std::size_t>(step.body.size(), cuts < 2 ? 300'000 : step.body.size());
    if (cuts++ < 2) step.cut_after = 300'000;
  };
  const auto fetched =
      at->fetch("trainer", remote, trainward::test::fetch_into(folder.path() / "back"), {});
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(read(folder.path() / "back" / "model.pt"), noise(900'000, 1));
  EXPECT_EQ(cuts, 3);
  EXPECT_LE(sent, 900'000U + 2 * 300'000U);
}

// Whatever lies before it can be gone on from.
TEST_F(Reading, OneThatIsShorterThanItWasIsDamaged) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package_of(folder, "step-1", 1, {{"model.pt", noise(90'000, 1)}}), {}));
  const Remote remote = at->list("trainer")->front();
  for (auto& [oid, bytes] : hub.objects) bytes.resize(bytes.size() / 2);
  const auto fetched =
      at->fetch("trainer", remote, trainward::test::fetch_into(folder.path() / "back"), {});
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(fetched.error().message(), HasSubstr("45000 bytes instead of 90000"));
}

TEST_F(Reading, ARecordIsReadAtNoOtherServer) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package("step-1", 1, 1), {}));
  trainward::test::HttpScript stranger(
      [](const trainward::test::HttpRequest&) { return trainward::test::HttpStep{.body = "{}"}; });
  hub.before =
      [&](std::size_t,
          const trainward::test::HttpRequest& request) -> std::optional<trainward::test::HttpStep> {
    if (request.path().find("/resolve/") == std::string_view::npos) return std::nullopt;
    return trainward::test::HttpStep{.status = 302, .headers = {{"Location", stranger.url("/x")}}};
  };
  EXPECT_FALSE(at->list("trainer"));
  EXPECT_TRUE(stranger.requests().empty());
}

TEST_F(Reading, AServerWithoutRangesIsReadFromTheBeginning) {
  const auto at = target();
  ASSERT_TRUE(at->publish(package_of(folder, "step-1", 1, {{"model.pt", noise(90'000, 1)}}), {}));
  const Remote remote = at->list("trainer")->front();
  int cuts = 0;
  hub.after = [&](std::size_t, const trainward::test::HttpRequest& request,
                  trainward::test::HttpStep& step) {
    if (!request.path().starts_with("/store/get/")) return;
    step = {.body = noise(90'000, 1)};
    if (cuts++ == 0) step.cut_after = 30'000;
  };
  const auto fetched =
      at->fetch("trainer", remote, trainward::test::fetch_into(folder.path() / "back"), {});
  ASSERT_TRUE(fetched) << fetched.error().message();
  EXPECT_EQ(read(folder.path() / "back" / "model.pt"), noise(90'000, 1));
}

}  // namespace
}  // namespace trainward::upload::test
