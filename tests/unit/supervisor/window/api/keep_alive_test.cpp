// A connection that stays open: one request after the other, and every listener for itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "server_fixture.hpp"
#include "supervisor/ctl/client/client.hpp"
#include "supervisor/window/api/http/http_session.hpp"

namespace trainward::api {
namespace {

class KeepAlive : public ServerTest {
 protected:
  static std::string get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }
  static std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }
  std::unique_ptr<HttpServer> listen_tcp() {
    return on_loop([this] {
      auto server = HttpServer::listen_tcp(context_, "127.0.0.1", 0,
                                           [this](const Request& request, const Respond& respond) {
                                             if (request.path == "/wait")
                                               return waiting_.push_back(respond);
                                             Response response;
                                             response.body =
                                                 request.peer.address + "/" + request.by.name;
                                             respond(std::move(response));
                                           },
                                           {});
      EXPECT_TRUE(server.has_value());
      return std::move(*server);
    });
  }
};

TEST_F(KeepAlive, PipelinedRequestsAreAnsweredInTheirOrderHoweverTheyAreCut) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    std::string sent;
    std::vector<std::string> expected;
    const int requests = 1 + static_cast<int>(random() % 30);
    for (int i = 0; i < requests; ++i) {
      const std::string path = "/" + std::to_string(random() % 1000);
      const bool post = random() % 3 == 0;
      const std::string body(post ? random() % 2000 : 0, 'b');
      sent += (post ? "POST " : "GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n" +
              (post ? "Content-Length: " + std::to_string(body.size()) + "\r\n" : "") +
              (i + 1 == requests ? "Connection: close\r\n" : "") + "\r\n" + body;
      expected.push_back((post ? "POST " : "GET ") + path + (body.empty() ? "" : " body=" + body));
    }
    const Fd client = connect();
    std::thread writer([&] {
      for (std::size_t at = 0; at < sent.size();) {
        const std::size_t size = std::min<std::size_t>(1 + random() % 700, sent.size() - at);
        send(client, sent.substr(at, size));
        at += size;
      }
    });
    std::string got = receive(client);
    writer.join();
    for (const std::string& body : expected) {
      const auto at = got.find("\r\n\r\n" + body);
      ASSERT_NE(at, std::string::npos) << body;
      EXPECT_EQ(count(got.substr(0, at), "\r\n\r\n"), 0U) << "in their order";
      got = got.substr(at + 4 + body.size());
    }
    EXPECT_EQ(got, "");
  }
}

TEST_F(KeepAlive, ARequestThatComesMeanwhileWaitsItsTurn) {
  const Fd client = connect();
  send(client, get("/wait") + get("/second"));
  wait_until([this] { return waiting() == 1; });
  on_loop([this] {
    Response first;
    first.body = "first";
    waiting_.front()(std::move(first));
    waiting_.front()(Response{});  // once more: nobody waits any longer for it
  });
  const std::string both = receive_until(client, "GET /second");
  EXPECT_LT(both.find("first"), both.find("GET /second"));
}

TEST_F(KeepAlive, TheOldVersionAndWhoWantsItAreClosed) {
  EXPECT_NE(ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").find("Connection: close"),
            std::string::npos);
  EXPECT_NE(ask(get("/a").substr(0, get("/a").size() - 2) + "Connection: close\r\n\r\n")
                .find("Connection: close"),
            std::string::npos);
}

TEST_F(KeepAlive, WhoRestsTooLongIsClosedWithoutAWord) {
  on_loop([this] { start({{}, {std::chrono::seconds(10), std::chrono::milliseconds(30)}}); });
  const Fd client = connect();
  send(client, get("/a"));
  const std::string all = receive(client);
  EXPECT_EQ(count(all, "HTTP/1.1"), 1U) << all;
}

TEST_F(KeepAlive, AConnectionServesABoundedNumber) {
  const Fd client = connect();
  std::string all;
  std::thread reader([&] { all = receive(client); });
  for (int i = 0; i < Session::most_requests + 5; ++i) send(client, get("/a"));
  reader.join();
  EXPECT_EQ(count(all, "HTTP/1.1 200"), static_cast<std::size_t>(Session::most_requests));
}

TEST_F(KeepAlive, HeadIsGetWithoutItsBody) {
  const Fd client = connect();
  send(client, "HEAD /abc HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/next"));
  const std::string both = receive_until(client, "GET /next");
  EXPECT_NE(both.find("Content-Length: 9\r\n"), std::string::npos) << both;
  EXPECT_EQ(both.find("HEAD /abc"), std::string::npos) << both;
}

