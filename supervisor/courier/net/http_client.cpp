#include "supervisor/courier/net/http_client.hpp"

#include <curl/curl.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <ctime>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/courier/net/address.hpp"
#include "supervisor/courier/net/exchange.hpp"
#include "supervisor/courier/net/transfer_error.hpp"
#include "supervisor/courier/net/trusted.hpp"

namespace trainward::net {
namespace {

using Clock = std::chrono::steady_clock;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// Encryption writes to sockets that may have been closed, without a way to say that no signal is
// wanted. Whatever came of it is taken back before the thread goes on.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;
  ~NoBrokenPipe() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now{};
    while (::sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

bool is_token(std::string_view text) {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

// A value with a line end would be another header, or another request.
bool is_value(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

// What the next host may see of a request's headers: what it wants to have, nothing of who asks.
bool may_travel(std::string_view name) {
  constexpr std::array<std::string_view, 4> harmless = {"accept", "content-type", "if-range",
                                                        "range"};
  return std::find(harmless.begin(), harmless.end(), lower_case(name)) != harmless.end();
}

// libcurl asks before it sends a body whether that is wanted, and waits a second where a server
// does not answer: only worth it where the body takes longer.
constexpr std::int64_t asked_before = 1'000'000;

Result<Headers> header_list(const Request& request, std::int64_t body_size) {
  Headers list(nullptr, &curl_slist_free_all);
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) return false;
    (void)list.release();
    list.reset(longer);
    return true;
  };
  bool has_type = false;
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name) || !is_value(value)) {
      return fail(ErrorKind::usage, "a header of the request has characters that it may not have",
                  shown_host(request.url), "see that a token is on one line, without spaces");
    }
    has_type = has_type || lower_case(name) == "content-type";
    if (!add(value.empty() ? name + ";" : name + ": " + value)) {
      return fail(ErrorKind::transient, "no memory for the exchange");
    }
  }
  // libcurl would call it a form.
  if (!has_type && !add("Content-Type:")) {
    return fail(ErrorKind::transient, "no memory for the exchange");
  }
  if (body_size <= asked_before && !add("Expect:")) {
    return fail(ErrorKind::transient, "no memory for the exchange");
  }
  return list;
}

// Whether the server may carry it out twice without harm, so that libcurl may send it again by
// itself when a connection that was kept has died.
bool is_idempotent(std::string_view method) {
  constexpr std::array<std::string_view, 5> methods = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"};
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

}  // namespace

std::string_view Answer::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const Header& header) { return header.name == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

struct HttpClient::Impl {
  using Multi = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;
  using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

  Impl(Settings settings_, std::stop_token stop_)
      : settings(std::move(settings_)),
        trusted(trusted_certificates(settings.certificates)),
        stop(std::move(stop_)) {
    // Once a process; libcurl wants it before its first use.
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready != CURLE_OK) return;
    multi.reset(curl_multi_init());
    easy.reset(curl_easy_init());
    if (multi) curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, 4L);
  }

  Result<Answer> send(Request request, const Progress& progress);
  Result<Answer> exchange(const Request& request, const Progress& progress,
                          Clock::time_point began);
  void prepare(const Request& request, const Exchange& exchange, curl_slist* headers,
               Clock::time_point began) const;
  CURLcode transfer() const;
  [[nodiscard]] bool all_has_left(const Exchange& exchange) const;

  Settings settings;
  Trusted trusted;
  std::stop_token stop;
  Multi multi{nullptr, &curl_multi_cleanup};
  Easy easy{nullptr, &curl_easy_cleanup};
  bool was_sent = false;
};

void HttpClient::Impl::prepare(const Request& request, const Exchange& exchange,
                               curl_slist* headers, Clock::time_point began) const {
  CURL* handle = easy.get();
  const auto number = [handle](CURLoption option, std::int64_t value) {
    curl_easy_setopt(handle, option, static_cast<long>(value));
  };
  const auto text = [handle](CURLoption option, const std::string& value) {
    if (!value.empty()) curl_easy_setopt(handle, option, value.c_str());
  };
  text(CURLOPT_URL, request.url);
  text(CURLOPT_PROTOCOLS_STR, "http,https");
  number(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  number(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  number(CURLOPT_NOSIGNAL, 1);
  number(CURLOPT_TCP_KEEPALIVE, 1);
#if LIBCURL_VERSION_NUM >= 0x075700
  // A name server that is silent holds nobody up longer than `connect_ms`.
  number(CURLOPT_QUICK_EXIT, 1);
#endif
  text(CURLOPT_PROXY, settings.proxy);
  number(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
  text(CURLOPT_CAINFO, trusted.file);
  text(CURLOPT_CAPATH, trusted.folder);
  text(CURLOPT_PROXY_CAINFO, trusted.file);
  text(CURLOPT_PROXY_CAPATH, trusted.folder);
  text(CURLOPT_USERAGENT, settings.user_agent);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);

  const bool wants_length =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (exchange.has_body() || wants_length) {
    number(CURLOPT_UPLOAD, 1);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(exchange.body_size()));
    if (exchange.body_size() > 1'000'000) number(CURLOPT_UPLOAD_BUFFERSIZE, 512 * 1024);
  } else if (request.method == "HEAD") {
    number(CURLOPT_NOBODY, 1);
  }
  text(CURLOPT_CUSTOMREQUEST, request.method);
  if (request.into) number(CURLOPT_BUFFERSIZE, 256 * 1024);
  number(CURLOPT_FRESH_CONNECT, is_idempotent(request.method) ? 0 : 1);

  number(CURLOPT_CONNECTTIMEOUT_MS, request.connect_ms);
  if (request.total_ms > 0) {
    const auto gone =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
    number(CURLOPT_TIMEOUT_MS, std::max<std::int64_t>(1, request.total_ms - gone));
  }
  const std::int64_t limit = request.most_bytes_per_second;
  if (request.stall_ms > 0) {
    // A limit of ours is no stall.
    number(CURLOPT_LOW_SPEED_LIMIT,
           limit > 0 ? std::clamp<std::int64_t>(limit / 2, 1, 1024) : 1024);
    number(CURLOPT_LOW_SPEED_TIME, (request.stall_ms + 999) / 1000);
  }
  if (limit > 0) {
    curl_easy_setopt(handle, CURLOPT_MAX_SEND_SPEED_LARGE, curl_off_t(limit));
    curl_easy_setopt(handle, CURLOPT_MAX_RECV_SPEED_LARGE, curl_off_t(limit));
  }
}

CURLcode HttpClient::Impl::transfer() const {
  const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi.get()); });
  if (curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK) return CURLE_OUT_OF_MEMORY;
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  int running = 1;
  while (running > 0 && !stop.stop_requested()) {
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) break;
    if (running > 0) curl_multi_poll(multi.get(), nullptr, 0, 1000, nullptr);
  }
  int waiting = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &waiting)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  return code;
}

