#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "http_script.hpp"
#include "supervisor/courier/net/http_client.hpp"

namespace trainward::net {
namespace {

using test::HttpGate;
using test::HttpScript;

constexpr const char* secret = "T0pSecr3t";

// A request that has a secret wherever one can be.
Request hook(const std::string& url) {
  return {.method = "POST",
          .url = url + "/" + secret + "?token=" + secret,
          .headers = {{"Authorization", std::string("Bearer ") + secret}},
          .body = std::string("{\"key\":\"") + secret + "\"}"};
}

void expect_error(const Result<Answer>& answer, ErrorKind kind) {
  ASSERT_FALSE(answer.has_value()) << answer->status;
  EXPECT_EQ(answer.error().kind, kind) << answer.error().message();
  EXPECT_THAT(answer.error().message(), testing::Not(testing::HasSubstr(secret)));
  EXPECT_FALSE(answer.error().what.empty());
}

TEST(HttpFaults, AConnectionThatIsDroppedAfterTheRequestMayHaveBeenCarriedOut) {
  HttpScript server{{.drop = true}};
  HttpClient client;
  expect_error(client.send(hook(server.url(""))), ErrorKind::transient);
  EXPECT_TRUE(client.request_was_sent());
  EXPECT_EQ(server.requests().size(), 1U) << "nothing is sent again without being told to";
}

TEST(HttpFaults, AKeptConnectionThatDiesDoesNotPostTwice) {
  HttpScript server{{}, {.drop = true}, {}};
  HttpClient client;
  ASSERT_TRUE(client.send({.url = server.url()}));
  expect_error(client.send(hook(server.url(""))), ErrorKind::transient);
  EXPECT_TRUE(client.request_was_sent());
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(HttpFaults, NobodyThereMeansNothingWasSent) {
  std::string url;
  {
    const HttpScript gone;
    url = gone.url("");
  }
  HttpClient client;
  expect_error(client.send(hook(url)), ErrorKind::transient);
  EXPECT_FALSE(client.request_was_sent());
  expect_error(client.send(hook("http://no-such-host.invalid")), ErrorKind::transient);
  EXPECT_FALSE(client.request_was_sent());
}

TEST(HttpFaults, AnAnswerThatIsCutIsNone) {
  HttpScript server{{.body = std::string(1000, 'x'), .cut_after = 500},
                    {.body = std::string(1000, 'x'), .cut_after = 0}};
  HttpClient client;
  for (int i = 0; i < 2; ++i) {
    expect_error(client.send(hook(server.url(""))), ErrorKind::transient);
    EXPECT_TRUE(client.request_was_sent());
  }
}

TEST(HttpFaults, WhatIsNotHttpIsCorrupt) {
  HttpScript server{{.raw = std::string("SSH-2.0-") + secret + "\r\n"},
                    {.raw = std::string("HTTP/1.1 2") + secret + "\r\n\r\n"},
                    {.raw = "\x01\x02\x03"}};
  HttpClient client;
  for (int i = 0; i < 3; ++i) expect_error(client.send(hook(server.url(""))), ErrorKind::corrupt);
}

TEST(HttpFaults, AnswersAreBounded) {
  const std::string body(70'000, 'x');
  HttpScript server([&](const test::HttpRequest& request) {
    if (request.path() == "/headers") {
      return test::HttpStep{.headers = {{"X-Long", body}}};
    }
    return test::HttpStep{.status = request.path() == "/busy" ? 503 : 200, .body = body};
  });
  HttpClient client;
  expect_error(client.send({.url = server.url("/")}), ErrorKind::corrupt);
  expect_error(client.send({.url = server.url("/headers")}), ErrorKind::corrupt);
  // A page that says why is read as far as it goes.
  auto answer = client.send({.url = server.url("/busy")});
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body.size(), 64U * 1024);
  answer = client.send({.url = server.url("/busy"), .most_answer_bytes = 10});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body.size(), 10U);
  answer = client.send({.url = server.url("/"), .most_answer_bytes = 70'000});
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->body.size(), 70'000U);
}

TEST(HttpFaults, ARefusalBeforeTheBodyIsAnAnswer) {
  HttpScript server{{.status = 413, .body = "too much", .before_body = true}};
  HttpClient client;
  const auto answer =
      client.send({.method = "PUT", .url = server.url(), .body = std::string(20'000'000, 'x')});
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->status, 413);
}

TEST(HttpFaults, TheWholeHasALimit) {
  const auto gate = std::make_shared<HttpGate>();
  HttpScript server{{.hold = gate}, {.body = "1234", .stall = gate}};
  HttpClient client;
  for (int i = 0; i < 2; ++i) {
    Request request = hook(server.url(""));
    request.total_ms = 100;
    expect_error(client.send(request), ErrorKind::transient);
    EXPECT_TRUE(client.request_was_sent());
  }
}

TEST(HttpFaults, AStallEndsWhatHasNoOtherLimit) {
  const auto gate = std::make_shared<HttpGate>();
  HttpScript server{{.body = "1234", .stall = gate}};
  HttpClient client;
  Request request = hook(server.url(""));
  request.total_ms = 0;
  request.stall_ms = 1000;
  expect_error(client.send(request), ErrorKind::transient);
}

// Answered or not, read or not: whoever asks for an end gets it now.
TEST(HttpFaults, AStopEndsAnExchangeAtOnce) {
  for (const bool in_mid_answer : {false, true}) {
    const auto gate = std::make_shared<HttpGate>();  // a server that ends opens its gate
    HttpScript server{in_mid_answer ? test::HttpStep{.body = "1234", .stall = gate}
                                    : test::HttpStep{.hold = gate}};
    std::stop_source stop;
    HttpClient client({}, stop.get_token());
    Request request = hook(server.url(""));
    request.total_ms = 0;
    request.stall_ms = 0;
    auto sending = std::async(std::launch::async, [&] { return client.send(request); });
    ASSERT_TRUE(server.wait_for(1));
    const auto asked = std::chrono::steady_clock::now();
    stop.request_stop();
    expect_error(sending.get(), ErrorKind::transient);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::milliseconds(500));
    EXPECT_TRUE(client.request_was_sent());
    // And nothing begins any more.
    expect_error(client.send(request), ErrorKind::transient);
    EXPECT_EQ(server.requests().size(), 1U);
  }
}

TEST(HttpFaults, OnlyTheWeb) {
  HttpClient client;
  for (const char* url :
       {"file:///etc/passwd", "ftp://127.0.0.1/T0pSecr3t", "gopher://127.0.0.1/", "T0pSecr3t",
        "//127.0.0.1/T0pSecr3t", "http://", "http:///T0pSecr3t", "http://a b/T0pSecr3t", ""}) {
    SCOPED_TRACE(url);
    expect_error(client.send({.url = url}), ErrorKind::permanent);
    EXPECT_FALSE(client.request_was_sent());
  }
}

TEST(HttpFaults, ASecretWithALineEndSmugglesNothingIn) {
  HttpScript server;
  HttpClient client;
  for (const std::string& value : {std::string("T0pSecr3t\r\nHost: evil"), std::string("a\nb"),
                                   std::string("T0pSecr3t\0x", 11)}) {
    expect_error(client.send({.url = server.url(), .headers = {{"Authorization", value}}}),
                 ErrorKind::usage);
  }
  expect_error(client.send({.url = server.url(), .headers = {{"A: b\r\nC", "T0pSecr3t"}}}),
               ErrorKind::usage);
  expect_error(client.send({.method = "GET / HTTP/1.1\r\nA: b\r\n", .url = server.url()}),
               ErrorKind::usage);
  EXPECT_EQ(server.connections(), 0U);
}

TEST(HttpFaults, AProxyThatRefusesIsNamedAsOne) {
  HttpScript proxy{{.status = 407, .body = secret}, {.body = "through"}};
  HttpClient client({.proxy = "http://me:T0pSecr3t@" + proxy.url("").substr(7)});
  auto answer = client.send(hook("https://example.invalid"));
  expect_error(answer, ErrorKind::permanent);
  EXPECT_THAT(answer.error().what, testing::HasSubstr("proxy"));
  // Unencrypted it is asked for the whole address.
  answer = client.send({.url = "http://example.invalid/x"});
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->body, "through");
  EXPECT_EQ(proxy.requests().back().target, "http://example.invalid/x");
}

}  // namespace
}  // namespace trainward::net
