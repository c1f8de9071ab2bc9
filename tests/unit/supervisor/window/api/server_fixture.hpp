// The server on a loop of its own, with a handler that answers at once or when it is told to, and
// clients that write bytes.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "common/os/fd.hpp"
#include "supervisor/window/api/http/http_pipe.hpp"
#include "supervisor/window/api/http/http_server.hpp"
#include "temporary_folder.hpp"

namespace trainward::api {

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    start({});
    thread_ = std::thread([this] { context_.run(); });
  }
  void TearDown() override {
    work_.reset();
    context_.stop();
    thread_.join();
    server_.reset();
  }
  void start(HttpServer::Options options) {
    server_.reset();
    auto server = HttpServer::listen(
        context_, socket_,
        [this](const Request& request, const Respond& respond) { handle(request, respond); },
        std::move(options));
    ASSERT_TRUE(server.has_value()) << server.error().message();
    server_ = std::move(*server);
  }

  // On the loop's thread, awaited.
  template <typename Work>
  auto on_loop(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    boost::asio::post(context_, [&task] { task(); });
    return result.get();
  }
  std::size_t waiting() {
    return on_loop([this] {
      std::erase_if(waiting_, [](const Respond& respond) { return !respond.wanted(); });
      return waiting_.size();
    });
  }
  template <typename Condition>
  static void wait_until(Condition condition) {
    while (!condition()) std::this_thread::yield();
  }

  [[nodiscard]] Fd connect() const {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  static void send(const Fd& fd, const std::string& text) {
    (void)::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  [[nodiscard]] static Fd connect_tcp(std::uint16_t port) {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  // Until it ends like this, or the other side ends it.
  static std::string receive_until(const Fd& fd, const std::string& ending) {
    std::string all;
    for (char c = 0; !all.ends_with(ending) && ::recv(fd.get(), &c, 1, 0) == 1;) all += c;
    return all;
  }
  // Until the other side ends it.
  static std::string receive(const Fd& fd) {
    std::string all;
    char part[4096];
    for (ssize_t got = 0; (got = ::recv(fd.get(), part, sizeof(part), 0)) > 0;) {
      all.append(part, static_cast<std::size_t>(got));
    }
    return all;
  }
  [[nodiscard]] std::string ask(const std::string& text) const {
    const Fd fd = connect();
    send(fd, text);
    return receive(fd);
  }
  static std::string request(const std::string& line, const std::string& more = "") {
    return line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + "\r\n";
  }
  static int status_of(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
  }

  TemporaryFolder folder_;
  std::filesystem::path socket_ = folder_.path() / "api.sock";
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::vector<Respond> waiting_;              // of the loop's thread
  std::vector<std::shared_ptr<Pipe>> pipes_;  // of those who asked for /stream; the same
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;

 private:
  void handle(const Request& request, const Respond& respond) {
    if (request.path == "/wait") return waiting_.push_back(respond);
    if (request.path == "/stream") {
      Response response;
      response.body = "first;";
      response.pipe = std::make_shared<Pipe>();
      pipes_.push_back(response.pipe);
      return respond(std::move(response));
    }
    Response response;
    response.body = request.method + " " + request.path;
    if (!request.body.empty()) response.body += " body=" + request.body;
    for (const auto& [key, value] : request.query) response.body += " " + key + "=" + value;
    respond(std::move(response));
  }
};

}  // namespace trainward::api
