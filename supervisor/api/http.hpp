// A request and its answer, without the library that carries them.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json.hpp"
#include "supervisor/api/listener.hpp"

namespace trainward::api {

struct Request {
  std::string method;  // GET, POST
  std::string path;    // decoded, without the query
  std::map<std::string, std::string> query;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::map<std::string, std::string> headers;
  std::string body;
};

using Respond = Listener<Response>;
using Handler = std::function<void(const Request&, Respond)>;

// Always valid UTF-8, whatever bytes the texts in it are.
Response json_response(const json::value& value, int status = 200);
// {"error": {"kind", "what", "where", "hint"}}
Response error_response(int status, const Error& error);

}  // namespace trainward::api
