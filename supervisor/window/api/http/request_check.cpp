#include "supervisor/window/api/http/request_check.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/error.hpp>

#include "common/base/json/json.hpp"
#include "common/base/percent.hpp"
#include "common/base/text.hpp"

namespace trainward::api {
namespace {

namespace http = boost::beast::http;
using Refusal = tl::unexpected<Response>;

Response malformed(std::string what) {
  return error_response(400, {ErrorKind::usage, std::move(what), "",
                              "the API speaks HTTP/1.1; docs/api.md shows a request"});
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// What must not occur twice, since a proxy in front might believe another one than the last.
constexpr std::array once{http::field::host, http::field::origin, http::field::content_type,
                          http::field::authorization, http::field::content_length};

std::string wrong_headers(const Message& message) {
  for (const http::field field : once) {
    const auto found = message.equal_range(field);
    if (std::distance(found.first, found.second) < 2) continue;
    return "the request has more than one " + std::string(view(http::to_string(field)));
  }
  if (message.count("Sec-Fetch-Site") > 1) return "the request has more than one Sec-Fetch-Site";
  if (message.version() != 10 && message.count(http::field::host) == 0) {
    return "the request has no Host";
  }
  return {};
}

Requester requester_of(const Peer& peer) {
  if (!peer.user) return {};
  return {Role::operates, "uid " + std::to_string(*peer.user)};
}

}  // namespace

tl::expected<Request, Response> request_of(const Message& message, Peer peer) {
  const std::string_view target = view(message.target());
  if (message.version() != 10 && message.version() != 11) {
    return Refusal(malformed("the request is not HTTP/1.1"));
  }
  if (!target.starts_with('/')) return Refusal(malformed("the path does not begin with '/'"));
  if (auto wrong = wrong_headers(message); !wrong.empty()) {
    return Refusal(malformed(std::move(wrong)));
  }
  Request request;
  request.method = std::string(message.method_string());
  request.by = requester_of(peer);
  request.peer = std::move(peer);
  for (const auto& field : message) {
    request.headers[lower_case(view(field.name_string()))] = std::string(view(field.value()));
  }
  request.body = message.body();
  const auto mark = std::min(target.find('?'), target.size());
  const auto path = percent_decoded(target.substr(0, mark));
  if (!path) return Refusal(malformed("the path is not UTF-8, or has an invalid escape"));
  request.path = *path;
  auto query = percent_decoded_fields(target.substr(std::min(mark + 1, target.size())));
  if (!query) return Refusal(malformed("the query is not UTF-8, or has an invalid escape"));
  request.query = std::move(*query);
  if (!request.body.empty() && request.header("content-type").starts_with("application/json")) {
    if (auto document = parse_json(request.body, "the body"); !document) {
      return Refusal(malformed("the body is not JSON: " + document.error().what));
    }
  }
  return request;
}

std::optional<Response> refusal_of(const boost::beast::error_code& error) {
  if (error.category() != http::make_error_code(http::error::bad_method).category() ||
      error == http::error::end_of_stream) {
    return std::nullopt;
  }
  if (error == http::error::body_limit) {
    return error_response(413,
                          {ErrorKind::usage, "the request's body is longer than 64 KiB", "", ""});
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return error_response(431,
                          {ErrorKind::usage, "the request's header is longer than 8 KiB", "", ""});
  }
  return malformed("the request is not understood: " + error.message());
}

}  // namespace trainward::api
