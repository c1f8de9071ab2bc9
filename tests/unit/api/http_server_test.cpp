#include "supervisor/api/http_server.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstring>
#include <thread>

#include "common/fd.hpp"
#include "supervisor/ctl/client.hpp"
#include "temporary_folder.hpp"

namespace trainward::api {
namespace {

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server =
        HttpServer::listen(context_, socket_, [](const Request& request, Respond respond) {
          Response response;
          response.body = request.method + " " + request.path;
          for (const auto& [key, value] : request.query) response.body += " " + key + "=" + value;
          respond(std::move(response));
        });
    ASSERT_TRUE(server.has_value()) << server.error().message();
    server_ = std::move(*server);
    thread_ = std::thread([this] { context_.run(); });
  }
  void TearDown() override {
    work_.reset();
    context_.stop();
    thread_.join();
  }

  std::string get(const std::string& target) {
    const auto reply =
        ctl::Client(socket_).request(ctl::Method::get, target, std::chrono::seconds(20));
    EXPECT_TRUE(reply.has_value()) << reply.error().error.message();
    return reply ? reply->body : "";
  }

  Fd connect() {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  TemporaryFolder folder_;
  std::filesystem::path socket_ = folder_.path() / "api.sock";
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
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

TEST_F(HttpServerTest, NoiseAndHugeHeadersAreCutOffAndTheNextClientIsServed) {
  for (const std::string& noise :
       {std::string("\x01\x02\xff garbage\r\n\r\n"),
        "GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'),
        std::string("POST /v1/x HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n")}) {
    const Fd fd = connect();
    (void)::send(fd.get(), noise.data(), noise.size(), MSG_NOSIGNAL);
    std::string rest(4096, '\0');
    while (::recv(fd.get(), rest.data(), rest.size(), 0) > 0) {
    }
  }
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
}

TEST_F(HttpServerTest, AClientThatSaysNothingHoldsNobodyUp) {
  const Fd silent = connect();
  EXPECT_EQ(get("/v1/version"), "GET /v1/version");
}

}  // namespace
}  // namespace trainward::api
