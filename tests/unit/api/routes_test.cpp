#include "supervisor/api/routes.hpp"

#include <gtest/gtest.h>

#include "common/utf8.hpp"
#include "fake_control.hpp"

namespace trainward::api {
namespace {

Response ask(FakeControl& control, const std::string& method, const std::string& path,
             std::map<std::string, std::string> query = {}) {
  Response got;
  make_routes(control)({method, path, std::move(query)}, [&](Response r) { got = std::move(r); });
  return got;
}

TEST(Routes, EachPathAsksForOneThing) {
  FakeControl control;
  ask(control, "GET", "/v1/programs");
  ask(control, "POST", "/v1/programs/a/start");
  ask(control, "POST", "/v1/programs/a/restart");
  ask(control, "POST", "/v1/programs/stop");
  ask(control, "GET", "/v1/programs/a/why", {{"attempt", "3"}});
  ask(control, "GET", "/v1/programs/a/why", {{"attempt", "x"}});
  ask(control, "GET", "/v1/programs/a/log", {{"stream", "stderr"}, {"offset", "-1600"}});
  ask(control, "GET", "/v1/programs/a/evaluations");
  ask(control, "GET", "/v1/programs/a/compiled");
  ask(control, "GET", "/v1/probe");
  ask(control, "POST", "/v1/probe");
  ask(control, "POST", "/v1/probe", {{"deep", "1"}, {"record", "0"}});
  ask(control, "POST", "/v1/upgrade");
  ask(control, "POST", "/v1/shutdown");
  EXPECT_EQ(control.asked,
            (std::vector<std::string>{"status", "command a 0", "command a 2", "command all 1",
                                      "why a 3", "why a -1", "log a stderr -1600 1048576",
                                      "evaluations a", "compiled a", "last_probe", "probe",
                                      "probe deep unrecorded", "upgrade", "shutdown"}));
}

TEST(Routes, BoardsAndTheirSamples) {
  FakeControl control;
  ask(control, "GET", "/v1/boards");
  ask(control, "GET", "/v1/boards/01/samples");
  ask(control, "GET", "/v1/boards/01/samples", {{"after", "17"}, {"limit", "99999999"}});
  ask(control, "GET", "/v1/boards/01/samples", {{"after", "x"}, {"limit", "-4"}});
  EXPECT_EQ(control.asked, (std::vector<std::string>{"boards", "samples 01 -1 360",
                                                     "samples 01 17 10000", "samples 01 -1 1"}));
  EXPECT_EQ(ask(control, "GET", "/v1/boards/nope/samples").status, 404);
  EXPECT_EQ(ask(control, "GET", "/v1/boards/01/nothing").status, 404);
  EXPECT_EQ(ask(control, "GET", "/v1/boards/01").status, 404);
  EXPECT_EQ(ask(control, "POST", "/v1/boards/01/samples").status, 404);
}

TEST(Routes, WhatDoesNotExistIs404AndChangesNothing) {
  FakeControl control;
  for (const char* path : {"/", "", "/v2/programs", "/v1", "/v1/programs/a/b/c", "/v1/shutdown",
                           "/v1/programs/start", "/v1/programs/a/start", "/v1/programs//"}) {
    EXPECT_EQ(ask(control, "GET", path).status, 404) << path;
  }
  for (const char* path : {"/v1/programs/a/erase", "/v1/programs/erase", "/v1/start"}) {
    EXPECT_EQ(ask(control, "POST", path).status, 404) << path;
  }
  EXPECT_EQ(ask(control, "DELETE", "/v1/programs").status, 405);
  EXPECT_TRUE(control.asked.empty());
}

TEST(Routes, AnErrorCarriesItsParts) {
  FakeControl control;
  const Response response = ask(control, "POST", "/v1/programs/nope/start");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(parse_json(response.body, "").value().at("error").at("hint").as_string(), "hint");
}

TEST(Routes, AnErrorIsUtf8WhateverBytesItNames) {
  const Response response =
      error_response(500, {ErrorKind::corrupt, "a\xff\xfe\xc3", "\xed\xa0\x80", "caf\xc3\xa9"});
  ASSERT_TRUE(is_utf8(response.body));
  const json::value error = parse_json(response.body, "").value().at("error");
  EXPECT_EQ(error.at("what").as_string(), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(error.at("hint").as_string(), "caf\u00e9");
}

TEST(Routes, ACommandKnowsWhetherItsAskerStillWaits) {
  FakeControl control;
  bool there = true;
  make_routes(control)({"POST", "/v1/programs/slow/stop", {}},
                       Respond([](const Response&) {}, [&there] { return there; }));
  ASSERT_EQ(control.waiting.size(), 1U);
  EXPECT_TRUE(control.waiting.front().wanted());
  there = false;
  EXPECT_FALSE(control.waiting.front().wanted());
}

TEST(Routes, ALogCarriesItsSizeAndAttempt) {
  FakeControl control;
  const Response response = ask(control, "GET", "/v1/programs/a/log", {{"limit", "99999999"}});
  EXPECT_EQ(response.body, "tail\n");
  EXPECT_EQ(response.headers.at("X-Log-Size"), "500");
  EXPECT_EQ(response.headers.at("X-Log-Attempt"), "3");
}

}  // namespace
}  // namespace trainward::api
