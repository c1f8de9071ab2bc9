// How long a server asks to wait, commits in doubt, addresses that expire; and what check() says.
#include <optional>
#include <stop_token>
#include <utility>

#include "fixture.hpp"

namespace trainward::upload::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using trainward::test::HttpRequest;
using trainward::test::HttpStep;

class Waits : public HubFixture {
 protected:
  // The first request to an address with `part` in it is answered so.
  void answer_once(std::string part, HttpStep step) {
    hub.before = [this, part = std::move(part), step = std::move(step)](
                     std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
      if (answered || request.target.find(part) == std::string::npos) return std::nullopt;
      answered = true;
      return step;
    };
  }
  bool answered = false;
};

TEST_F(Waits, TheQuotaOfCommitsIsWaitedForAnHour) {
  for (const int code : {429, 500}) {
    answered = false;
    answer_once("/commit/",
                {.status = code,
                 .headers = {{"RateLimit", "\"api\";r=949;t=55"}, {"Retry-After", "3"}},
                 .body = R"({"error":"You have exceeded the rate limit for repository commits )"
                         R"((128 per hour). You can retry this action in about 1 hour."})"});
    const auto at = target();
    const auto refused = at->publish(package("step-1", 1, 1), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::transient);
    EXPECT_THAT(refused.error().message(), HasSubstr("commits an hour"));
    EXPECT_EQ(at->wait_ms(), 61 * 60 * 1000);
    // Until then nothing is sent, a newer one neither.
    const std::size_t before = hub.count();
    const auto other = target();
    EXPECT_FALSE(other->publish(package("step-2", 2, 2), {}));
    EXPECT_GT(other->wait_ms().value_or(0), 60 * 60 * 1000);
    const auto requests = hub.requests();
    for (std::size_t i = before; i < requests.size(); ++i) EXPECT_EQ(requests[i].method, "GET");
    ASSERT_TRUE(memory.forget("hub/quota-until"));
  }
  // Nothing is in doubt: the newer one goes at once, when its time has come.
  EXPECT_TRUE(target({}, {{}, 60'000})->publish(package("step-2", 2, 2), {}));
  EXPECT_EQ(commits(), 1U);
}

TEST_F(Waits, AsLongAsTheServerAsks) {
  answer_once("/preupload/", {.status = 429, .headers = {{"RateLimit", "\"api\";r=0;t=55"}}});
  const auto at = target();
  EXPECT_FALSE(at->publish(package("step-1", 1, 1), {}));
  EXPECT_EQ(at->wait_ms(), 56'000);
  EXPECT_TRUE(at->publish(package("step-1", 1, 1), {}));
  EXPECT_EQ(at->wait_ms(), std::nullopt);
}

TEST_F(Waits, ACommitInDoubtIsGivenItsMinute) {
  answer_once("/commit/", {.status = 504});
  const hub::Times times{{}, 65'000};
  const auto at = target({}, times);
  const auto doubt = at->publish(package("step-1", 1, 1), {});
  ASSERT_FALSE(doubt);
  EXPECT_EQ(doubt.error().kind, ErrorKind::transient);
  EXPECT_GT(at->wait_ms().value_or(0), 60'000);
  // Another process knows of it, and asks for the rest of that time.
  const std::size_t before = hub.count();
  const auto other = target({}, times);
  EXPECT_FALSE(other->publish(package("step-1", 1, 1), {}));
  EXPECT_GT(other->wait_ms().value_or(0), 30'000);
  const auto requests = hub.requests();
  for (std::size_t i = before; i < requests.size(); ++i) EXPECT_EQ(requests[i].method, "GET");
  // That time is over: nothing had come, so it is committed.
  EXPECT_TRUE(target()->publish(package("step-1", 1, 1), {}));
  EXPECT_EQ(commits(), 1U);
}

TEST_F(Waits, SomebodyElsesCommitInBetween) {
  ASSERT_TRUE(target()->publish(package("step-1", 1, 1), {}));
  int races = 0;
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.target.find("/commit/") != std::string::npos && races < 3) {
      hub.commit("me/run", "notes.txt", std::to_string(++races));
    }
    return std::nullopt;
  };
  ASSERT_TRUE(target()->publish(package("step-2", 2, 2), {}));
  EXPECT_EQ(commits(), 2U + 3U);
  EXPECT_EQ(hub.read("me/run", "main", "notes.txt"), "3");
  expect_there("step-2", 2);
}

TEST_F(Waits, AnExpiredAddressIsAskedForAgain) {
  hub.rules.chunk = 4'000;
  int puts = 0;
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.method == "PUT" && ++puts == 3) hub.expire_addresses();
    return std::nullopt;
  };
  ASSERT_TRUE(target()->publish(package("step-1", 1, 1), {}));
  expect_there("step-1", 1);
}

TEST_F(Waits, AddressesThatAreAlwaysRefusedEnd) {
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.method != "PUT") return std::nullopt;
    return HttpStep{.status = 403};
  };
  const auto refused = target()->publish(package("step-1", 1, 1), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  EXPECT_THAT(refused.error().message(), HasSubstr("clock"));
  EXPECT_LT(hub.count(), 30U);
}

TEST_F(Waits, PartsThatArrivedAreNotSentAgainByAnotherProcess) {
  hub.rules.chunk = 4'000;
  const Package checkpoint = package_of(folder, "step-1", 1, {{"model.pt", noise(19'000, 1)}});
  int puts = 0;
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.method == "PUT" && ++puts >= 4) return HttpStep{.drop = true};
    return std::nullopt;
  };
  EXPECT_FALSE(target()->publish(checkpoint, {}));
  EXPECT_EQ(hub.bytes_stored, 12'000U);
  EXPECT_THAT(memory.text(), Not(HasSubstr("http")));
  hub.before = {};
  std::int64_t first = -1;
  const auto done = target()->publish(checkpoint, [&](std::int64_t bytes) {
    if (first < 0) first = bytes;
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(done->sent_bytes, 7'000);
  EXPECT_EQ(hub.bytes_stored, 19'000U);
  EXPECT_EQ(hub.read("me/run", "main", "checkpoints/step-1/model.pt"), noise(19'000, 1));
}

TEST_F(Waits, AFileThatWasChangedIsNotSent) {
  const Package checkpoint = package_of(folder, "step-1", 1, {{"model.pt", noise(500, 1)}});
  folder.write("step-1/model.pt", noise(500, 2));
  const auto refused = target()->publish(checkpoint, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(commits(), 0U);
}

TEST_F(Waits, WhoeverIsToldTheTokenGoesToTheHubAlone) {
  hub.rules.confirms_elsewhere = true;
  ASSERT_TRUE(target()->publish(package("step-1", 1, 1), {}));
  expect_there("step-1", 1);
}

TEST_F(Waits, AMilestoneWithoutItsTagGetsItBeforeItLeaves) {
  answer_once("/tag/", {.status = 403});
  Package milestone = package("step-1", 1, 1);
  milestone.milestone = "one";
  EXPECT_FALSE(target()->publish(milestone, {}));
  ASSERT_TRUE(target()->publish(package("step-2", 2, 2), {}));
  expect_there("step-1", 1, "one");
  EXPECT_FALSE(hub.read("me/run", "main", "checkpoints/step-1.json"));
  // Its next try finds it.
  ASSERT_TRUE(target()->publish(milestone, {}));
  EXPECT_EQ(commits(), 2U);
}

TEST_F(Waits, AStopEndsItSoon) {
  std::stop_source stop;
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.method != "PUT") return std::nullopt;
    stop.request_stop();
    return HttpStep{.status = 500};
  };
  TargetOptions options;
  options.stop = stop.get_token();
  const auto at = target_at(hub.endpoint(), token_file, memory, {}, {{3'600'000}, 0}, options);
  EXPECT_EQ(at->publish(package("step-1", 1, 1), {}).error().kind, ErrorKind::transient);
}

class Check : public HubFixture {};

TEST_F(Check, MakesTheRepositoryAndAsksWhoItIsOnce) {
  const auto at = target();
  EXPECT_TRUE(at->check());
  EXPECT_TRUE(at->check());
  EXPECT_EQ(hub.repositories.count("me/run"), 1U);
  int asked = 0;
  const auto requests = hub.requests();
  for (const auto& request : requests) asked += request.target == "/api/whoami-v2" ? 1 : 0;
  EXPECT_EQ(asked, 1);
}

TEST_F(Check, SaysWhatIsWrongWithAToken) {
  hub.rules.access = json::object{{"role", "read"}};
  EXPECT_THAT(target()->check().error().message(), HasSubstr("may read but not write"));
  hub.rules.access = json::object{
      {"role", "fineGrained"},
      {"fineGrained",
       json::object{{"scoped", json::array{json::object{
                                   {"permissions", json::array{"repo.content.read"}}}}}}}};
  EXPECT_THAT(target()->check().error().message(), HasSubstr("may read but not write"));
  hub.rules.access.as_object()["fineGrained"].as_object()["scoped"].as_array().push_back(
      json::object{{"permissions", json::array{"repo.write"}}});
  EXPECT_TRUE(target()->check());
  write_token("hf_Another0123456789");
  const auto refused = target()->check();
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_THAT(refused.error().message(), HasSubstr("expired or was revoked"));
  EXPECT_THAT(refused.error().message(), Not(HasSubstr("hf_Another")));
  write_token("hf_A\nB: c");
  EXPECT_THAT(target()->check().error().message(), HasSubstr("holds no token"));
  std::filesystem::permissions(token_file, std::filesystem::perms(0644));
  EXPECT_THAT(target()->check().error().message(), HasSubstr("chmod 600"));
}

TEST_F(Check, AServerThatIsTiredOfBeingAskedWhoItIsHoldsNothingUp) {
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.target != "/api/whoami-v2") return std::nullopt;
    return HttpStep{.status = 429, .headers = {{"Retry-After", "300"}}};
  };
  const auto at = target();
  const auto checked = at->check();
  EXPECT_TRUE(checked) << checked.error().message();
  EXPECT_EQ(at->wait_ms(), std::nullopt);
  EXPECT_TRUE(at->publish(package("step-1", 1, 1), {}));
}

TEST_F(Check, ATokenThatWasReplacedCountsAtOnce) {
  const auto at = target();
  write_token("hf_Old0123456789");
  EXPECT_FALSE(at->check());
  write_token(hub.rules.token);
  EXPECT_TRUE(at->check());
}

TEST_F(Check, ARepositoryThatIsBeingMadeIsWaitedFor) {
  int creates = 0;
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.target != "/api/repos/create" || ++creates > 2) return std::nullopt;
    return HttpStep{.status = 409,
                    .body = R"({"error":"Cannot create repo: another conflicting operation is )"
                            R"(in progress"})"};
  };
  EXPECT_TRUE(target()->check());
  EXPECT_EQ(creates, 3);
}

TEST_F(Check, ATokenThatMayNotMakeTheRepositoryIsToldSo) {
  hub.before = [&](std::size_t, const HttpRequest& request) -> std::optional<HttpStep> {
    if (request.target != "/api/repos/create") return std::nullopt;
    return HttpStep{.status = 403, .body = R"({"error":"You don't have the rights"})"};
  };
  const auto refused = target()->check();
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_THAT(refused.error().message(), HasSubstr("/new"));
  EXPECT_THAT(refused.error().message(), HasSubstr("You don't have the rights"));
}

TEST_F(Check, NothingIsAskedOfWhatIsNoRepositoryOrNoHub) {
  orders::HubPlace place;
  place.repo = "me/../you";
  EXPECT_EQ(target(place)->check().error().kind, ErrorKind::usage);
  const auto at = target_at("ftp://hub", token_file, memory);
  EXPECT_EQ(at->check().error().kind, ErrorKind::usage);
  EXPECT_EQ(hub.count(), 1U);
}

}  // namespace
}  // namespace trainward::upload::test
