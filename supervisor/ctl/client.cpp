#include "supervisor/ctl/client.hpp"

#include <curl/curl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/fd.hpp"
#include "common/text.hpp"
#include "common/unix_socket.hpp"
#include "common/version.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t max_body_bytes = 16 << 20;
constexpr std::size_t max_headers = 64;
constexpr long connect_deadline_ms = 5000;

struct CurlCloser {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& body = static_cast<Response*>(user)->body;
  if (body.size() + size * count > max_body_bytes) return 0;  // ends the transfer with an error
  body.append(data, size * count);
  return size * count;
}

std::size_t take_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& headers = static_cast<Response*>(user)->headers;
  const std::string_view line(data, size * count);
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos && headers.size() < max_headers) {
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    headers[name] = std::string(trim(line.substr(colon + 1)));
  }
  return size * count;
}

// libcurl says "could not connect"; why is what the reader needs.
int connect_errno(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return ENAMETOOLONG;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return 0;
  }
  return errno;
}

ClientError unreachable(int error_number, const std::string& socket) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return {Trouble::missing,
              {ErrorKind::permanent, "trainwardd is not running", socket,
               "start trainwardd, or name its folder with --state-dir or its socket with --socket"},
              0};
    case ECONNREFUSED:
      return {Trouble::refused,
              {ErrorKind::permanent, "trainwardd is not running", socket,
               "its socket is still there but nobody listens: start trainwardd again"},
              0};
    case EACCES:
    case EPERM:
      return {Trouble::denied,
              {ErrorKind::permanent, "no permission to talk to trainwardd", socket,
               "run as the daemon's user, or join the group that owns the socket"},
              0};
    default:
      return {Trouble::silent,
              {ErrorKind::transient,
               fmt::format("cannot reach trainwardd: {}",
                           error_number == 0 ? "connection lost" : std::strerror(error_number)),
               socket, "try again; the daemon's log says more"},
              0};
  }
}

ErrorKind kind_of(std::string_view word) {
  if (word == "transient") return ErrorKind::transient;
  if (word == "corrupt") return ErrorKind::corrupt;
  if (word == "usage") return ErrorKind::usage;
  return ErrorKind::permanent;
}

ClientError refusal(const Response& response, const std::string& socket) {
  if (auto body = parse_json(response.body, "the daemon's answer"); body && body->is_object()) {
    if (auto error = get_object(body->get_object(), "error")) {
      const json::object& fields = **error;
      return {Trouble::answered,
              {kind_of(string_or(fields, "kind", "")), string_or(fields, "what", "refused"),
               string_or(fields, "where", ""), string_or(fields, "hint", "")},
              response.status};
    }
  }
  return {Trouble::garbled,
          {ErrorKind::permanent,
           fmt::format("trainwardd answered with HTTP status {} and no reason", response.status),
           socket, "trainwardctl and trainwardd may be of different versions"},
          response.status};
}

}  // namespace

Reply<Response> Client::request(Method method, std::string_view target,
                                std::chrono::milliseconds deadline) const {
  const std::string where = socket_.string();
  auto path = SocketPath::make(socket_);
  if (!path) {
    // Only the folder can be at fault: it is not there, or may not be entered.
    const bool denied = ::access(socket_.parent_path().c_str(), F_OK) != 0 && errno == EACCES;
    return tl::unexpected<ClientError>(unreachable(denied ? EACCES : ENOENT, where));
  }
  const std::unique_ptr<CURL, CurlCloser> handle(curl_easy_init());
  if (!handle) return tl::unexpected<ClientError>(unreachable(ENOMEM, where));

  Response response;
  const std::string url = "http://localhost" + std::string(target);
  curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_UNIX_SOCKET_PATH, path->text().c_str());
  curl_easy_setopt(handle.get(), CURLOPT_PROXY, "");  // whatever the environment says
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_CONNECTTIMEOUT_MS, connect_deadline_ms);
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(deadline.count()));
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &response);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &response);
  const std::string agent = fmt::format("trainwardctl/{}", version_text);
  curl_easy_setopt(handle.get(), CURLOPT_USERAGENT, agent.c_str());
  if (method == Method::post) {
    curl_easy_setopt(handle.get(), CURLOPT_POST, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDS, "");
    curl_easy_setopt(handle.get(), CURLOPT_POSTFIELDSIZE, 0L);
  }

  switch (const CURLcode code = curl_easy_perform(handle.get()); code) {
    case CURLE_OK:
      break;
    case CURLE_COULDNT_CONNECT:
      return tl::unexpected<ClientError>(unreachable(connect_errno(path->text()), where));
    case CURLE_OPERATION_TIMEDOUT:
      return tl::unexpected<ClientError>(
          {Trouble::silent,
           {ErrorKind::transient,
            fmt::format("trainwardd does not answer (waited {})", human_duration(deadline.count())),
            where, "try again; the daemon's log says more"},
           0});
    case CURLE_WRITE_ERROR:
      return tl::unexpected<ClientError>(
          {Trouble::garbled,
           {ErrorKind::corrupt,
            fmt::format("trainwardd's answer is longer than {}", human_bytes(max_body_bytes)),
            where, ""},
           0});
    default:
      return tl::unexpected<ClientError>(
          {Trouble::garbled,
           {ErrorKind::transient,
            fmt::format("trainwardd's answer broke off: {}", curl_easy_strerror(code)), where,
            "try again; the daemon's log says more"},
           0});
  }
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &response.status);
  if (response.status != 200) return tl::unexpected<ClientError>(refusal(response, where));
  return response;
}

Reply<json::value> Client::document(Method method, std::string_view target,
                                    std::chrono::milliseconds deadline) const {
  auto response = request(method, target, deadline);
  if (!response) return tl::unexpected<ClientError>(std::move(response.error()));
  auto value = parse_json(response->body, "trainwardd's answer");
  if (!value) {
    return tl::unexpected<ClientError>({Trouble::garbled, std::move(value.error()), 200});
  }
  return std::move(*value);
}

}  // namespace trainward::ctl
