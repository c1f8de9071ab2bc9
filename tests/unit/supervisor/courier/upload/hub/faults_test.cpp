// Whatever goes wrong at whichever request: the checkpoint ends up there once, with its own bytes,
// and the token is seen nowhere.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cctype>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>
#include <tuple>

#include "fixture.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace trainward::upload::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using trainward::test::FakeHub;
using trainward::test::HttpRequest;
using trainward::test::HttpStep;

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
      {"no JSON",
       {},
       [](HttpStep& step) {
         if (step.body.starts_with("{") || step.body.starts_with("[")) step.body = "<html>";
       }},
  };
}

// A fault, and whether the history is squashed.
class Faults : public HubFixture,
               public ::testing::WithParamInterface<std::tuple<std::size_t, bool>> {};

TEST_P(Faults, AtEachRequestOnce) {
  const Fault fault = all_faults().at(std::get<0>(GetParam()));
  const bool squashes = std::get<1>(GetParam());
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
    if (squashes) place.history = "squash";
    Package checkpoint = package("step-00000300", 300, 1);
    checkpoint.milestone = "m300";
    Result<Published> done = fail(ErrorKind::transient, "not begun");
    for (int tries = 0; !done && tries < 8; ++tries) {
      done =
          target_at(one.endpoint(), token_file, memory, place, {{0}, 0})->publish(checkpoint, {});
      if (!done) words += done.error().message() + "\n";
    }
    SCOPED_TRACE(about + "\n" + words);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(one.history("me/run").size(), squashes ? 1U : 2U);
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

std::string name_of(const ::testing::TestParamInfo<std::tuple<std::size_t, bool>>& info) {
  std::string name = all_faults().at(std::get<0>(info.param)).name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name + (std::get<1>(info.param) ? "_squash" : "_keep");
}

INSTANTIATE_TEST_SUITE_P(All, Faults,
                         ::testing::Combine(::testing::Range<std::size_t>(0, all_faults().size()),
                                            ::testing::Bool()),
                         name_of);

// Whether the request was carried out before the process was killed.
class Killed : public HubFixture, public ::testing::WithParamInterface<bool> {
 protected:
  // The program that publishes once; its exit status, or nothing when it was killed.
  std::optional<int> publish_once(FakeHub& one, const std::string& name) {
    std::vector<std::string> words = {
        PUBLISH_ONCE,           one.endpoint(),
        token_file.string(),    (folder.path() / "memory.json").string(),
        folder.path().string(), name};
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

TEST_P(Killed, AtEachRequest) {
  const bool is_done = GetParam();
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
      EXPECT_EQ(one.read("me/run", "m300", "checkpoints/step-00000300/" + file.name), file.bytes);
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

INSTANTIATE_TEST_SUITE_P(All, Killed, ::testing::Bool(), [](const auto& info) {
  return info.param ? "AfterItIsDone" : "BeforeItIsDone";
});

}  // namespace
}  // namespace trainward::upload::test