TEST_F(KeepAlive, EveryAnswerTellsBrowsersToTrustItWithNothing) {
  for (const std::string& sent :
       {request("GET /"), request("POST /", "Origin: http://evil.test\r\n"),
        std::string("rubbish\r\n\r\n"), request("OPTIONS /", "X-Trainward: 1\r\n"),
        request("GET /", "X: " + std::string(20'000, 'x') + "\r\n")}) {
    const std::string answer = ask(sent);
    EXPECT_NE(answer.find("Content-Security-Policy: default-src 'none'; script-src 'self'"),
              std::string::npos)
        << answer;
    for (const char* header :
         {"X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n",
          "Cross-Origin-Opener-Policy: same-origin\r\n",
          "Cross-Origin-Resource-Policy: same-origin\r\n"}) {
      EXPECT_NE(answer.find(header), std::string::npos) << header << answer;
    }
    EXPECT_EQ(answer.find("Access-Control-"), std::string::npos);
  }
}

TEST_F(KeepAlive, ABodyThatSaysItIsJsonMustBe) {
  const auto post = [this](const std::string& body) {
    return status_of(ask(request("POST /", "Content-Type: application/json\r\nContent-Length: " +
                                               std::to_string(body.size()) + "\r\n") +
                         body));
  };
  EXPECT_EQ(post("{}"), 200);
  EXPECT_EQ(post(""), 200);
  EXPECT_EQ(post("{"), 400);
}

TEST_F(KeepAlive, OverTcpNobodyIsKnownAndTheAddressIs) {
  auto server = listen_tcp();
  const Fd client = connect_tcp(server->port());
  send(client, request("GET /"));
  const std::string answer = receive(client);
  EXPECT_TRUE(answer.ends_with("127.0.0.1/")) << answer;
  on_loop([&] { server.reset(); });
}

TEST_F(KeepAlive, ClientsOfOneListenerTakeNoPlaceOfAnother) {
  auto server = listen_tcp();
  std::vector<Fd> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(connect_tcp(server->port()));
    send(clients.back(), i % 2 == 0 ? request("GET /wait") : "GET /slow HT");
  }
  wait_until([this] { return waiting() >= 40; });
  for (int i = 0; i < 20; ++i) {
    const auto reply =
        ctl::Client(socket_).request(ctl::Method::get, "/v1/x", std::chrono::seconds(20));
    EXPECT_TRUE(reply.has_value());
  }
  on_loop([&] { server.reset(); });
}

TEST_F(KeepAlive, ASocketOfTcpThatWasHandedOverIsServed) {
  auto first = listen_tcp();
  const std::uint16_t port = first->port();
  const Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listening.get(), 8), 0);
  auto server = on_loop([&] {
    return std::move(*HttpServer::adopt(
        context_, listening.get(),
        [](const Request&, const Respond& respond) { respond(Response{}); }, {}));
  });
  EXPECT_NE(server->port(), port);
  const Fd client = connect_tcp(server->port());
  send(client, request("GET /"));
  EXPECT_EQ(status_of(receive(client)), 200);
  on_loop([&] {
    server.reset();
    first.reset();
  });
}

TEST_F(KeepAlive, AStreamComesInPiecesUntilItEnds) {
  const Fd client = connect();
  send(client, get("/stream"));
  EXPECT_NE(receive_until(client, "first;\r\n").find("Transfer-Encoding: chunked"),
            std::string::npos);
  on_loop([this] { EXPECT_TRUE(pipes_.front()->send("second;")); });
  EXPECT_EQ(receive_until(client, ";\r\n"), "7\r\nsecond;\r\n");
  on_loop([this] { pipes_.front()->end(); });
  EXPECT_EQ(receive(client), "0\r\n\r\n");
}

TEST_F(KeepAlive, WhoLeavesItsStreamIsNoticed) {
  Fd client = connect();
  send(client, get("/stream"));
  receive_until(client, "first;\r\n");
  client.reset();
  wait_until([this] { return on_loop([this] { return !pipes_.front()->open(); }); });
}

TEST_F(KeepAlive, ASlowReaderIsClosedWhileAnotherIsAnswered) {
  const Fd slow = connect();
  const Fd other = connect();
  send(slow, get("/stream"));
  send(other, get("/stream"));
  receive_until(slow, "first;\r\n");
  receive_until(other, "first;\r\n");
  const std::string piece(10'000, 'x');
  bool open = true;
  for (int i = 0; open && i < 10'000; ++i) {
    open = on_loop([&] { return pipes_.front()->send(piece); });
  }
  EXPECT_FALSE(open);
  on_loop([this] { EXPECT_TRUE(pipes_.back()->send("still;")); });
  EXPECT_EQ(receive_until(other, "still;\r\n"), "6\r\nstill;\r\n");
  EXPECT_EQ(status_of(ask(request("GET /"))), 200);
  EXPECT_EQ(receive(slow).find("0\r\n\r\n"), std::string::npos) << "it was cut off, not ended";
}

}  // namespace
}  // namespace trainward::api
