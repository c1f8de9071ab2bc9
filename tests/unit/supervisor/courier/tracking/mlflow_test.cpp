// A run told to a server that only ever adds, over every fault of a network: nothing is lost, and
// nothing is there twice.
#include "supervisor/courier/tracking/mlflow/mlflow.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <tuple>

#include "history.hpp"
#include "http_script.hpp"
#include "temporary_folder.hpp"

namespace trainward::tracking {
namespace {

constexpr const char* secret = "s3cret-token-of-the-tracker";

class TextMemory final : public Memory {
 public:
  Result<std::string> get() override { return text; }
  Status put(const std::string& next) override {
    text = next;
    return {};
  }
  std::string text;
};

// What MLflow keeps of it, and how it answers; append-only, as its store is.
class FakeMlflow {
 public:
  using Metric = std::tuple<std::string, std::int64_t, std::int64_t, std::string>;

  test::HttpStep answer(const test::HttpRequest& request) {
    ++requests;
    leaked = leaked || request.target.find(secret) != std::string::npos ||
             request.body.find(secret) != std::string::npos;
    allowed = allowed && request.header("authorization") == std::string("Bearer ") + secret;
    const std::uint64_t fault = faults ? random() % 8 : 99;
    if (fault == 0) return {.status = 429, .headers = {{"Retry-After", "1"}}};
    if (fault == 1) return {.status = 503};
    if (fault == 2) return {.before_body = true};
    auto done = carry_out(request);
    if (fault == 3) done.drop = true;  // carried out, and the answer is lost
    if (fault == 4) done.cut_after = done.body.size() / 2;
    return done;
  }

  std::map<std::string, std::string> experiments;
  std::map<std::string, json::object> runs;  // by id: the tags it was made with
  std::set<std::string> deleted;             // of them, as its page does it
  std::set<Metric> metrics;
  std::map<std::string, std::string> params, tags;
  std::string status;
  std::size_t largest_batch = 0;
  int requests = 0;
  bool faults = true;
  bool leaked = false;
  bool allowed = true;
  std::mt19937_64 random;

 private:
  static test::HttpStep reply(json::object body, int status = 200) {
    return {.status = status, .body = json::serialize(body)};
  }
  static test::HttpStep refuse(int status, const char* code) {
    return reply({{"error_code", code}, {"message", "no"}}, status);
  }

