#include "fake_daemon.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "common/os/sockets/unix_socket.hpp"

namespace trainward::ctl {

FakeDaemon::FakeDaemon(const std::filesystem::path& socket)
    : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const auto path = SocketPath::make(socket);
  if (!path) throw std::runtime_error(path.error().message());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path->text().c_str(), sizeof(address.sun_path) - 1);
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0) {
    throw std::runtime_error("the fake daemon cannot listen");
  }
  thread_ = std::thread([this] { serve(); });
}

FakeDaemon::~FakeDaemon() {
  ::shutdown(listener_.get(), SHUT_RDWR);  // accept() returns
  thread_.join();
}

void FakeDaemon::answers(const std::string& request, Canned canned) {
  const std::lock_guard lock(mutex_);
  canned_[request].push_back(std::move(canned));
}

std::vector<std::string> FakeDaemon::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeDaemon::serve() {
  for (;;) {
    const int connection = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    serve_one(connection);
  }
}

void FakeDaemon::serve_one(int connection) {
  Fd fd(connection);
  std::string request;
  char buffer[4096];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const auto got = ::recv(fd.get(), buffer, sizeof(buffer), 0);
    if (got <= 0) return;
    request.append(buffer, static_cast<std::size_t>(got));
  }
  const std::string line = request.substr(0, request.find(" HTTP/"));
  Canned canned{404, R"({"error":{"kind":"usage","what":"no such resource"}})", "", false};
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(line);
    if (const auto found = canned_.find(line); found != canned_.end()) {
      canned = found->second.front();
      if (found->second.size() > 1) found->second.erase(found->second.begin());
    }
    if (canned.silent) {
      held_.push_back(std::move(fd));
      return;
    }
  }
  const std::string answer =
      "HTTP/1.1 " + std::to_string(canned.status) +
      " -\r\nConnection: close\r\nContent-Length: " + std::to_string(canned.body.size()) + "\r\n" +
      canned.headers + "\r\n" + canned.body;
  for (std::size_t sent = 0; sent < answer.size();) {
    const auto put = ::send(fd.get(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (put <= 0) return;
    sent += static_cast<std::size_t>(put);
  }
}

}  // namespace trainward::ctl
