// A request and its answer, without the library that carries them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/window/api/http/listener.hpp"

namespace trainward::api {

// What somebody may do. A viewer reads; an operator also starts, stops and changes.
enum class Role : std::uint8_t { nobody, viewer, operates };

// The other end of a connection, as the kernel tells it.
struct Peer {
  std::optional<uid_t> user;  // over the Unix socket
  std::string address;        // over TCP: "127.0.0.1", "::1"
  // Over TCP, from this machine: whose process it is. Nothing where the kernel does not say.
  std::optional<uid_t> sender = {};
};

// Who asks. `name` is what events say of it: "uid 1000", "token anna".
struct Requester {
  Role role = Role::nobody;
  std::string name;
};

struct Request {
  std::string method;  // GET, POST
  std::string path;    // decoded, without the query
  std::map<std::string, std::string> query = {};
  std::map<std::string, std::string> headers = {};  // names in lower case; of several the last
  std::string body = {};
  Peer peer = {};
  Requester by = {};

  // "" where it was not sent.
  [[nodiscard]] std::string header(const std::string& lower_case_name) const;
};

class Pipe;

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers = {};
  std::string body = {};
  // What follows the body, piece by piece as it comes (pipe.hpp); none: the body is all.
  std::shared_ptr<Pipe> pipe = nullptr;
};

using Respond = Listener<Response>;
using Handler = std::function<void(const Request&, Respond)>;

// Always valid UTF-8, whatever bytes the texts in it are.
Response json_response(const json::value& value, int status = 200);
// A problem document (RFC 9457): {"type", "title", "status", "detail", "error": {"kind", "what",
// "where", "hint"}}. What serves the connection adds "instance", the path that was asked for.
Response error_response(int status, const Error& error);
// The same, with the status that the error comes to: 503 and a word when to try again where that
// helps, else 500. `usage` is the status of kind usage, which is said of a thing that does not
// exist where one was named (404), and of a wrong use otherwise (400).
Response failed(const Error& error, int usage);
// Adds "instance" to a problem document; leaves every other response as it is.
void name_instance(Response& response, const std::string& path);

}  // namespace trainward::api
