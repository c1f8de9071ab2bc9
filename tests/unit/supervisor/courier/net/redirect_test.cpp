#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "http_script.hpp"
#include "supervisor/courier/net/http_client.hpp"

namespace trainward::net {
namespace {

using test::HttpScript;
using test::redirect_to;

Request download(const std::string& url, int most_redirects) {
  return {.url = url,
          .headers = {{"Authorization", "Bearer secret"},
                      {"Cookie", "a=secret"},
                      {"X-Api-Key", "secret"},
                      {"Range", "bytes=5-"}},
          .most_redirects = most_redirects};
}

TEST(HttpRedirect, IsAnAnswerUnlessAskedFor) {
  HttpScript server{redirect_to("/elsewhere")};
  HttpClient client;
  const auto answer = client.send(download(server.url(), 0));
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->status, 302);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(HttpRedirect, HeadersStayBehindWhenTheHostChanges) {
  HttpScript other{{.body = "there"}};
  HttpScript server{redirect_to("/again"), redirect_to(other.url("/x?signature=secret"))};
  HttpClient client;
  const auto answer = client.send(download(server.url("/first"), 2));
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->body, "there");
  const auto here = server.requests();
  ASSERT_EQ(here.size(), 2U);
  EXPECT_EQ(here[1].target, "/again");
  EXPECT_EQ(here[1].header("x-api-key"), "secret");
  const auto there = other.requests().at(0);
  EXPECT_EQ(there.target, "/x?signature=secret");
  EXPECT_EQ(there.header("range"), "bytes=5-");
  for (const auto& [name, value] : there.headers) {
    EXPECT_THAT(value, testing::Not(testing::HasSubstr("secret"))) << name;
  }
}

TEST(HttpRedirect, HeadersDoNotComeBackWithTheHost) {
  HttpScript server{redirect_to("placeholder"), {.body = "home"}};
  HttpScript other{redirect_to(server.url("/back"))};
  HttpScript first{redirect_to(other.url("/"))};
  HttpClient client;
  const auto answer = client.send(download(first.url(), 5));
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  for (const auto& request : server.requests()) EXPECT_FALSE(request.has("authorization"));
}

TEST(HttpRedirect, LeadsNeitherRoundInCirclesNorOffTheWeb) {
  HttpScript circle([](const test::HttpRequest&) { return redirect_to("/secret"); });
  HttpClient client;
  auto answer = client.send(download(circle.url(), 4));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::permanent);
  EXPECT_EQ(circle.requests().size(), 5U);
  for (const char* place : {"file:///etc/passwd", "ftp://127.0.0.1/secret", "http://"}) {
    HttpScript server{redirect_to(place)};
    answer = client.send(download(server.url(), 4));
    ASSERT_FALSE(answer.has_value()) << place;
    EXPECT_EQ(answer.error().kind, ErrorKind::permanent);
    EXPECT_THAT(answer.error().message(), testing::Not(testing::HasSubstr("secret")));
  }
}

TEST(HttpRedirect, WhatChangesSomethingIsRepeatedOnlyWhereTheServerWantsIt) {
  for (const int status : {301, 302, 303, 307, 308}) {
    SCOPED_TRACE(status);
    HttpScript server{redirect_to("/next", status), {.body = "done"}};
    HttpClient client;
    const auto answer = client.send(
        {.method = "POST", .url = server.url(), .body = std::string("once"), .most_redirects = 1});
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    const auto requests = server.requests();
    if (status < 303) {
      EXPECT_EQ(answer->status, status);
      EXPECT_EQ(requests.size(), 1U);
      continue;
    }
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_EQ(requests[1].method, status == 303 ? "GET" : "POST");
    EXPECT_EQ(requests[1].body, status == 303 ? "" : "once");
  }
}

}  // namespace
}  // namespace trainward::net
