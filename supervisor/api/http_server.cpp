#include "supervisor/api/http_server.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <sstream>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/unix_socket.hpp"
#include "supervisor/api/doorkeeper.hpp"

namespace trainward::api {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Local = asio::local::stream_protocol;
using SystemError = boost::system::error_code;

// Between two tries to accept while the kernel has no descriptor or memory for a client.
constexpr auto pause = std::chrono::milliseconds(200);
constexpr int most_shed_at_once = 64;

std::string as_text(const Response& response) {
  http::response<http::string_body> message;
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::content_type, response.content_type);
  for (const auto& [key, value] : response.headers) message.set(key, value);
  message.keep_alive(false);
  message.body() = response.body;
  message.prepare_payload();
  std::ostringstream text;
  text << message;
  return text.str();
}

Fd spare_descriptor() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
  Impl(asio::io_context& context, Handler handler, std::chrono::milliseconds request_time)
      : acceptor(context), resume(context), doorkeeper(std::move(handler), request_time) {}

  void accept() {
    acceptor.async_accept([weak = weak_from_this()](const SystemError& error, Local::socket peer) {
      const auto self = weak.lock();
      if (!self || error == asio::error::operation_aborted) return;
      if (!error) self->doorkeeper.let_in(std::move(peer));
      if (error && error != asio::error::connection_aborted) return self->run_short(error);
      self->accept();
    });
  }

  // To try again at once would be to try for ever: whoever waits is still there.
  void run_short(const SystemError& error) {
    const std::string what = "no client can be accepted: " + error.message();
    complaint.add(what + "; raise LimitNOFILE= in the unit, or `ulimit -n`");
    shed(as_text(turned_away("the daemon cannot take another client: " + error.message())));
    resume.expires_after(pause);
    resume.async_wait([weak = weak_from_this()](const SystemError& cancelled) {
      const auto self = weak.lock();
      if (self && !cancelled) self->accept();
    });
  }

  // With the descriptor that was kept for this: accepts, answers and closes those who wait.
  void shed(const std::string& answer) {
    spare.reset();
    for (int i = 0; i < most_shed_at_once; ++i) {
      const Fd peer(
          ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!peer) break;
      (void)!::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    spare = spare_descriptor();
  }

  Local::acceptor acceptor;
  asio::steady_timer resume;
  SocketFile file;  // none where an init system made the socket
  Fd spare = spare_descriptor();
  Complaint complaint;
  Doorkeeper doorkeeper;
};

Result<std::unique_ptr<HttpServer>> HttpServer::listen(asio::io_context& context,
                                                       const std::filesystem::path& socket,
                                                       Handler handler,
                                                       std::chrono::milliseconds request_time) {
  auto path = SocketPath::make(socket);
  if (!path) return propagate(path);
  if (auto room = make_room(socket); !room) return propagate(room);
  auto impl = std::make_shared<Impl>(context, std::move(handler), request_time);
  SystemError error;
  impl->acceptor.open(Local(), error);
  // The mode is right from the first instant: bind() applies the umask to 0777.
  const mode_t before = ::umask(0117);
  if (!error) impl->acceptor.bind(Local::endpoint(path->text()), error);
  ::umask(before);
  if (!error) {
    impl->file = SocketFile(std::move(*path));
    impl->acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
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
  auto impl = std::make_shared<Impl>(context, std::move(handler), usual_request_time);
  SystemError error;
  impl->acceptor.assign(Local(), copy.get(), error);
  if (error) {
    return fail(ErrorKind::permanent, "cannot serve on the given socket: " + error.message());
  }
  copy.release();
  impl->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

}  // namespace trainward::api
