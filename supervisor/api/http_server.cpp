#include "supervisor/api/http_server.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <optional>

#include "common/fd.hpp"
#include "common/unix_socket.hpp"

namespace trainward::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Local = asio::local::stream_protocol;
using Stream = beast::basic_stream<Local>;

constexpr int max_clients = 64;
constexpr auto request_timeout = std::chrono::seconds(10);
constexpr auto write_timeout = std::chrono::seconds(30);

std::string decode(std::string_view text) {
  auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      plain += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

Request request_of(const http::request<http::string_body>& message) {
  Request request;
  request.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  const auto mark = std::min(target.find('?'), target.size());
  request.path = decode(target.substr(0, mark));
  std::string_view query = target.substr(std::min(mark + 1, target.size()));
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const auto equals = std::min(pair.find('='), pair.size());
    request.query[decode(pair.substr(0, equals))] =
        decode(pair.substr(std::min(equals + 1, pair.size())));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return request;
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Local::socket socket, const Handler& handler, std::shared_ptr<int> clients)
      : stream_(std::move(socket)), handler_(handler), clients_(std::move(clients)) {
    ++*clients_;
    parser_.header_limit(8 * 1024);
    parser_.body_limit(64 * 1024);
  }
  ~Session() { --*clients_; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    stream_.expires_after(request_timeout);
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       if (error) return;
                       self->stream_.expires_never();
                       self->handler_(request_of(self->parser_.get()), [self](Response response) {
                         self->write(std::move(response));
                       });
                     });
  }

 private:
  void write(Response response) {
    answer_.emplace();
    answer_->result(static_cast<unsigned>(response.status));
    answer_->version(11);
    answer_->set(http::field::content_type, response.content_type);
    for (const auto& [key, value] : response.headers) answer_->set(key, value);
    answer_->keep_alive(false);
    answer_->body() = std::move(response.body);
    answer_->prepare_payload();
    stream_.expires_after(write_timeout);
    http::async_write(stream_, *answer_,
                      [self = shared_from_this()](beast::error_code, std::size_t) {
                        beast::error_code ignored;
                        self->stream_.socket().shutdown(Local::socket::shutdown_send, ignored);
                      });
  }

  Stream stream_;
  const Handler& handler_;
  std::shared_ptr<int> clients_;
  beast::flat_buffer buffer_;
  http::request_parser<http::string_body> parser_;
  std::optional<http::response<http::string_body>> answer_;
};

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
  Impl(asio::io_context& context, std::filesystem::path path, Handler handler_in)
      : acceptor(context), socket(std::move(path)), handler(std::move(handler_in)) {}

  void accept() {
    acceptor.async_accept([weak = weak_from_this()](beast::error_code error, Local::socket peer) {
      auto self = weak.lock();
      if (!self || error == asio::error::operation_aborted) return;
      if (!error && *self->clients < max_clients) {
        std::make_shared<Session>(std::move(peer), self->handler, self->clients)->start();
      }
      self->accept();
    });
  }

  Local::acceptor acceptor;
  std::filesystem::path socket;
  Handler handler;
  std::shared_ptr<int> clients = std::make_shared<int>(0);
};

Result<std::unique_ptr<HttpServer>> HttpServer::listen(asio::io_context& context,
                                                       const std::filesystem::path& socket,
                                                       Handler handler) {
  auto path = SocketPath::make(socket);
  if (!path) return propagate(path);
  auto impl = std::make_shared<Impl>(context, socket, std::move(handler));
  ::unlink(path->text().c_str());
  beast::error_code error;
  impl->acceptor.open(Local(), error);
  // The mode is right from the first instant: bind() applies the umask to 0777.
  const mode_t before = ::umask(0117);
  if (!error) impl->acceptor.bind(Local::endpoint(path->text()), error);
  ::umask(before);
  if (!error) impl->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return fail(ErrorKind::permanent, "cannot listen for the API: " + error.message(),
                socket.string(), "check that the folder exists and may be written");
  }
  impl->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

Result<std::unique_ptr<HttpServer>> HttpServer::adopt(asio::io_context& context, int listening,
                                                      Handler handler) {
  Fd copy(::fcntl(listening, F_DUPFD_CLOEXEC, 0));
  if (!copy) return fail_errno(errno, "use the socket that was handed over");
  auto impl = std::make_shared<Impl>(context, std::filesystem::path(), std::move(handler));
  beast::error_code error;
  impl->acceptor.assign(Local(), copy.get(), error);
  if (error) {
    return fail(ErrorKind::permanent, "cannot serve on the given socket: " + error.message());
  }
  copy.release();
  impl->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  beast::error_code ignored;
  impl_->acceptor.close(ignored);
  if (impl_->socket.empty()) return;  // whoever made it removes it
  std::error_code no_matter;
  std::filesystem::remove(impl_->socket, no_matter);
}

Response json_response(const json::value& value, int status) {
  Response response;
  response.status = status;
  response.body = json::serialize(value) + "\n";
  return response;
}

Response error_response(int status, const Error& error) {
  return json_response({{"error",
                         {{"kind", std::string(to_string(error.kind))},
                          {"what", error.what},
                          {"where", error.where},
                          {"hint", error.hint}}}},
                       status);
}

}  // namespace trainward::api