  test::HttpStep carry_out(const test::HttpRequest& request) {
    const std::string_view path = request.path();
    EXPECT_TRUE(path.starts_with("/api/2.0/mlflow/")) << path;
    EXPECT_LE(request.body.size(), 1'000'000U);
    const std::string what(path.substr(std::min<std::size_t>(path.size(), 16)));
    if (what == "experiments/get-by-name") {
      const std::string name = request.target.substr(request.target.find('=') + 1);
      if (!experiments.contains(name)) return refuse(404, "RESOURCE_DOES_NOT_EXIST");
      return reply(
          {{"experiment", {{"experiment_id", experiments[name]}, {"lifecycle_stage", "active"}}}});
    }
    if (what == "runs/get") {
      const std::string id = request.target.substr(request.target.find('=') + 1);
      if (!runs.contains(id)) return refuse(404, "RESOURCE_DOES_NOT_EXIST");
      const char* stage = deleted.contains(id) ? "deleted" : "active";
      return reply({{"run", {{"info", {{"run_id", id}, {"lifecycle_stage", stage}}}}}});
    }
    const json::object body = json::parse(request.body).as_object();
    if (what == "experiments/create") {
      const std::string name = string_or(body, "name", "");
      if (experiments.contains(name)) return refuse(400, "RESOURCE_ALREADY_EXISTS");
      experiments[name] = "7";
      return reply({{"experiment_id", "7"}});
    }
    if (what == "runs/search") {
      json::array found;
      for (const auto& [id, made] : runs) {
        if (deleted.contains(id)) continue;
        for (const json::value& tag : made.at("tags").as_array()) {
          const std::string wanted = "tags.`" + string_or(tag.as_object(), "key", "") + "` = '" +
                                     string_or(tag.as_object(), "value", "") + "'";
          if (string_or(body, "filter", "") == wanted) {
            found.push_back(json::object{{"info", {{"run_id", id}}}});
          }
        }
      }
      return reply(found.empty() ? json::object() : json::object{{"runs", found}});
    }
    if (what == "runs/create") {
      const std::string id = "run" + std::to_string(runs.size());
      runs[id] = body;
      return reply({{"run", {{"info", {{"run_id", id}}}}}});
    }
    const std::string id = string_or(body, "run_id", "");
    if (!runs.contains(id)) return refuse(404, "RESOURCE_DOES_NOT_EXIST");
    if (deleted.contains(id)) return refuse(400, "INVALID_PARAMETER_VALUE");
    if (what == "runs/update") {
      status = string_or(body, "status", "");
      return reply({});
    }
    EXPECT_EQ(what, "runs/log-batch");
    if (const auto list = get_array(body, "metrics")) {
      largest_batch = std::max(largest_batch, (*list)->size());
      for (const json::value& each : **list) {
        const json::object& metric = each.as_object();
        metrics.insert({string_or(metric, "key", ""), int_or(metric, "step", -1),
                        int_or(metric, "timestamp", -1), json::serialize(metric.at("value"))});
      }
    }
    if (const auto list = get_array(body, "params")) {
      EXPECT_LE((*list)->size(), 100U);
      // All of them or none.
      std::set<std::string> keys;
      for (const json::value& each : **list) {
        const std::string key = string_or(each.as_object(), "key", "");
        const auto told = params.find(key);
        const bool other =
            told != params.end() && told->second != string_or(each.as_object(), "value", "");
        if (other || key.starts_with('/') || !keys.insert(key).second) {
          return refuse(400, "INVALID_PARAMETER_VALUE");
        }
      }
      for (const json::value& each : **list) {
        params[string_or(each.as_object(), "key", "")] = string_or(each.as_object(), "value", "");
      }
    }
    if (const auto list = get_array(body, "tags")) {
      for (const json::value& each : **list) {
        EXPECT_LE(string_or(each.as_object(), "value", "").size(), 5000U);
        tags[string_or(each.as_object(), "key", "")] = string_or(each.as_object(), "value", "");
      }
    }
    return reply({});
  }
};

class MlflowTest : public testing::Test {
 protected:
  MlflowTest() {
    const auto token = folder_ / "token";
    std::ofstream(token) << secret << '\n';
    std::filesystem::permissions(token, std::filesystem::perms(0600));
  }
  orders::TrackingOrder order(const test::HttpScript& server, std::int64_t every = 1) const {
    orders::TrackingOrder order;
    order.program = "trainer";
    order.tracking.every = every;
    order.tracking.mlflow = orders::Mlflow{server.url(""), "night", (folder_ / "token").string()};
    order.hparams = {{"training_config.learning_rate", 0.003}, {"model", "tiny"}};
    return order;
  }
  TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

TEST_F(MlflowTest, NothingIsLostAndNothingIsThereTwice) {
  const char* const given = std::getenv("SEED");  // of a run that failed
  const auto seed =
      given == nullptr ? std::random_device()() : static_cast<unsigned>(std::stoul(given));
  SCOPED_TRACE(fmt::format("seed {}", seed));
  for (unsigned round = 0; round < 6; ++round) {
    auto store = must(store::Store::open(folder_ / (std::to_string(round) + ".db")));
    History history(store, "trainer", seed + round);
    FakeMlflow fake;
    fake.random.seed(seed + round);
    test::HttpScript server([&](const test::HttpRequest& request) { return fake.answer(request); });
    TextMemory memory;
    auto mlflow =
        std::make_optional<Mlflow>(order(server), memory, net::Settings{}, std::stop_token());
    const auto tell = [&] {
      const auto told = mlflow->advance(store, history.now_ms());
      if (!told) {
        EXPECT_EQ(told.error().kind, ErrorKind::transient) << told.error().message();
        EXPECT_EQ(told.error().message().find(secret), std::string::npos);
      }
      return !told || *told;
    };
    while (history.go_on()) {
      if (history.chance(6)) tell();
      // Killed and begun again: what it knew is in its memory.
      if (history.chance(12))
        mlflow.emplace(order(server), memory, net::Settings{}, std::stop_token());
    }
    for (int i = 0; i < 400 && tell(); ++i) {
    }
    fake.faults = false;
    for (int i = 0; i < 40 && tell(); ++i) {
    }
    EXPECT_EQ(fake.runs.size(), 1U);
    EXPECT_EQ(fake.status, "FINISHED");
    EXPECT_EQ(fake.params.size(), 2U);
    EXPECT_EQ(fake.tags["trainward.cause"], "done");
    EXPECT_TRUE(fake.allowed);
    EXPECT_FALSE(fake.leaked);
    std::map<std::string, std::set<std::int64_t>> steps;
    for (const auto& [key, step, at_ms, value] : fake.metrics) {
      EXPECT_TRUE(steps[key].insert(step).second) << key << " of step " << step << " twice";
    }
    std::set<std::int64_t> wanted;
    for (const auto& [step, loss] : history.evaluations) wanted.insert(step);
    EXPECT_EQ(steps["eval/loss"], wanted);
    for (std::int64_t step = 1; step <= history.target(); ++step) {
      const bool always = history.losses.contains(step) && !history.without_loss.contains(step);
      EXPECT_TRUE(!always || steps["train/loss"].contains(step)) << step;
    }
  }
}

TEST_F(MlflowTest, OnlyWhatLiesBehindACheckpointIsTold) {
  auto store = must(store::Store::open(folder_ / "trainward.db"));
  must(store.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 100}));
  store::AttemptRow attempt;
  attempt.program = "trainer";
  attempt.number = 1;
  attempt.nonce = "n";
  attempt.intended_ms = epoch_ms;
  must(store.put_attempt(attempt));
  for (std::int64_t step = 1; step <= 10; ++step) {
    store::StepRow row;
    row.step = step;
    row.attempt = 1;
    row.loss = step == 3 ? std::numeric_limits<double>::infinity() : 2.0;
    row.at_ms = epoch_ms + step;
    must(store.add_step("trainer", row));
  }
  FakeMlflow fake;
  fake.faults = false;
  test::HttpScript server([&](const test::HttpRequest& request) { return fake.answer(request); });
  TextMemory memory;
  Mlflow mlflow(order(server), memory, {}, {});
  const auto tell = [&] {
    while (must(mlflow.advance(store, epoch_ms))) {
    }
  };
  tell();
  EXPECT_TRUE(fake.metrics.empty());
  EXPECT_EQ(fake.status, "RUNNING");
  must(store.put_checkpoint("trainer", {"/c/6", 6, 1, 1, "verified", "", epoch_ms}));
  tell();
  EXPECT_EQ(fake.metrics.size(), 6U);
  EXPECT_TRUE(fake.metrics.contains({"train/loss", 3, epoch_ms + 3, "\"NaN\""}));
  // A crash with a restart is none; giving up is.
  attempt.ended_ms = epoch_ms + 100;
  attempt.cause = "hang";
  must(store.put_attempt(attempt));
  must(store.put_program({"trainer", "BACKOFF", "", "d", "{}", epoch_ms, 100}));
  tell();
  EXPECT_EQ(fake.status, "RUNNING");
  EXPECT_EQ(fake.tags["trainward.cause"], "hang");
  must(store.put_program({"trainer", "STOPPED", "", "d", "{}", epoch_ms, 100}));
  tell();
  EXPECT_EQ(fake.status, "KILLED");
  must(store.put_program({"trainer", "FATAL", "", "d", "{}", epoch_ms, 100}));
  tell();
  EXPECT_EQ(fake.status, "FAILED");
  EXPECT_EQ(fake.metrics.size(), 10U);
  // Somebody removed the run there: it is made anew, with everything.
  fake.runs.clear();
  fake.metrics.clear();
  must(store.put_program({"trainer", "EXITED", "", "d", "{}", epoch_ms, 100}));
  EXPECT_FALSE(mlflow.advance(store, epoch_ms));
  tell();
  EXPECT_EQ(fake.metrics.size(), 10U);
  EXPECT_EQ(fake.status, "FINISHED");
}

TEST_F(MlflowTest, AParameterThatIsRefusedTakesNoOtherAlong) {
  auto store = must(store::Store::open(folder_ / "trainward.db"));
  History history(store, "trainer", 3);
  for (int i = 0; i < 20; ++i) history.go_on();
  FakeMlflow fake;
  fake.faults = false;
  fake.params["model"] = "of an earlier configuration";
  test::HttpScript server([&](const test::HttpRequest& request) { return fake.answer(request); });
  auto order = this->order(server);
  for (int i = 0; i < 150; ++i) order.hparams["p" + std::to_string(i)] = i;
  order.hparams["/is/no/name"] = 1;
  order.hparams["a?"] = 1;  // the same name for the server
  order.hparams["a!"] = 1;
  TextMemory memory;
  Mlflow mlflow(order, memory, {}, {});
  while (must(mlflow.advance(store, history.now_ms()))) {
  }
  EXPECT_EQ(fake.params.size(), 153U) << "p0 to p149, the rate, the model and one a_";
  EXPECT_EQ(fake.params["model"], "of an earlier configuration");
  EXPECT_LT(fake.requests, 60);
}

TEST_F(MlflowTest, ARunThatSomebodyPutIntoTheBinIsMadeAnew) {
  auto store = must(store::Store::open(folder_ / "trainward.db"));
  History history(store, "trainer", 3);
  while (history.go_on()) {
  }
  FakeMlflow fake;
  fake.faults = false;
  test::HttpScript server([&](const test::HttpRequest& request) { return fake.answer(request); });
  TextMemory memory;
  Mlflow mlflow(order(server), memory, {}, {});
  const auto tell = [&] {
    while (must(mlflow.advance(store, history.now_ms()))) {
    }
  };
  tell();
  const auto metrics = std::exchange(fake.metrics, {});
  ASSERT_FALSE(metrics.empty());
  // Before the next state of the program, and before the next tags.
  for (const char* state : {"FATAL", "STOPPED"}) {
    for (const auto& [id, made] : fake.runs) fake.deleted.insert(id);
    must(store.put_program({"trainer", state, "", "d", "{}", epoch_ms, 100}));
    const auto told = mlflow.advance(store, history.now_ms());
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().kind, ErrorKind::transient) << told.error().message();
    fake.metrics.clear();
    tell();
    EXPECT_EQ(fake.metrics, metrics);
  }
  EXPECT_EQ(fake.runs.size(), 3U);
  EXPECT_EQ(fake.status, "KILLED");
}

