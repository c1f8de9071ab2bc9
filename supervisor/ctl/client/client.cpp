#include "supervisor/ctl/client/client.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "common/base/text.hpp"
#include "common/base/version.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "supervisor/ctl/client/ssh_connection.hpp"

namespace trainward::ctl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Local = asio::local::stream_protocol;

constexpr std::size_t max_body_bytes = 16 << 20;
constexpr std::size_t max_header_bytes = 16 << 10;

// One request on a connection of its own: connect, write, read; each step starts the next, and the
// first that fails ends it.
class Exchange {
 public:
  Exchange(Method method, std::string_view target) {
    request_.method(method == Method::post ? http::verb::post : http::verb::get);
    request_.target({target.data(), target.size()});
    request_.version(11);
    request_.set(http::field::host, "localhost");
    request_.set(http::field::user_agent, fmt::format("trainwardctl/{}", version_text));
    request_.set("X-Trainward", "1");  // no web page sends it unasked
    request_.keep_alive(false);
    request_.prepare_payload();
    parser_.header_limit(max_header_bytes);
    parser_.body_limit(max_body_bytes);
  }

  // connected() says how far it came when this is an error.
  beast::error_code run(const std::string& socket, std::chrono::milliseconds deadline) {
    stream_.expires_after(deadline);
    stream_.async_connect(Local::endpoint(socket), [this](beast::error_code error) {
      connected_ = !error;
      if (goes_on(error)) write_and_read();
    });
    loop_.run();
    return error_;
  }
  // Over a socket that is connected.
  beast::error_code run(Fd connection, std::chrono::milliseconds deadline) {
    connected_ = true;
    beast::error_code error;
    stream_.socket().assign(Local(), connection.get(), error);
    if (!goes_on(error)) return error;
    connection.release();
    stream_.expires_after(deadline);
    write_and_read();
    loop_.run();
    return error_;
  }
  [[nodiscard]] bool connected() const { return connected_; }

  Response response() {
    auto message = parser_.release();
    Response response;
    response.status = message.result_int();
    for (const auto& field : message) {
      response.headers[lower_case(field.name_string())] = std::string(field.value());
    }
    response.body = std::move(message.body());
    return response;
  }

 private:
  void write_and_read() {
    http::async_write(stream_, request_, [this](beast::error_code error, std::size_t) {
      // A daemon that refuses may do so without reading; its reason is there all the same.
      if (error != asio::error::broken_pipe && !goes_on(error)) return;
      http::async_read(stream_, buffer_, parser_,
                       [this](beast::error_code error, std::size_t) { goes_on(error); });
    });
  }
  bool goes_on(beast::error_code error) {
    error_ = error;
    return !error;
  }

  asio::io_context loop_{1};
  beast::basic_stream<Local> stream_{loop_};
  http::request<http::empty_body> request_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  beast::error_code error_;
  bool connected_ = false;
};

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
               fmt::format("cannot reach trainwardd: {}", std::strerror(error_number)), socket,
               "try again; the daemon's log says more"},
              0};
  }
}

ClientError broken(const beast::error_code& error, bool connected,
                   std::chrono::milliseconds deadline, const std::string& socket) {
  if (error == beast::error::timeout) {
    return {
        Trouble::silent,
        {ErrorKind::transient,
         fmt::format("trainwardd does not answer (waited {})", human_duration(deadline.count())),
         socket, "try again; the daemon's log says more"},
        0};
  }
  if (!connected) return unreachable(error.value(), socket);
  if (error == http::error::body_limit) {
    return {Trouble::garbled,
            {ErrorKind::corrupt,
             fmt::format("trainwardd's answer is longer than {}", human_bytes(max_body_bytes)),
             socket, ""},
            0};
  }
  return {Trouble::garbled,
          {ErrorKind::transient, fmt::format("trainwardd's answer broke off: {}", error.message()),
           socket, "try again; the daemon's log says more"},
          0};
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
    // A problem document of a proxy between us and the daemon.
    const json::object& problem = body->as_object();
    const std::string title = string_or(problem, "title", "");
    if (const std::string detail = string_or(problem, "detail", title); !detail.empty()) {
      const auto kind = response.status < 500 ? ErrorKind::usage : ErrorKind::transient;
      return {Trouble::answered,
              {kind, detail, string_or(problem, "instance", ""), ""},
              response.status};
    }
  }
  return {Trouble::garbled,
          {ErrorKind::permanent,
           fmt::format("trainwardd answered with HTTP status {} and no reason", response.status),
           socket, "trainwardctl and trainwardd may be of different versions"},
          response.status};
}

// A daemon's answer, whichever it is.
Reply<Response> answer_of(Exchange& exchange, const std::string& where) {
  Response response = exchange.response();
  if (response.status != 200) return tl::unexpected<ClientError>(refusal(response, where));
  return response;
}

Reply<Response> through(remote::Connection& connection, Method method, std::string_view target,
                        std::chrono::milliseconds deadline) {
  auto line = connection.open(deadline);
  if (!line) return tl::unexpected<ClientError>(std::move(line.error()));
  Exchange exchange(method, target);
  const std::string where = connection.address().text();
  if (const beast::error_code error = exchange.run(std::move(line->fd), deadline)) {
    if (error != beast::error::timeout) {
      if (auto why = connection.why_broken(*line)) return tl::unexpected<ClientError>(*why);
    }
    return tl::unexpected<ClientError>(broken(error, true, deadline, where));
  }
  return answer_of(exchange, where);
}

}  // namespace

Reply<Response> Client::request(Method method, std::string_view target,
                                std::chrono::milliseconds deadline) const {
  if (remote_) return through(*remote_, method, target, deadline);
  const std::string where = socket_.string();
  auto path = SocketPath::make(socket_);
  if (!path) {
    // Only the folder can be at fault: it is not there, or may not be entered.
    const bool denied = ::access(socket_.parent_path().c_str(), F_OK) != 0 && errno == EACCES;
    return tl::unexpected<ClientError>(unreachable(denied ? EACCES : ENOENT, where));
  }
  Exchange exchange(method, target);
  if (const beast::error_code error = exchange.run(path->text(), deadline)) {
    return tl::unexpected<ClientError>(broken(error, exchange.connected(), deadline, where));
  }
  return answer_of(exchange, where);
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
