// The daemon's API over its Unix socket, here or on another machine: one request, one answer,
// within a deadline.
//
// What comes back is not trusted: bodies and headers are bounded, JSON is parsed with limits.
// Thread-safe: every request has its own connection.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::ctl {

namespace remote {
class Connection;
}

enum class Trouble {
  missing,   // no socket: no daemon was started here
  refused,   // a socket nobody listens on: the daemon died; or a machine that cannot be reached
  denied,    // no permission
  silent,    // no answer in time
  garbled,   // an answer that is not ours
  answered,  // the daemon says no
};

struct ClientError {
  Trouble trouble = Trouble::garbled;
  Error error;
  long status = 0;  // of HTTP, when there was an answer
};

// What it left behind on this machine is looked at instead.
constexpr bool nobody_answers(const ClientError& error) {
  return error.trouble == Trouble::missing || error.trouble == Trouble::refused ||
         error.trouble == Trouble::silent;
}

template <typename T>
using Reply = tl::expected<T, ClientError>;

struct Response {
  long status = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // names in lower case
};

enum class Method { get, post };

class Client {
 public:
  explicit Client(std::filesystem::path socket) : socket_(std::move(socket)) {}
  // Through ssh; the deadline of a request begins when there is a connection.
  explicit Client(std::shared_ptr<remote::Connection> remote) : remote_(std::move(remote)) {}

  // `target` is "/v1/…", already percent-encoded. A status other than 200 is an error.
  [[nodiscard]] Reply<Response> request(Method method, std::string_view target,
                                        std::chrono::milliseconds deadline) const;
  [[nodiscard]] Reply<json::value> document(Method method, std::string_view target,
                                            std::chrono::milliseconds deadline) const;

 private:
  std::filesystem::path socket_;
  std::shared_ptr<remote::Connection> remote_;  // null: the socket of this machine
};

}  // namespace trainward::ctl
