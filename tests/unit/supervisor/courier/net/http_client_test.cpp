#include "supervisor/courier/net/http_client.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <string>

#include "common/os/fd.hpp"
#include "http_script.hpp"
#include "temporary_folder.hpp"

namespace trainward::net {
namespace {

using test::HttpScript;

TEST(HttpClient, SendsWhatItIsToldAndNothingOfItsOwnThatTells) {
  HttpScript server{{.status = 201, .headers = {{"X-Id", "7"}}, .body = "made"}};
  HttpClient client;
  const auto answer = client.send({.method = "POST",
                                   .url = server.url("/a/b?c=d%20e"),
                                   .headers = {{"Authorization", "Bearer x"}, {"X-Empty", ""}},
                                   .body = std::string("{\"a\":1}")});
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "made");
  EXPECT_EQ(answer->header("x-id"), "7");
  EXPECT_EQ(answer->header("x-nothing"), "");
  EXPECT_TRUE(client.request_was_sent());
  const auto request = server.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/a/b?c=d%20e");
  EXPECT_EQ(request.body, "{\"a\":1}");
  EXPECT_EQ(request.header("authorization"), "Bearer x");
  EXPECT_TRUE(request.has("x-empty"));
  EXPECT_EQ(request.header("user-agent"), "trainward");
  EXPECT_FALSE(request.has("content-type"));
  EXPECT_FALSE(request.has("accept-encoding"));
}

TEST(HttpClient, EveryMethodHasTheBodyThatIsMeant) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{.body = "0123456789"}; });
  HttpClient client;
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}) {
    const auto answer = client.send({.method = method, .url = server.url()});
    ASSERT_TRUE(answer.has_value()) << method << answer.error().message();
    EXPECT_EQ(answer->body, std::string(method) == "HEAD" ? "" : "0123456789") << method;
    const auto request = server.requests().back();
    EXPECT_EQ(request.method, method);
    const bool tells = std::string(method).starts_with('P');
    EXPECT_EQ(request.has("content-length"), tells) << method;
    EXPECT_FALSE(request.has("transfer-encoding")) << method;
  }
  ASSERT_TRUE(client.send({.method = "DELETE", .url = server.url(), .body = std::string("x")}));
  EXPECT_EQ(server.requests().back().body, "x");
}

TEST(HttpClient, KeepsItsConnectionButNotForWhatMayNotBeDoneTwice) {
  HttpScript server([](const test::HttpRequest&) { return test::HttpStep{}; });
  HttpClient client;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.send({.method = "PUT", .url = server.url()}));
  EXPECT_EQ(server.connections(), 1U);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.send({.method = "POST", .url = server.url()}));
  EXPECT_EQ(server.connections(), 4U);
}

// A file with a slice in its middle that is too long for one buffer.
class HttpFile : public testing::Test {
 protected:
  static constexpr std::size_t size = 3'000'000;

  void SetUp() override {
    for (std::size_t i = 0; i < size; ++i) text_.push_back(char('a' + i * i % 23));
    const auto path = folder_.write("data", "before" + text_ + "behind");
    file_ = Fd(::open(path.c_str(), O_RDONLY));
  }
  [[nodiscard]] Request put(const std::string& url) const {
    return {
        .method = "PUT", .url = url, .body = FileSlice{file_.get(), 6, std::int64_t(text_.size())}};
  }

  TemporaryFolder folder_;
  std::string text_;
  Fd file_;
};

TEST_F(HttpFile, APartOfAFileIsSentWithProgress) {
  HttpScript server{{}};
  HttpClient client;
  std::vector<std::int64_t> seen;
  const auto answer =
      client.send(put(server.url()), [&](std::int64_t bytes) { seen.push_back(bytes); });
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_TRUE(server.requests().at(0).body == text_);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), std::int64_t(size));
}

TEST_F(HttpFile, BeginsAnewWhenItIsSentAgain) {
  HttpScript server{{.drop = true}, {.status = 503}, {}};
  HttpClient client;
  const Request request = put(server.url());
  EXPECT_FALSE(client.send(request).has_value());
  EXPECT_TRUE(client.request_was_sent());
  for (const int status : {503, 200}) {
    const auto answer = client.send(request);
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->status, status);
  }
  for (const auto& seen : server.requests()) EXPECT_TRUE(seen.body == text_);
}

TEST_F(HttpFile, BeginsAnewOnARedirect) {
  HttpScript other{{}};
  HttpScript server{test::redirect_to(other.url("/there"), 307)};
  HttpClient client;
  Request request = put(server.url());
  request.most_redirects = 1;
  const auto answer = client.send(request);
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_TRUE(other.requests().at(0).body == text_);
}

TEST_F(HttpFile, ThatHasBecomeShorterIsNotSent) {
  HttpScript server{{}};
  HttpClient client;
  Request request = put(server.url());
  std::get<FileSlice>(request.body).size += 100;
  const auto answer = client.send(request);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::corrupt);
  EXPECT_FALSE(client.request_was_sent());
}

TEST_F(HttpFile, AnAnswerGoesIntoAFileWhereItIsToldTo) {
  HttpScript server{{.status = 206, .body = text_}, {.status = 404, .body = "no such thing"}};
  const auto path = folder_.write("into", "12345");
  const Fd into(::open(path.c_str(), O_RDWR));
  HttpClient client;
  Request request{.url = server.url(), .into = into.get(), .into_offset = 5};
  request.most_answer_bytes = std::int64_t(size);
  std::int64_t last = 0;
  auto answer = client.send(request, [&](std::int64_t bytes) { last = bytes; });
  ASSERT_TRUE(answer.has_value()) << answer.error().message();
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(last, std::int64_t(size));
  std::string written(size + 6, '\0');
  ASSERT_EQ(::pread(into.get(), written.data(), written.size(), 0), std::int64_t(size + 5));
  EXPECT_TRUE(written.substr(0, size + 5) == "12345" + text_);
  // Why it was refused is no part of the file.
  answer = client.send(request);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body, "no such thing");
}

TEST_F(HttpFile, ADiskThatTakesNothingIsNoFaultOfTheServer) {
  HttpScript server{{.body = text_}};
  const Fd full(::open("/dev/full", O_WRONLY));
  HttpClient client;
  Request request{.url = server.url(), .into = full.get()};
  request.most_answer_bytes = std::int64_t(size);
  const auto answer = client.send(request);
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().what, testing::HasSubstr("No space left"));
}

TEST_F(HttpFile, IsSentNoFasterThanItMay) {
  HttpScript server{{}};
  HttpClient client;
  Request request = put(server.url());
  std::get<FileSlice>(request.body).size = 600'000;
  request.most_bytes_per_second = 300'000;
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(client.send(request));
  EXPECT_GT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(700));
}

TEST(HttpClient, NothingOfAnAddressIsShownButItsHost) {
  EXPECT_EQ(shown_host("https://hooks.slack.com/services/T0/B0/secret"), "hooks.slack.com");
  EXPECT_EQ(shown_host("http://me:secret@127.0.0.1:8080/x?token=secret"), "127.0.0.1:8080");
  EXPECT_EQ(shown_host("https://[::1]:1/"), "[::1]:1");
  EXPECT_EQ(shown_host("https://ntfy.sh"), "ntfy.sh");
  EXPECT_EQ(shown_host("secret"), "?");
  EXPECT_EQ(shown_host("secret/with/path"), "?");
  EXPECT_EQ(shown_host(""), "?");
  EXPECT_EQ(shown_host(std::string_view("http://a\0b/", 11)), "?");
}

}  // namespace
}  // namespace trainward::net
