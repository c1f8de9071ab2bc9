// A request as it comes over a connection: parsed, checked, guarded and routed. Whatever it is,
// only what stands in the table is called, by its own method, with names that are in the path; a
// request of a foreign page or for another host reaches nothing.
#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <set>
#include <string>

#include "common/base/utf8.hpp"
#include "require.hpp"
#include "supervisor/window/api/http/guard.hpp"
#include "supervisor/window/api/http/request_check.hpp"
#include "supervisor/window/api/http/wire.hpp"
#include "supervisor/window/api/routes/router.hpp"

namespace {

using namespace trainward;
namespace http = boost::beast::http;

struct Called {
  int times = 0;
  std::string method;
};

api::Handler router(Called& called) {
  std::vector<api::Route> routes;
  const auto add = [&](const char* method, const char* path, api::Role needs) {
    routes.push_back({method,
                      path,
                      {{.name = "after"}, {.name = "stream", .words = {"stdout", "stderr"}}},
                      [&called, method](const api::Asked& asked, const api::Respond& respond) {
                        ++called.times;
                        called.method = method;
                        if (asked.request().path.starts_with("/v1/programs/")) {
                          fuzz::require(!asked.name().empty(), "a star is a word");
                          fuzz::require(asked.name().find('/') == std::string::npos,
                                        "a star is one word");
                        }
                        respond(api::Response{});
                      },
                      needs});
  };
  add("GET", "/healthz", api::Role::nobody);
  add("GET", "/v1/programs", api::Role::viewer);
  add("GET", "/v1/programs/*/log", api::Role::viewer);
  add("POST", "/v1/programs/*/stop", api::Role::operates);
  return api::make_router(std::move(routes));
}

void serve(const api::Request& request) {
  Called called;
  int answers = 0;
  router(called)(request, [&](api::Response response) {
    ++answers;
    fuzz::require(response.status >= 200 && response.status < 600, "a status");
    fuzz::require(is_utf8(response.body), "UTF-8");
    api::name_instance(response, request.path);
    const std::string head = api::head_of(response, api::Framing::length, true);
    fuzz::require(head.find("\r\n\r\n") == head.size() - 4, "one header");
    fuzz::require((called.times == 1) == (response.status == 200 || response.status == 304),
                  "only a call is answered with 200");
  });
  fuzz::require(answers == 1, "one answer");
  fuzz::require(called.times <= 1, "at most one call");
  if (called.times == 0) return;
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  fuzz::require(called.method == method, "by its own method");
  if (called.method == "POST") {
    fuzz::require(request.by.role == api::Role::operates, "by who may");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  http::request_parser<http::string_body> parser;
  parser.header_limit(8 * 1024);
  parser.body_limit(64 * 1024);
  parser.eager(true);
  boost::beast::error_code error;
  const std::string text(fuzz::text_of(data, size));
  std::string_view rest = text;
  while (!error && !parser.is_done() && !rest.empty()) {
    const std::size_t used = parser.put(boost::asio::buffer(rest.data(), rest.size()), error);
    if (used == 0) break;
    rest.remove_prefix(used);
  }
  if (error) {
    if (const auto refusal = api::refusal_of(error)) {
      fuzz::require(refusal->status >= 400 && refusal->status < 500, "a refusal");
    }
    return 0;
  }
  if (!parser.is_done()) return 0;
  for (const bool unix_socket : {false, true}) {
    api::Peer peer;
    if (unix_socket) peer.user = 1000;
    auto request = api::request_of(parser.get(), peer);
    if (!request) {
      fuzz::require(request.error().status == 400, "malformed is 400");
      continue;
    }
    const auto refusal = api::Guard{}.refusal(*request);
    fuzz::require(!refusal || refusal->status == 403, "a guard refuses with 403");
    if (refusal) continue;
    const std::string site = request->header("sec-fetch-site");
    fuzz::require(site != "cross-site" && site != "same-site", "of no other site");
    for (const api::Role role : {api::Role::nobody, api::Role::viewer, api::Role::operates}) {
      request->by.role = role;
      serve(*request);
    }
  }
  return 0;
}