bool HttpClient::Impl::all_has_left(const Exchange& exchange) const {
  long head = 0;
  curl_off_t body = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_REQUEST_SIZE, &head);
  curl_easy_getinfo(easy.get(), CURLINFO_SIZE_UPLOAD_T, &body);
  return head > 0 && body >= exchange.body_size();
}

Result<Answer> HttpClient::Impl::exchange(const Request& request, const Progress& progress,
                                          Clock::time_point began) {
  Exchange exchange(request, progress, stop);
  auto headers = header_list(request, exchange.body_size());
  if (!headers) return propagate(headers);
  curl_easy_reset(easy.get());
  prepare(request, exchange, headers->get(), began);
  exchange.attach(easy.get());
  const CURLcode code = transfer();
  was_sent = all_has_left(exchange);
  long verify = 0;
  long proxy_status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_SSL_VERIFYRESULT, &verify);
  curl_easy_getinfo(easy.get(), CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  curl_multi_remove_handle(multi.get(), easy.get());

  if (code == CURLE_OK || exchange.has_enough()) return std::move(exchange.answer());
  const std::string host = shown_host(request.url);
  if (exchange.error()) {
    Error error = *exchange.error();
    error.where = host;
    return tl::unexpected<Error>(std::move(error));
  }
  if (stop.stop_requested()) {
    return fail(ErrorKind::transient, "the exchange was given up because of a stop", host);
  }
  return tl::unexpected<Error>(transfer_error(code, verify, proxy_status, host));
}

Result<Answer> HttpClient::Impl::send(Request request, const Progress& progress) {
  was_sent = false;
  if (!multi || !easy) return fail(ErrorKind::transient, "no memory for the exchange");
  const auto began = Clock::now();
  auto origin = origin_of(request.url);
  if (!origin) {
    return fail(ErrorKind::permanent, "this is no address that begins with http:// or https://",
                shown_host(request.url));
  }
  if (!is_token(request.method)) {
    return fail(ErrorKind::usage, "this is no method of HTTP", shown_host(request.url));
  }
  for (int redirects = 0;; ++redirects) {
    auto answer = exchange(request, progress, began);
    if (!answer) return answer;
    const int status = answer->status;
    const bool reads = request.method == "GET" || request.method == "HEAD";
    const bool repeats = status == 307 || status == 308 || (reads && status / 100 == 3);
    if (request.most_redirects == 0 || answer->header("location").empty() ||
        (status != 303 && !repeats) || status == 304) {
      return answer;
    }
    const auto next = resolved(request.url, answer->header("location"));
    const auto there = next ? origin_of(*next) : std::nullopt;
    if (!there) {
      return fail(ErrorKind::permanent, "the server points to what is no address on the web",
                  shown_host(request.url));
    }
    if (redirects == request.most_redirects) {
      return fail(ErrorKind::permanent, "the server points from one address to the next",
                  shown_host(request.url), "see whether the address is right");
    }
    if (origin->scheme == "https" && there->scheme == "http") {
      return fail(ErrorKind::permanent, "the server points to an address without encryption",
                  shown_host(request.url));
    }
    if (*there != *origin && !request.may_leave_host) {
      return fail(ErrorKind::permanent, "the server points to another one, which is not asked",
                  shown_host(request.url), "see whether the address is right");
    }
    if (*there != *origin) {
      std::erase_if(request.headers, [](const Header& header) { return !may_travel(header.name); });
    }
    if (!repeats) {
      request.method = "GET";
      request.body = std::monostate();
    }
    request.url = *next;
    origin = there;
  }
}

HttpClient::HttpClient(Settings settings, std::stop_token stop)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(stop))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<Answer> HttpClient::send(const Request& request, const Progress& progress) {
  const NoBrokenPipe no_signal;
  return impl_->send(request, progress);
}

bool HttpClient::request_was_sent() const { return impl_->was_sent; }

}  // namespace trainward::net
