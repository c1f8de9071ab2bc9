#include "supervisor/window/api/http/revalidation.hpp"

#include <gtest/gtest.h>

#include <random>

#include "routes_fixture.hpp"

namespace trainward::api {
namespace {

class Revalidation : public Routes {
 protected:
  Response ask_with(const std::string& path, const std::string& mark) {
    return ask(Request{
        .method = "GET", .path = path, .headers = {{"if-none-match", mark}}, .by = operator_});
  }
  void change(std::mt19937& random) {
    const auto step = static_cast<std::int64_t>(random() % 5);
    switch (random() % 5) {
      case 0:
        ASSERT_TRUE(store_.add_event({0, step, "a", 1, "test", "it"}));
        return;
      case 1:
        ASSERT_TRUE(store_.put_checkpoint("a", {"/c", step, 1, 10, "verified", "", 1000}));
        return;
      case 2:
        ASSERT_TRUE(store_.add_evaluation("a", {step, 1, 0.5 * static_cast<double>(step), 1000}));
        return;
      case 3:
        ASSERT_TRUE(store_.put_program({"a", step > 2 ? "EXITED" : "FATAL", "", "", "", 1000, 0}));
        return;
      default:
        return;  // nothing
    }
  }
};

TEST_F(Revalidation, A304IsNeverWrongOverRandomChanges) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  ASSERT_TRUE(store_.put_program({"a", "RUNNING", "", "", "", 1000, 0}));
  store::AttemptRow attempt;
  attempt.program = "a";
  attempt.number = 1;
  ASSERT_TRUE(store_.put_attempt(attempt));
  const std::vector<std::string> paths{"/v1/programs", "/v1/events", "/v1/programs/a/checkpoints",
                                       "/v1/programs/a/evaluations", "/v1/programs/a/why"};
  std::map<std::string, std::pair<std::string, std::string>> known;  // path → mark, body
  int unchanged = 0;
  for (int i = 0; i < 400; ++i) {
    change(random);
    const std::string& path = paths[random() % paths.size()];
    auto& [mark, body] = known[path];
    const Response now = ask("GET", path);
    const Response answer = ask_with(path, mark);
    if (answer.status == 304) {
      ++unchanged;
      EXPECT_EQ(now.body, body) << path;
      EXPECT_EQ(answer.body, "");
      EXPECT_EQ(answer.headers.at("ETag"), mark);
    } else {
      EXPECT_NE(answer.body, body) << path << ": what is known was sent again";
      mark = answer.headers.at("ETag");
      body = answer.body;
    }
  }
  EXPECT_GT(unchanged, 20);
}

TEST_F(Revalidation, ListsOfMarksAndWeakOnesAreUnderstood) {
  const std::string mark = ask("GET", "/v1/events").headers.at("ETag");
  EXPECT_EQ(ask_with("/v1/events", "\"other\", " + mark).status, 304);
  EXPECT_EQ(ask_with("/v1/events", "W/" + mark).status, 304);
  EXPECT_EQ(ask_with("/v1/events", "*").status, 304);
  EXPECT_EQ(ask_with("/v1/events", "\"other\"").status, 200);
  EXPECT_EQ(ask_with("/v1/events", mark.substr(1)).status, 200);
  EXPECT_EQ(ask_with("/v1/nothing", "*").status, 404);
  EXPECT_FALSE(ask("POST", "/v1/reread").headers.contains("ETag"));
}

// Page after page, by the links alone, the whole list comes: nothing twice and nothing left out.
TEST_F(Revalidation, PagesMakeUpTheList) {
  ASSERT_TRUE(store_.put_program({"a b", "RUNNING", "", "", "", 1000, 0}));
  for (std::int64_t i = 1; i <= 23; ++i) {
    ASSERT_TRUE(store_.add_event({0, i, "a b", 1, "test", std::to_string(i)}));
    ASSERT_TRUE(store_.put_checkpoint(
        "a b", {"/c/" + std::to_string(i), i / 3, 1, 10, "verified", "", 1000}));
  }
  for (const char* path :
       {"/v1/events", "/v1/programs/a b/events", "/v1/programs/a b/checkpoints"}) {
    const json::array whole = document(path).as_array();
    ASSERT_EQ(whole.size(), 23U);
    for (int limit = 1; limit < 30; ++limit) {
      json::array gathered;
      std::map<std::string, std::string> query{{"limit", std::to_string(limit)}};
      for (;;) {
        const Response page = ask("GET", path, query);
        const json::value rows = parse_json(page.body, path).value();
        for (const json::value& row : rows.as_array()) gathered.push_back(row);
        if (!page.headers.contains("Link")) break;
        const std::string& link = page.headers.at("Link");
        EXPECT_EQ(link.find(' '), link.find("; rel=\"next\"") + 1) << link;
        const auto at = link.find("after=") + 6;
        query["after"] = link.substr(at, link.find_first_not_of("0123456789", at) - at);
      }
      EXPECT_EQ(gathered, whole) << path << " by " << limit;
    }
  }
}

}  // namespace
}  // namespace trainward::api
