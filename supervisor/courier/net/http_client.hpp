// One HTTP exchange with somebody else's server, by libcurl. The courier's threads and the restore
// of a checkpoint use it; nothing that supervises does.
//
// Addresses, headers and bodies may hold secrets: an Error names the host at most, and never says
// what a server answered. TLS is always verified, 1.2 or newer. Redirects are not followed unless
// asked for; then headers of the request stay behind when the host changes (but for Accept,
// Content-Type, Range and If-Range), none leads from https to http, and only GET, HEAD and what the
// server wants repeated (307, 308) or fetched (303) go on. Proxies as curl's users expect
// (HTTPS_PROXY, NO_PROXY, …), as is SSL_CERT_FILE, unless `Settings` names them.
//
// What is not idempotent (POST, PATCH) always gets a connection of its own: over one that was kept
// and has died, libcurl would send it again by itself, and nobody could tell.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::net {

struct Header {
  std::string name;
  std::string value;
};

// A part of a file that is open for reading, read by pread: its position does not matter, and a
// repetition begins where the first try began.
struct FileSlice {
  int descriptor = -1;  // borrowed
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

struct Request {
  std::string method = "GET";
  std::string url;
  std::vector<Header> headers = {};
  std::variant<std::monostate, std::string, FileSlice> body = {};
  // What is read of an answer's body, into memory or a file; more fails the exchange (kind
  // corrupt). Of an answer other than 2xx no more than 64 KiB are read, and the rest is left out.
  std::int64_t most_answer_bytes = 64 * 1024;
  bool cut_answer = false;  // also of a 2xx no more is read, and the rest is left out
  // Where the body of a 2xx goes instead of into memory: written by pwrite from `into_offset` on.
  std::optional<int> into = {};
  std::int64_t into_offset = 0;
  std::int64_t connect_ms = 5'000;
  std::int64_t total_ms = 20'000;  // 0: only `stall_ms` ends it
  // Fewer than 1,024 bytes a second for so long ends it.
  std::int64_t stall_ms = 60'000;
  std::int64_t most_bytes_per_second = 0;  // either way; 0: no limit
  int most_redirects = 0;                  // 0: an answer 3xx is an answer like others
  bool may_leave_host = true;              // else none is followed to another host
};

struct Answer {
  int status = 0;
  std::vector<Header> headers;  // names in lower case, of the last answer
  std::string body;             // empty when it went `into` a file
  // The first header of that name (in lower case); "" if there is no such header.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

struct Settings {
  std::string proxy = {};         // "" as the environment says
  std::string certificates = {};  // a file of those that are trusted; "" the system's
  std::string user_agent = "trainward";
};

// For one thread; keeps its connections.
class HttpClient {
 public:
  // A request for an end fails what is under way at once (kind transient).
  explicit HttpClient(Settings settings = {}, std::stop_token stop = {});
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Bytes of the body sent so far, or of a file received.
  using Progress = std::function<void(std::int64_t)>;

  // Any status is an answer. Kinds of errors: transient (no connection, cut, too slow, stopped),
  // permanent (an untrusted certificate, an invalid address), corrupt (an answer that is too long
  // or not HTTP). Whether a request whose answer was lost has been carried out is not
  // known: `request_was_sent()`.
  Result<Answer> send(const Request& request, const Progress& progress = {});

  // Of the exchange that failed last: whether all of the request had left, so that the server may
  // have carried it out.
  [[nodiscard]] bool request_was_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// "ntfy.sh", "127.0.0.1:8080": what may be shown of an address; "?" if it is not an address.
std::string shown_host(std::string_view url);

}  // namespace trainward::net
