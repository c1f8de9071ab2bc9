// Whatever goes wrong at whichever request: the checkpoint ends up there once, with its own bytes,
// and the token is seen nowhere.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <stop_token>
#include <thread>

#include "fixture.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace trainward::upload::test {
namespace {

using trainward::test::FakeHub;
using trainward::test::HttpRequest;
using trainward::test::HttpStep;
using ::testing::HasSubstr;
using ::testing::Not;

struct Fault {
  std::string name;
  // What takes the place of the answer; nothing: the request is carried out.
  std::function<std::optional<HttpStep>(const HttpRequest&)> instead = {};
  // What becomes of the answer.
  std::function<void(HttpStep&)> then = {};
};

std::string said(const HttpRequest& request) {
  // As a careless server would: all that it knows is in its answer.
  return "no: " + std::string(request.header("authorization")) + " " + request.target;
}

Fault status(int code, std::vector<std::pair<std::string, std::string>> headers = {}) {
  std::string name = std::to_string(code);
  for (const auto& [key, value] : headers) name += " " + key;
  return {name, [code, headers](const HttpRequest& request) {
            HttpStep step{.status = code, .headers = headers, .body = said(request)};
            step.headers.emplace_back("X-Error-Message", said(request));
            return std::optional(step);
          }};
}

std::vector<Fault> all_faults() {
  return {
      status(401),
      status(403),
      status(412),
      status(429),
      status(429, {{"Retry-After", "7"}}),
      status(429, {{"RateLimit", "\"api\";r=0;t=55"}}),
      status(500),
      status(503, {{"Retry-After", "30"}}),
      status(504),
      status(302, {{"Location", "http://localhost:1/elsewhere"}}),
      {"cut before it is done", [](const HttpRequest&) { return HttpStep{.drop = true}; }},
      {"the answer is lost", {}, [](HttpStep& step) { step = {.drop = true}; }},
      {"the answer is cut",
       {},
       [](HttpStep& step) {
         if (step.body.size() > 5) step.cut_after = 5;
       }},
      {"done, but answered with 500", {}, [](HttpStep& step) { step = {.status = 500}; }},
      {"done, but answered with 504", {}, [](HttpStep& step) { step = {.status = 504}; }},
      {"no JSON", {}, [](HttpStep& step) {
         if (step.body.starts_with("{") || step.body.starts_with("[")) step.body = "<html>";
       }},
  };
}

class Faults : public HubFixture, public ::testing::WithParamInterface<bool> {};

TEST_P(Faults, AtEachRequestOnceAndAllBytesRight) {
  for (const Fault& fault : all_faults()) {
    bool reached = true;
    for (std::size_t at = 0; reached && at < 100; ++at) {
      SCOPED_TRACE(fault.name + " at request " + std::to_string(at));
      FakeHub::Rules rules;
      rules.chunk = 5'000;
      FakeHub one(rules);
      one.rules.public_endpoint = "https://huggingface.co";
      reached = false;
      std::string about;
      one.before = [&](std::size_t number, const HttpRequest& request) -> std::optional<HttpStep> {
        if (number != at) return std::nullopt;
        reached = true;
        about = request.method + " " + request.target;
        return fault.instead ? fault.instead(request) : std::nullopt;
      };
      one.after = [&](std::size_t number, const HttpRequest&, HttpStep& step) {
        if (number == at && fault.then) fault.then(step);
      };
      std::filesystem::remove(folder.path() / "memory.json");
      std::string words;
      orders::HubPlace place;
      if (GetParam()) place.history = "squash";
      Package checkpoint = package("step-00000300", 300, 1);
      checkpoint.milestone = "m300";
      Result<Published> done = fail(ErrorKind::transient, "not begun");
      for (int tries = 0; !done && tries < 8; ++tries) {
        done = target_at(one.endpoint(), token_file, memory, place, {{0}, 0})
                   ->publish(checkpoint, {});
        if (!done) words += done.error().message() + "\n";
      }
      SCOPED_TRACE(about + "\n" + words);
      ASSERT_TRUE(done) << done.error().message();
      EXPECT_EQ(one.history("me/run").size(), GetParam() ? 1U : 2U);
      for (const Content& file : checkpoint_files(1)) {
        const std::string path = "checkpoints/step-00000300/" + file.name;
        EXPECT_EQ(one.read("me/run", "main", path), file.bytes) << path;
        EXPECT_EQ(one.read("me/run", "m300", path), file.bytes) << path;
      }
      EXPECT_THAT(one.violations(), ::testing::IsEmpty());
      for (const std::string& text : {words, memory.text(), done->place}) {
        EXPECT_THAT(text, Not(HasSubstr(one.rules.token)));
        EXPECT_THAT(text, Not(HasSubstr("SignatureOf")));
      }
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(History, Faults, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "squash" : "keep"; });

// ---- SIGKILL ----

class Killed : public HubFixture {
 protected:
  // The program that publishes once; its exit status, or nothing when it was killed.
  std::optional<int> publish_once(FakeHub& one, const std::string& name) {
    std::vector<std::string> words = {PUBLISH_ONCE,
                                      one.endpoint(),
                                      token_file.string(),
                                      (folder.path() / "memory.json").string(),
                                      folder.path().string(),
                                      name};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    const std::string output = (folder.path() / "output").string();
    for (const int fd : {1, 2}) {
      ::posix_spawn_file_actions_addopen(&actions, fd, output.c_str(),
                                         O_WRONLY | O_CREAT | O_APPEND, 0600);
    }
    pid_t pid = 0;
    EXPECT_EQ(::posix_spawn(&pid, words[0].c_str(), &actions, nullptr, arguments.data(), environ),
              0);
    ::posix_spawn_file_actions_destroy(&actions);
    child = pid;
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) return std::nullopt;
    return WEXITSTATUS(status);
  }
  std::atomic<pid_t> child = 0;
};

TEST_F(Killed, AtEachRequestBeforeAndAfterItIsDone) {
  for (const bool is_done : {false, true}) {
    bool reached = true;
    for (std::size_t at = 0; reached && at < 100; ++at) {
      SCOPED_TRACE("request " + std::to_string(at) + (is_done ? ", done" : ""));
      FakeHub::Rules rules;
      rules.chunk = 5'000;
      FakeHub one(rules);
      std::filesystem::remove(folder.path() / "memory.json");
      reached = false;
      const auto kill_at = [&](std::size_t number) {
        if (number != at) return false;
        reached = true;
        // The child is known once posix_spawn() has returned, which may be after its first request.
        while (child == 0) std::this_thread::yield();
        ::kill(child, SIGKILL);
        return true;
      };
      one.before = [&](std::size_t number, const HttpRequest&) -> std::optional<HttpStep> {
        if (!is_done && kill_at(number)) return HttpStep{.drop = true};
        return std::nullopt;
      };
      one.after = [&](std::size_t number, const HttpRequest&, HttpStep& step) {
        if (is_done && kill_at(number)) step = {.drop = true};
      };
      std::optional<int> ended;
      for (int tries = 0; tries < 4 && ended != 0; ++tries) {
        child = 0;
        ended = publish_once(one, "step-00000300");
      }
      ASSERT_EQ(ended, 0);
      EXPECT_EQ(one.history("me/run").size(), 2U);
      for (const Content& file : checkpoint_files(1)) {
        EXPECT_EQ(one.read("me/run", "m300", "checkpoints/step-00000300/" + file.name),
                  file.bytes);
      }
      // What arrived was not sent again, but for the part that was under way.
      EXPECT_LE(one.bytes_stored, 5'000U + 12'345U + 5'000U);
      EXPECT_THAT(one.violations(), ::testing::IsEmpty());
      std::ifstream in(folder.path() / "output");
      const std::string output{std::istreambuf_iterator<char>(in), {}};
      EXPECT_THAT(output + memory.text(), Not(HasSubstr(one.rules.token)));
      if (HasFailure()) return;
    }
  }
}

// ---- each on its own ----

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

// ---- check() ----

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
