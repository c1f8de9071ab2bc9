// Pages as they are served: over a real database, the daemon a fake.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "routes_fixture.hpp"
#include "supervisor/window/api/http/guard.hpp"
#include "supervisor/window/page/serve/pages.hpp"
#include "support.hpp"

namespace trainward::page {
namespace {

using api::Request;
using api::Response;
using api::Role;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PageRoutes : public api::Routes {
 protected:
  PageRoutes() {
    api::Table table(control_, reader_);
    add_pages(table, assets_);
    handler_ = with_error_pages(api::make_router(table.take()), assets_.look());
    put_run("sick");
  }
  void put_run(const std::string& name) {
    EXPECT_TRUE(store_.put_program({name, "RUNNING", "training", "", "{}", 1'000, 100}));
    for (const std::int64_t number : {1, 2}) {
      store::AttemptRow attempt;
      attempt.program = name;
      attempt.number = number;
      attempt.intended_ms = attempt.started_ms = 1'000 * number;
      attempt.first_step = 10 * number - 9;
      attempt.last_step = 10 * number;
      if (number == 1) {
        attempt.ended_ms = 2'000;
        attempt.cause = "hang";
        attempt.verdict = "<b>it hung</b>";
      }
      EXPECT_TRUE(store_.put_attempt(attempt));
      for (std::int64_t step = attempt.first_step; step <= attempt.last_step; ++step) {
        EXPECT_TRUE(store_.add_step(
            name, {{.loss = 3.0 - 0.1 * static_cast<double>(step)}, step, number, 1'000 + step}));
      }
    }
    EXPECT_TRUE(store_.add_span(name, {1, "stepping", "", 1'000, 900}));
  }
  Response get(const std::string& path, Role role, std::map<std::string, std::string> headers = {},
               std::map<std::string, std::string> query = {}) {
    return ask(Request{.method = "GET",
                       .path = path,
                       .query = std::move(query),
                       .headers = std::move(headers),
                       .by = {role, "anna"}});
  }
  Response post(const std::string& path, const std::string& body) {
    return ask(
        Request{.method = "POST", .path = path, .body = body, .by = {Role::operates, "anna"}});
  }

  const Assets assets_;
};

TEST_F(PageRoutes, AProgramsPageIsWhole) {
  const Response response = get("/programs/sick", Role::viewer);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.headers.at("Cache-Control"), "no-store");
  const pugi::xml_document page = parsed(response.body, false);
  expect_safe(page);
  for (const std::string_view id : section_ids) {
    const std::string path = "//section[@id='" + std::string(id) + "']";
    EXPECT_TRUE(page.select_node(path.c_str())) << id;
  }
  EXPECT_THAT(response.body, HasSubstr("RUNNING for"));
  EXPECT_THAT(response.body, HasSubstr("it is sick"));  // what only the daemon knows
  EXPECT_THAT(response.body, HasSubstr("&lt;b&gt;it hung&lt;/b&gt;"));
  EXPECT_THAT(response.body, HasSubstr("class=\"mean\""));
  EXPECT_THAT(response.body, HasSubstr("data-role=\"viewer\""));
  EXPECT_THAT(response.body, Not(HasSubstr("<form")));
}

TEST_F(PageRoutes, EachSectionIsThatOfThePageAndHasATag) {
  for (const std::string_view id : section_ids) {
    const std::string path = "/programs/sick/sections/" + std::string(id);
    const Response first = get(path, Role::operates);
    ASSERT_EQ(first.status, 200) << first.body;
    expect_safe(parsed(first.body, true));
    const std::string tag = first.headers.at("ETag");
    if (id == "summary") continue;  // its times go on
    const Response again = get(path, Role::operates, {{"if-none-match", tag}});
    EXPECT_EQ(again.status, 304) << id;
    EXPECT_EQ(again.body, "");
  }
  EXPECT_EQ(get("/programs/sick/sections/nothing", Role::viewer).status, 404);
}

TEST_F(PageRoutes, TheOverviewHasAllProgramsAndOfASingleOneItsPage) {
  EXPECT_THAT(get("/", Role::viewer).body, HasSubstr("<main data-program=\"sick\">"));
  put_run("other");
  const Response response = get("/", Role::operates);
  expect_safe(parsed(response.body, false));
  EXPECT_THAT(response.body, HasSubstr("<main>"));
  EXPECT_THAT(response.body, HasSubstr("2 programs; 1 needs attention."));
  EXPECT_THAT(response.body, HasSubstr("href=\"/programs/other\""));
  EXPECT_EQ(get("/sections/summary", Role::viewer).status, 200);
}

TEST_F(PageRoutes, OlderAttemptsAndOneOfThemInParticular) {
  const Response older =
      get("/programs/sick/sections/attempts", Role::viewer, {}, {{"before", "2"}});
  EXPECT_THAT(older.body, HasSubstr("id=\"attempt-1\""));
  EXPECT_THAT(older.body, Not(HasSubstr("id=\"attempt-2\"")));
  const Response why = get("/programs/sick/sections/why", Role::viewer, {}, {{"attempt", "2"}});
  EXPECT_THAT(why.body, HasSubstr("Attempt 2 still runs"));
}

TEST_F(PageRoutes, WhyHasTheLogCutAtTheLineThatDecided) {
  store::AttemptRow attempt = *store_.attempt("sick", 1).value();
  attempt.folder = folder_.path() / "attempt";
  ASSERT_TRUE(store_.put_attempt(attempt));
  ASSERT_TRUE(store_.add_evidence(
      "sick", 1, {"log rule", 70, "hang", "stuck in <i>all</i>", "stderr.log:30"}));
  std::filesystem::create_directory(attempt.folder);
  std::ofstream log(std::filesystem::path(attempt.folder) / "stderr.log");
  for (int line = 1; line <= 60; ++line) {
    log << (line == 30 ? "stuck in <i>all</i>" : "line " + std::to_string(line)) << '\n';
  }
  log.close();
  const Response why = get("/programs/sick/sections/why", Role::viewer);
  EXPECT_THAT(why.body, HasSubstr("lines 10 to 50; line 30 decided"));
  EXPECT_THAT(why.body,
              HasSubstr("line 29\n<mark>stuck in &lt;i&gt;all&lt;/i&gt;\n</mark>line 31"));
  expect_safe(parsed(why.body, true));
}

TEST_F(PageRoutes, WhatIsNotThereIsAPageToWhoWantsOne) {
  const std::string browser = "text/html,application/xhtml+xml,*/*;q=0.8";
  for (const char* path : {"/programs/nobody", "/nothing", "/assets/none.js"}) {
    const Response page = get(path, Role::viewer, {{"accept", browser}});
    EXPECT_EQ(page.status, 404);
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8") << path;
    expect_safe(parsed(page.body, false));
    EXPECT_EQ(get(path, Role::viewer, {{"accept", "*/*"}}).content_type,
              "application/problem+json");
  }
  EXPECT_EQ(get("/v1/nothing", Role::viewer, {{"accept", browser}}).content_type,
            "application/problem+json");
}

TEST_F(PageRoutes, NothingIsSeenByNobody) {
  for (const char* path : {"/", "/programs/sick", "/programs/sick/sections/log",
                           "/sections/summary", "/programs/sick/actions/stop"}) {
    EXPECT_EQ(get(path, Role::nobody).status, 401) << path;
  }
  EXPECT_EQ(get("/programs/sick/actions/stop", Role::viewer).status, 403);
}

TEST_F(PageRoutes, AnActionAsksFirst) {
  const Response asked = get("/programs/sick/actions/stop", Role::operates);
  ASSERT_EQ(asked.status, 200);
  expect_safe(parsed(asked.body, false));
  const Response pressed = post("/programs/sick/actions/stop", "");
  EXPECT_EQ(pressed.status, 200);
  EXPECT_THAT(control_.askers, IsEmpty());
  const Response done = post("/programs/sick/actions/stop", "confirm=yes");
  EXPECT_EQ(done.status, 303);
  EXPECT_EQ(done.headers.at("Location"), "/programs/sick");
  EXPECT_THAT(control_.askers, ElementsAre("anna"));
  EXPECT_EQ(post("/programs/nope/actions/stop", "confirm=yes").status, 404);
}

TEST_F(PageRoutes, AFormOfOurPageIsLetInAndOneOfAnotherIsNot) {
  const Response page = get("/programs/sick", Role::operates);
  EXPECT_EQ(page.headers.at("Referrer-Policy"), "same-origin");
  const Response confirmation = get("/programs/sick/actions/stop", Role::operates);
  EXPECT_EQ(confirmation.headers.at("Referrer-Policy"), "same-origin");
  const api::Guard guard;
  // As a browser sends the form of a page with this policy, with and without fetch metadata.
  Request form{.method = "POST",
               .path = "/programs/sick/actions/stop",
               .headers = {{"host", "localhost:8420"},
                           {"origin", "http://localhost:8420"},
                           {"referer", "http://localhost:8420/programs/sick"},
                           {"content-type", "application/x-www-form-urlencoded"}},
               .body = "confirm=yes"};
  EXPECT_FALSE(guard.refusal(form).has_value());
  form.headers["sec-fetch-site"] = "same-origin";
  EXPECT_FALSE(guard.refusal(form).has_value());
  form.headers.erase("sec-fetch-site");
  for (const char* other : {"null", "http://localhost:8421", "http://elsewhere.example"}) {
    form.headers["origin"] = other;
    EXPECT_TRUE(guard.refusal(form).has_value()) << other;
  }
}

TEST_F(PageRoutes, FilesAreKeptForEverUnderTheirHash) {
  const Look look = assets_.look();
  const std::string path = "/assets/" + look.css_file;
  const Response plain = get(path, Role::nobody);
  ASSERT_EQ(plain.status, 200);
  EXPECT_THAT(plain.headers.at("Cache-Control"), HasSubstr("immutable"));
  EXPECT_FALSE(plain.headers.contains("Content-Encoding"));
  const Response packed = get(path, Role::nobody, {{"accept-encoding", "br, gzip;q=0.5"}});
  EXPECT_EQ(packed.headers.at("Content-Encoding"), "gzip");
  EXPECT_LT(packed.body.size(), plain.body.size());
  EXPECT_EQ(packed.body.substr(0, 2), "\x1f\x8b");
  EXPECT_FALSE(get(path, Role::nobody, {{"accept-encoding", "gzip;q=0"}})
                   .headers.contains("Content-Encoding"));
  EXPECT_EQ(get("/assets/page.css", Role::nobody).status, 404);
  EXPECT_EQ(get("/favicon.svg", Role::nobody).content_type, "image/svg+xml");
  EXPECT_FALSE(look.script_file.empty());
  std::size_t all = 0;
  for (const Embedded& file : embedded()) all += file.bytes.size();
  EXPECT_LT(all, 110'000U) << "with the page itself no more than 150 KB";
}

TEST_F(PageRoutes, FilesOfAFolderAreThoseOfNow) {
  const Assets folder(folder_.path());
  std::ofstream(folder_.path() / "page.css") << "p{}";
  EXPECT_EQ(folder.look().css_file, "page.css");
  EXPECT_EQ(folder.find("page.css", true)->bytes, "p{}");
  EXPECT_FALSE(folder.find("page.js", true).has_value());
  EXPECT_FALSE(folder.find("../run.db", true).has_value());
}

}  // namespace
}  // namespace trainward::page
