#include "supervisor/window/api/http/http_server.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/base/json/json.hpp"
#include "server_fixture.hpp"
#include "supervisor/ctl/client/client.hpp"

namespace trainward::api {
namespace {

class HttpServerTest : public ServerTest {
 protected:
  std::string get(const std::string& target) {
    const auto reply =
        ctl::Client(socket_).request(ctl::Method::get, target, std::chrono::seconds(20));
    EXPECT_TRUE(reply.has_value()) << reply.error().error.message();
    return reply ? reply->body : "";
  }
  // A refusal with its reason as JSON.
  static void expect_refusal(const std::string& answer, int status) {
    EXPECT_EQ(status_of(answer), status) << answer;
    const auto body = parse_json(answer.substr(answer.find("\r\n\r\n") + 4), "the body");
    ASSERT_TRUE(body.has_value()) << body.error().message() << answer;
    EXPECT_FALSE(body->at("error").at("what").as_string().empty());
  }
  std::vector<Fd> askers(std::size_t count) {
    std::vector<Fd> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(connect());
      send(clients.back(), request("POST /wait"));
    }
    return clients;
  }
};

TEST_F(HttpServerTest, AnswersOverTheSocketWithTheQueryDecoded) {
  EXPECT_EQ(get("/v1/programs/my%20run/log?stream=stderr&offset=-5"),
            "GET /v1/programs/my run/log offset=-5 stream=stderr");
}

TEST_F(HttpServerTest, TheSocketIsForOwnerAndGroupOnly) {
  struct stat info {};
  ASSERT_EQ(::stat(socket_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0660U);
}

TEST_F(HttpServerTest, WhatIsNoRequestIsToldSoAndTheNextClientIsServed) {
  expect_refusal(ask("\x01\x02\xff garbage\r\n\r\n"), 400);
  expect_refusal(ask("GET /v1/version\r\n\r\n"), 400);
  expect_refusal(ask("GET /v1/version HTTP/0.9\r\n\r\n"), 400);
  expect_refusal(ask("GET /v1/version HTTP/1.1\r\n\r\n"), 400);
  expect_refusal(ask(request("GET v1")), 400);
  expect_refusal(ask(request("GET /v1/programs/%ff%fe/why")), 400);
  expect_refusal(ask(request("GET /v1/programs/%4/why")), 400);
  expect_refusal(ask(request("GET /v1/programs?a=%zz")), 400);
  expect_refusal(ask(request("POST /v1/x", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") +
                     "0\r\n\r\n"),
                 400);
  expect_refusal(ask(request("GET /", "X: " + std::string(20'000, 'x') + "\r\n")), 431);
  expect_refusal(ask(request("POST /v1/x", "Content-Length: 99999999\r\n")), 413);
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
}

TEST_F(HttpServerTest, ARequestThatAWebPageMadeIsRefused) {
  const auto post = [this](const std::string& header) {
    return status_of(ask("POST /v1/shutdown HTTP/1.1\r\n" + header + "\r\n"));
  };
  expect_refusal(ask("POST /v1/shutdown HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
  EXPECT_EQ(post("Host: localhost.evil.example\r\n"), 403);
  EXPECT_EQ(post("Host: localhost:80.evil.example\r\n"), 403);
  EXPECT_EQ(post("Host: localhost\r\nOrigin: http://evil.example\r\n"), 403);
  EXPECT_EQ(post("Host: localhost\r\nOrigin: null\r\n"), 403);
  EXPECT_EQ(post("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"), 403);
  EXPECT_EQ(post("Host: localhost\r\nSec-Fetch-Site: same-site\r\n"), 403);
  EXPECT_EQ(post("Host: localhost\r\nHost: evil.example\r\n"), 400);
}

TEST_F(HttpServerTest, WhatPeopleTypeForThisMachineIsServed) {
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080"}) {
    EXPECT_EQ(status_of(ask("GET / HTTP/1.1\r\nConnection: close\r\nHost: " + std::string(host) +
                            "\r\n\r\n")),
              200)
        << host;
  }
  EXPECT_EQ(status_of(ask(request("GET /", "Sec-Fetch-Site: none\r\n"))), 200);
  EXPECT_EQ(status_of(ask("GET / HTTP/1.0\r\n\r\n")), 200);
}

TEST_F(HttpServerTest, ARequestThatIsNotFinishedInTimeIs408) {
  on_loop([this] { start({{}, {std::chrono::milliseconds(30), std::chrono::seconds(15)}}); });
  const Fd silent = connect();
  const Fd slow = connect();
  send(slow, "GET /v1/version HT");
  expect_refusal(receive(silent), 408);
  expect_refusal(receive(slow), 408);
}

TEST_F(HttpServerTest, AClientThatSaysNothingHoldsNobodyUp) {
  const Fd silent = connect();
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
}

TEST_F(HttpServerTest, IdleClientsMakeRoomTheOldestFirst) {
  std::vector<Fd> idle;
  for (int i = 0; i < 64; ++i) idle.push_back(connect());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get("/v1/version"), "GET /v1/version");
  expect_refusal(receive(idle.front()), 503);
  // The first of the three took its place and gave it back.
  send(idle.back(), request("GET /still"));
  EXPECT_EQ(status_of(receive(idle.back())), 200);
}

TEST_F(HttpServerTest, BeyondItsPlacesAClientIsToldAndTheCommandLineToo) {
  const auto clients = askers(64);
  wait_until([this] { return waiting() == 64; });
  const std::string refused = ask(request("GET /v1/version"));
  expect_refusal(refused, 503);
  EXPECT_NE(refused.find("Retry-After: 1\r\n"), std::string::npos) << refused;
  const auto reply =
      ctl::Client(socket_).request(ctl::Method::get, "/v1/x", std::chrono::seconds(20));
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().trouble, ctl::Trouble::answered);
  EXPECT_EQ(reply.error().status, 503);
  EXPECT_EQ(reply.error().error.what, "64 clients are connected already");
}

TEST_F(HttpServerTest, WhoVanishesWhileItWaitsIsWaitedForByNobody) {
  std::vector<Fd> clients = askers(64);
  wait_until([this] { return waiting() == 64; });
  const std::vector<Respond> late = on_loop([this] { return waiting_; });
  clients.clear();
  wait_until([this] { return waiting() == 0; });
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
  on_loop([&late] {
    for (const Respond& respond : late) respond(Response{});
  });
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
}

TEST_F(HttpServerTest, OneThatHasOnlyEndedWhatItSendsGetsItsAnswer) {
  const Fd client = connect();
  send(client, request("POST /wait"));
  ASSERT_EQ(::shutdown(client.get(), SHUT_WR), 0);
  wait_until([this] { return waiting() == 1; });
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
  EXPECT_EQ(waiting(), 1U);
  on_loop([this] { waiting_.front()(Response{}); });
  EXPECT_EQ(status_of(receive(client)), 200);
}

TEST_F(HttpServerTest, AnswersThatWaitAreForgottenWithTheServer) {
  const auto clients = askers(3);
  wait_until([this] { return waiting() == 3; });
  on_loop([this] { server_.reset(); });
  EXPECT_EQ(waiting(), 0U);
  EXPECT_EQ(receive(clients.front()), "");
}

// As another user; only root can become one.
TEST_F(HttpServerTest, AnotherUserHasItsSixteenAndTheOwnerIsServed) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(socket_.c_str(), 0666), 0);
  int told[2];
  ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(1);
    std::vector<Fd> clients = askers(16);
    clients.push_back(connect());
    const std::string refused = receive(clients.back());
    const char done = status_of(refused) == 503 ? 'y' : 'n';
    (void)!::write(told[1], &done, 1);
    ::pause();
    ::_exit(0);
  }
  char done = 0;
  ASSERT_EQ(::read(told[0], &done, 1), 1);
  EXPECT_EQ(done, 'y');
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
  EXPECT_EQ(waiting(), 16U);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  wait_until([this] { return waiting() == 0; });
}

// The lowest number that is free: with that as the limit no descriptor can be had any more.
rlim_t first_free_descriptor() {
  const Fd probe(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return static_cast<rlim_t>(probe.get());
}

TEST_F(HttpServerTest, WithoutDescriptorsClientsAreToldAndServedAgainLater) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<Fd> clients;
  on_loop([&] {
    for (int i = 0; i < 4; ++i) clients.push_back(connect());
    rlimit none = before;
    none.rlim_cur = first_free_descriptor();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  });
  for (const Fd& client : clients) expect_refusal(receive(client), 503);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  // Who comes while the others are being told is told as well.
  wait_until([this] { return status_of(ask(request("GET /v1/version"))) == 200; });
}

TEST_F(HttpServerTest, AtTheEndItRemovesItsOwnSocketOnly) {
  on_loop([this] { server_.reset(); });
  EXPECT_FALSE(std::filesystem::exists(socket_));
  on_loop([this] { start({}); });
  std::filesystem::remove(socket_);
  std::ofstream(socket_) << "precious";
  on_loop([this] { server_.reset(); });
  EXPECT_TRUE(std::filesystem::exists(socket_));
}

TEST_F(HttpServerTest, WhatIsNoDeadSocketIsNeverReplaced) {
  const auto listen = [this](const std::filesystem::path& path) {
    return on_loop([&] {
      auto server = HttpServer::listen(context_, path, [](const Request&, const Respond&) {}, {});
      return server ? "" : server.error().message();
    });
  };
  const auto file = folder_.path() / "p.txt";
  std::ofstream(file) << "precious";
  EXPECT_NE(listen(file).find("a file lies where the socket is to be made"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(file), 8U);
  EXPECT_NE(listen(socket_).find("a process that lives holds this socket"), std::string::npos);
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
}

}  // namespace
}  // namespace trainward::api