TEST_F(MlflowTest, WhatItRefusesIsToldWithoutItsWords) {
  auto store = must(store::Store::open(folder_ / "trainward.db"));
  History history(store, "trainer", 3);
  for (int i = 0; i < 20; ++i) history.go_on();
  TextMemory memory;
  test::HttpScript denies{{.status = 401, .body = secret}};
  Mlflow denied(order(denies), memory, {}, {});
  const auto refused = denied.advance(store, epoch_ms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_NE(refused.error().message().find("token_file"), std::string::npos);
  EXPECT_EQ(refused.error().message().find(secret), std::string::npos);
  test::HttpScript busy{{.status = 429, .headers = {{"Retry-After", "90"}}}};
  Mlflow waits(order(busy), memory, {}, {});
  ASSERT_FALSE(waits.advance(store, epoch_ms));
  EXPECT_GE(waits.wait_until_ms(), epoch_ms + 90'000);
  std::filesystem::permissions(folder_ / "token", std::filesystem::perms(0644));
  test::HttpScript unasked{};
  Mlflow open(order(unasked), memory, {}, {});
  const auto readable = open.advance(store, epoch_ms);
  ASSERT_FALSE(readable);
  EXPECT_NE(readable.error().message().find("chmod 600"), std::string::npos);
  EXPECT_TRUE(unasked.requests().empty()) << "nothing is said without it";
}

}  // namespace
}  // namespace trainward::tracking
