#include "supervisor/api/request_check.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/error.hpp>
#include <charconv>

#include "common/base/utf8.hpp"

namespace trainward::api {
namespace {

namespace http = boost::beast::http;
using Refusal = tl::unexpected<Response>;

Response malformed(std::string what) {
  return error_response(400, {ErrorKind::usage, std::move(what), "",
                              "the API speaks HTTP/1.1; docs/api.md shows a request"});
}

Response forbidden(std::string what, std::string where, std::string hint) {
  return error_response(403,
                        {ErrorKind::usage, std::move(what), std::move(where), std::move(hint)});
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Nothing when an escape is incomplete, or when the whole is not UTF-8.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned value = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value, 16);
    if (digits.size() != 2 || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    plain += static_cast<char>(value);
    i += 2;
  }
  if (!is_utf8(plain)) return std::nullopt;
  return plain;
}

// "localhost", "localhost:8080": what a person types to reach a socket on this machine. A page
// that had its own name point here (DNS rebinding) says that name.
bool is_this_machine(std::string_view host) {
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view port = host.substr(name.size());
    if (port.empty()) return true;
    return port[0] == ':' && port.find_first_not_of("0123456789", 1) == std::string_view::npos;
  }
  return false;
}

std::optional<Response> stranger(const Message& message) {
  if (const auto origin = message.find(http::field::origin); origin != message.end()) {
    return forbidden("a request of a web page", std::string(origin->value()),
                     "requests with an `Origin` are refused");
  }
  const auto site = message.find("Sec-Fetch-Site");
  if (site != message.end() && site->value() != "same-origin" && site->value() != "none") {
    return forbidden("a request of a web page", std::string(site->value()),
                     "requests from another site are refused");
  }
  const auto hosts = message.equal_range(http::field::host);
  const auto count = std::distance(hosts.first, hosts.second);
  if (count > 1) return malformed("the request has more than one Host");
  if (count == 0) {
    if (message.version() == 10) return std::nullopt;
    return malformed("the request has no Host");
  }
  if (is_this_machine(view(hosts.first->value()))) return std::nullopt;
  return forbidden("a request for another host", std::string(hosts.first->value()),
                   "ask for http://localhost/");
}

}  // namespace

tl::expected<Request, Response> request_of(const Message& message) {
  const std::string_view target = view(message.target());
  if (message.version() != 10 && message.version() != 11) {
    return Refusal(malformed("the request is not HTTP/1.1"));
  }
  if (!target.starts_with('/')) return Refusal(malformed("the path does not begin with '/'"));
  if (auto refused = stranger(message)) return Refusal(std::move(*refused));
  Request request;
  request.method = std::string(message.method_string());
  const auto mark = std::min(target.find('?'), target.size());
  const auto path = decoded(target.substr(0, mark));
  if (!path) return Refusal(malformed("the path is not UTF-8, or has an escape that is none"));
  request.path = *path;
  std::string_view query = target.substr(std::min(mark + 1, target.size()));
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const auto equals = std::min(pair.find('='), pair.size());
    const auto key = decoded(pair.substr(0, equals));
    const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!key || !value) {
      return Refusal(malformed("the query is not UTF-8, or has an escape that is none"));
    }
    request.query[*key] = *value;
    query.remove_prefix(std::min(end + 1, query.size()));
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
