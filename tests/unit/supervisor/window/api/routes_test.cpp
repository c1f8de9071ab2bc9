#include "supervisor/window/api/routes/routes.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "common/base/utf8.hpp"
#include "routes_fixture.hpp"

namespace trainward::api {
namespace {

// A program with two attempts, two checkpoints and what else is kept of one.
class RoutesOfAProgram : public Routes {
 protected:
  RoutesOfAProgram() {
    EXPECT_TRUE(store_.put_program({"a", "EXITED", "done", "", "", 1000, 0}));
    EXPECT_TRUE(store_.put_program({"sick", "RUNNING", "", "", "", 1000, 0}));
    for (const std::int64_t number : {1, 2}) {
      store::AttemptRow row;
      row.program = "a";
      row.number = number;
      row.started_ms = 1000 * number;
      row.ended_ms = 1000 * number + 500;
      row.cause = number == 1 ? "hang" : "done";
      EXPECT_TRUE(store_.put_attempt(row));
      EXPECT_TRUE(store_.add_event({0, 1000 * number, "a", number, "launch", "launched"}));
      EXPECT_TRUE(store_.put_checkpoint(
          "a", {"/c/" + std::to_string(number), number, number, 10, "verified", "", 1000}));
      EXPECT_TRUE(store_.add_evaluation("a", {number, number, 2.5, 1000}));
    }
    EXPECT_TRUE(store_.add_sample("a", {2, 2, "p", "said", {}, "", false, 1000}));
    EXPECT_TRUE(store_.add_compiled("a", {1, "block_forward", "k", false, 7, "", 1000}));
    EXPECT_TRUE(store_.put_board("01", "n300", "0000:01:00.0", "OK", "", 1000));
    for (std::int64_t at : {1000, 2000, 3000}) {
      store::BoardSampleRow sample;
      sample.serial = "01";
      sample.at_ms = at;
      EXPECT_TRUE(store_.add_board_sample(sample));
    }
  }
};

TEST_F(RoutesOfAProgram, TheCurveTheLedgerAndTheLogAreReadOfAProgram) {
  auto transaction = store_.begin().value();
  for (std::int64_t step = 1; step <= 300; ++step) {
    EXPECT_TRUE(store_.add_step("a", {{2.5, 1.0, {}, step, 10.0}, step, 2, 1000 + step, false}));
  }
  EXPECT_TRUE(store_.add_span("a", {2, "stepping", "", 1000, 2000}));
  EXPECT_TRUE(transaction.commit());
  const auto curve = document("/v1/programs/a/curve");
  EXPECT_EQ(curve.at("metric"), "loss");
  EXPECT_EQ(curve.at("columns").at("step").as_array().size(), 300U);
  const auto part =
      document("/v1/programs/a/curve",
               {{"from", "101"}, {"to", "164"}, {"buckets", "5"}, {"metric", "grad_norm"}});
  EXPECT_EQ(part.at("bucket_steps"), 16);
  EXPECT_EQ(document("/v1/programs/a/ledger").at("total_seconds").as_double(), 2.0);
  EXPECT_EQ(document("/v1/programs/a/ledger", {{"window", "60"}}).at("total_seconds").as_double(),
            0.0);
  EXPECT_TRUE(document("/v1/programs/a/why", {{"lines", "9"}}).at("log").is_null());
  EXPECT_FALSE(document("/v1/programs/a/why").as_object().contains("log"));
  EXPECT_EQ(ask("GET", "/v1/programs/nobody/curve").status, 404);
  EXPECT_EQ(ask("GET", "/v1/programs/nobody/ledger").status, 404);
  EXPECT_NE(wrong("GET", "/v1/programs/a/curve", {{"metric", "los"}}), "");
  EXPECT_NE(wrong("GET", "/v1/programs/a/curve", {{"buckets", "0"}}), "");
  EXPECT_NE(wrong("GET", "/v1/programs/a/ledger", {{"window", "0"}}), "");
}

TEST_F(RoutesOfAProgram, WhatIsOnRecordIsReadFromTheStore) {
  EXPECT_EQ(document("/v1/programs/a/history").as_array().size(), 2U);
  EXPECT_EQ(document("/v1/history").as_array().size(), 2U);
  EXPECT_EQ(document("/v1/programs/a/why").at("attempt").at("attempt"), 2);
  EXPECT_EQ(document("/v1/programs/a/why", {{"attempt", "1"}}).at("attempt").at("cause"), "hang");
  EXPECT_EQ(document("/v1/programs/a/report").at("attempts"), 2);
  EXPECT_EQ(document("/v1/programs/a/checkpoints").at(1).at("path"), "/c/2");
  EXPECT_EQ(document("/v1/programs/a/evaluations").as_array().size(), 2U);
  EXPECT_EQ(document("/v1/programs/a/samples").at(0).at("answer"), "said");
  EXPECT_EQ(document("/v1/programs/a/compiled").at(0).at("name"), "block_forward");
  EXPECT_EQ(document("/v1/programs/a/events").as_array().size(), 2U);
  EXPECT_EQ(document("/v1/events", {{"after", "1"}}).as_array().size(), 1U);
  EXPECT_EQ(document("/v1/probe"), json::object());
  EXPECT_TRUE(control_.asked.empty()) << "the daemon was asked for what is on record";
}

TEST_F(RoutesOfAProgram, TheListOfProgramsHasTheTroubleThatTheDaemonKnowsOf) {
  const json::value rows = document("/v1/programs");
  ASSERT_EQ(rows.as_array().size(), 2U);
  EXPECT_FALSE(rows.at(0).as_object().contains("trouble"));
  EXPECT_EQ(rows.at(1).at("trouble"), "it is sick");
}

TEST_F(RoutesOfAProgram, BoardsAndTheirSamples) {
  EXPECT_EQ(document("/v1/boards").at(0).at("serial"), "01");
  const std::string samples = "/v1/boards/01/samples";
  EXPECT_EQ(document(samples).as_array().size(), 3U);
  EXPECT_EQ(document(samples, {{"limit", "2"}}).at(0).at("at_ms"), 2000) << "the newest";
  EXPECT_EQ(document(samples, {{"after", "1000"}, {"limit", "99999999"}}).at(0).at("at_ms"), 2000);
  EXPECT_EQ(ask("GET", "/v1/boards/nope/samples").status, 404);
  EXPECT_EQ(ask("GET", "/v1/boards/01/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/v1/boards/01").status, 404);
  EXPECT_EQ(ask("POST", "/v1/boards/01/release").status, 200);
  EXPECT_EQ(control_.asked.back(), "release 01");
  EXPECT_EQ(ask("POST", "/v1/boards/nope/release").status, 404);
}

TEST_F(RoutesOfAProgram, WhatDoesNotExistIs404AndChangesNothing) {
  for (const char* path : {"/", "", "/v2/programs", "/v1", "/v1/programs/a/b/c", "/v1/programs//",
                           "/v1/programs//history", "/v1/programs/a"}) {
    EXPECT_EQ(ask("GET", path).status, 404) << path;
    EXPECT_EQ(ask("DELETE", path).status, 404) << path;
  }
  for (const char* path : {"/v1/programs/a/erase", "/v1/programs/erase", "/v1/start"}) {
    EXPECT_EQ(ask("POST", path).status, 404) << path;
  }
  for (const char* what :
       {"history", "why", "report", "checkpoints", "log", "samples", "compiled"}) {
    EXPECT_EQ(ask("GET", std::string("/v1/programs/nope/") + what).status, 404) << what;
  }
  EXPECT_EQ(ask("GET", "/v1/programs/a/why", {{"attempt", "9"}}).status, 404);
  EXPECT_TRUE(control_.asked.empty());
}

TEST_F(Routes, AWrongMethodIs405AndSaysWhichOnesThereAre) {
  const auto allowed = [&](const char* method, const char* path) {
    const Response response = ask(method, path);
    EXPECT_EQ(response.status, 405) << method << " " << path;
    return response.headers.contains("Allow") ? response.headers.at("Allow") : "";
  };
  EXPECT_EQ(allowed("GET", "/v1/shutdown"), "POST");
  EXPECT_EQ(allowed("GET", "/v1/programs/start"), "POST");
  EXPECT_EQ(allowed("GET", "/v1/programs/a/start"), "POST");
  EXPECT_EQ(allowed("POST", "/v1/programs/a/log"), "GET, HEAD");
  EXPECT_EQ(allowed("DELETE", "/v1/programs"), "GET, HEAD");
  EXPECT_EQ(allowed("DELETE", "/v1/probe"), "GET, HEAD, POST");
  EXPECT_EQ(allowed("OPTIONS", "/v1/probe"), "GET, HEAD, POST");
  EXPECT_TRUE(control_.asked.empty());
}

TEST_F(RoutesOfAProgram, AWrongValueIsRefusedWithWhatIsAllowed) {
  EXPECT_EQ(wrong("GET", "/v1/programs/a/why", {{"attempt", "abc"}}),
            "the parameter 'attempt' is 'abc': it must be a whole number, 1 or more");
  EXPECT_EQ(wrong("GET", "/v1/programs/a/log", {{"stream", "stdlog"}}),
            "the parameter 'stream' is 'stdlog': it must be stdout or stderr");
  EXPECT_EQ(wrong("GET", "/v1/events", {{"after", "1x"}}),
            "the parameter 'after' is '1x': it must be a whole number");
  for (const char* value : {"", "0", "-1", "1.5", "99999999999999999999", " 1"}) {
    wrong("GET", "/v1/programs/a/why", {{"attempt", value}});
  }
  wrong("GET", "/v1/boards/01/samples", {{"limit", "-4"}});
  wrong("GET", "/v1/programs/a/log", {{"limit", "-1"}});
  wrong("POST", "/v1/probe", {{"deep", "yes"}});
  EXPECT_TRUE(control_.asked.empty()) << "nothing is done of what was asked wrongly";
}

TEST_F(RoutesOfAProgram, AParameterThatIsNotKnownIsRefused) {
  EXPECT_EQ(wrong("GET", "/v1/programs/a/why", {{"atempt", "3"}}),
            "there is no parameter 'atempt' (= '3') here: allowed are attempt, lines");
  EXPECT_EQ(wrong("POST", "/v1/programs/a/stop", {{"force", "1"}}),
            "there is no parameter 'force' (= '1') here: allowed are dry_run");
  EXPECT_TRUE(control_.asked.empty());
}

TEST_F(Routes, CommandsGoToTheDaemon) {
  ask("POST", "/v1/programs/a/start");
  ask("POST", "/v1/programs/a/start", {{"from_scratch", "1"}});
  wrong("POST", "/v1/programs/start", {{"from_scratch", "1"}});
  ask("POST", "/v1/programs/a/restart");
  ask("POST", "/v1/programs/stop");
  ask("GET", "/v1/programs/a/log", {{"stream", "stderr"}, {"offset", "-1600"}});
  ask("POST", "/v1/probe");
  ask("POST", "/v1/probe", {{"deep", "1"}, {"record", "0"}});
  ask("POST", "/v1/upgrade");
  ask("POST", "/v1/shutdown");
  EXPECT_EQ(control_.asked,
            (std::vector<std::string>{"command a 0", "command a 1", "command a 3", "command all 2",
                                      "log a stderr -1600 1048576", "probe",
                                      "probe deep unrecorded", "upgrade", "shutdown"}));
}

TEST_F(Routes, WhatIsAboutOneProgramNamesIt) {
  EXPECT_EQ(ask("POST", "/v1/programs/a/update").status, 200);
  EXPECT_EQ(ask("POST", "/v1/programs/a/add").status, 200);
  EXPECT_EQ(ask("POST", "/v1/programs/nope/add").status, 404);
  EXPECT_EQ(ask("POST", "/v1/programs/a/remove").status, 200);
  EXPECT_EQ(ask("POST", "/v1/programs/a/clear").status, 200);
  EXPECT_EQ(ask("POST", "/v1/programs/a/signal", {{"number", "10"}}).status, 200);
  EXPECT_EQ(ask("POST", "/v1/programs/a/signal", {{"number", "99999999999"}}).status, 200)
      << "no signal; the daemon says so";
  EXPECT_EQ(ask("POST", "/v1/programs/a/signal", {{"number", "0"}}).status, 400);
  EXPECT_EQ(ask("POST", "/v1/programs/a/signal").status, 400) << "which one was not said";
  EXPECT_EQ(ask("GET", "/v1/available").status, 200);
  const std::vector<std::string> asked{
      "update a", "add a", "remove a", "clear a", "signal a 10", "signal a " + std::to_string(NSIG),
      "available"};
  EXPECT_EQ(control_.asked, asked);
}

TEST_F(Routes, TheDaemonsOwnLogIsReadLikeAnyOther) {
  const Response response = ask("GET", "/v1/log", {{"offset", "-5"}, {"limit", "99999999"}});
  EXPECT_EQ(response.body, "said\n");
  EXPECT_EQ(response.headers.at("X-Log-Offset"), "5");
  EXPECT_EQ(response.headers.at("X-Log-Size"), "10");
  EXPECT_EQ(control_.asked.back(), "own log -5 1048576");
  EXPECT_EQ(ask("GET", "/v1/log", {{"stream", "stdout"}}).status, 400);
}

TEST_F(Routes, AnErrorCarriesItsParts) {
  const Response response = ask("POST", "/v1/programs/nope/start");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(parse_json(response.body, "").value().at("error").at("hint").as_string(), "hint");
}

TEST_F(Routes, ACommandThatCannotBeFollowedIsNotAThingThatDoesNotExist) {
  EXPECT_EQ(ask("POST", "/v1/reload").status, 400);
}

TEST(ErrorResponse, IsUtf8WhateverBytesItNames) {
  const Response response =
      error_response(500, {ErrorKind::corrupt, "a\xff\xfe\xc3", "\xed\xa0\x80", "caf\xc3\xa9"});
  ASSERT_TRUE(is_utf8(response.body));
  const json::value error = parse_json(response.body, "").value().at("error");
  EXPECT_EQ(error.at("what").as_string(), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(error.at("hint").as_string(), "caf\u00e9");
}

TEST_F(Routes, ACommandKnowsWhetherItsAskerStillWaits) {
  bool there = true;
  handler_(Request{.method = "POST", .path = "/v1/programs/slow/stop", .by = operator_},
           Respond([](const Response&) {}, [&there] { return there; }));
  ASSERT_EQ(control_.waiting.size(), 1U);
  EXPECT_TRUE(control_.waiting.front().wanted());
  there = false;
  EXPECT_FALSE(control_.waiting.front().wanted());
}

TEST_F(Routes, ARouteIsForWhoMayUseIt) {
  const auto status = [&](Role role, const char* method, const char* path) {
    return ask(Request{.method = method, .path = path, .by = {role, ""}}).status;
  };
  EXPECT_EQ(status(Role::nobody, "GET", "/healthz"), 200);
  EXPECT_EQ(status(Role::nobody, "GET", "/v1/programs"), 401);
  EXPECT_EQ(status(Role::nobody, "POST", "/v1/programs/a/stop"), 401);
  EXPECT_EQ(status(Role::viewer, "GET", "/v1/programs"), 200);
  EXPECT_EQ(status(Role::viewer, "HEAD", "/v1/programs"), 200);
  Table table(control_, reader_);
  add_routes(table, feed_);
  for (const Route& route : table.take()) {
    std::string path = route.path;
    if (const auto star = path.find('*'); star != std::string::npos) path.replace(star, 1, "a");
    const bool open = route.needs == Role::nobody;
    EXPECT_EQ(status(Role::nobody, route.method.c_str(), path.c_str()), open ? 200 : 401) << path;
    if (route.method == "GET") continue;
    EXPECT_EQ(status(Role::viewer, route.method.c_str(), path.c_str()), 403) << path;
  }
  EXPECT_TRUE(control_.asked.empty());
  const Response refused = ask(Request{.method = "POST", .path = "/v1/shutdown"});
  EXPECT_TRUE(refused.headers.at("WWW-Authenticate").starts_with("Bearer"));
}

TEST_F(Routes, ARehearsalDoesNothing) {
  ask("POST", "/v1/programs/a/stop", {{"dry_run", "1"}});
  ask("POST", "/v1/programs/restart", {{"dry_run", "1"}});
  EXPECT_EQ(ask("POST", "/v1/programs/nope/stop", {{"dry_run", "1"}}).status, 404);
  ask("POST", "/v1/programs/a/stop", {{"dry_run", "0"}});
  wrong("POST", "/v1/programs/a/stop", {{"dry_run", "yes"}});
  EXPECT_EQ(control_.asked,
            (std::vector<std::string>{"rehearse a 2", "rehearse all 3", "command a 2"}));
}

TEST_F(Routes, HealthIsThatWhatHappensIsRecorded) {
  EXPECT_EQ(document("/healthz").at("status"), "ok");
  control_.refused = "the disk at /secret is full";
  const Response ill = ask("GET", "/healthz");
  EXPECT_EQ(ill.status, 503);
  EXPECT_NE(ill.body.find("/secret"), std::string::npos);
  const Response anybodys = ask(Request{.method = "GET", .path = "/healthz"});
  EXPECT_EQ(anybodys.status, 503);
  EXPECT_EQ(anybodys.body.find("/secret"), std::string::npos);
}

TEST_F(Routes, AMethodThatHttpDoesNotHaveIs501) {
  EXPECT_EQ(ask("BREW", "/v1/programs").status, 501);
  EXPECT_EQ(ask("get", "/v1/programs").status, 501);
  EXPECT_EQ(ask("OPTIONS", "/v1/programs").status, 405);
}

TEST_F(Routes, AnErrorIsAProblemDocument) {
  Response response = ask("GET", "/v1/programs/nope/why");
  EXPECT_EQ(response.content_type, "application/problem+json");
  name_instance(response, "/v1/programs/nope/why");
  const json::value problem = parse_json(response.body, "").value();
  EXPECT_EQ(problem.at("type"), "/problems/usage");
  EXPECT_EQ(problem.at("status"), 404);
  EXPECT_EQ(problem.at("instance"), "/v1/programs/nope/why");
  EXPECT_EQ(problem.at("error").at("what"), "no such program");
}

TEST_F(Routes, ALogCarriesItsSizeAndAttempt) {
  const Response response = ask("GET", "/v1/programs/a/log", {{"limit", "99999999"}});
  EXPECT_EQ(response.body, "tail\n");
  EXPECT_EQ(response.headers.at("X-Log-Size"), "500");
  EXPECT_EQ(response.headers.at("X-Log-Attempt"), "3");
}

}  // namespace
}  // namespace trainward::api
