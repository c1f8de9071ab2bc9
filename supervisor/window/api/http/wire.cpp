#include "supervisor/window/api/http/wire.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <boost/beast/http/status.hpp>
#include <ctime>
#include <utility>

namespace trainward::api {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> for_browsers{{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
}};

void add(std::string& head, std::string_view name, std::string_view value) {
  head += name;
  head += ": ";
  for (const char c : value) {
    head += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  head += "\r\n";
}

std::string date() {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

std::string head_of(const Response& response, Framing framing, bool keep_open) {
  const auto status = static_cast<unsigned>(response.status);
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n", status, std::string_view(reason.data(), reason.size()));
  add(head, "Date", date());
  for (const auto& [name, value] : for_browsers) {
    if (!response.headers.contains(std::string(name))) add(head, name, value);
  }
  for (const auto& [name, value] : response.headers) add(head, name, value);
  const bool has_body = status != 304 && status != 204;
  if (has_body) add(head, "Content-Type", response.content_type);
  if (has_body && framing == Framing::length) {
    add(head, "Content-Length", std::to_string(response.body.size()));
  }
  if (framing == Framing::chunked) add(head, "Transfer-Encoding", "chunked");
  if (!keep_open) add(head, "Connection", "close");
  return head + "\r\n";
}

std::string chunk_of(std::string_view piece) {
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

}  // namespace trainward::api
