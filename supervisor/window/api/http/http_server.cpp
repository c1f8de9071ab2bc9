#include "supervisor/window/api/http/http_server.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>

#include "common/os/file.hpp"
#include "supervisor/window/api/http/doorkeeper.hpp"
#include "supervisor/window/api/http/wire.hpp"

namespace trainward::api {
namespace {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;
using Server = Result<std::unique_ptr<HttpServer>>;
using SystemError = boost::system::error_code;

// Between two tries to accept while the kernel has no descriptor or memory for a client.
constexpr auto pause = std::chrono::milliseconds(200);
constexpr int most_shed_at_once = 64;

Fd spare_descriptor() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
  Impl(asio::io_context& context, Handler handler, Options options)
      : acceptor(context),
        resume(context),
        doorkeeper(std::move(handler), std::move(options.guard), options.patience) {}

  void accept() {
    acceptor.async_accept([weak = weak_from_this()](const SystemError& error, Socket peer) {
      const auto self = weak.lock();
      if (!self || error == asio::error::operation_aborted) return;
      if (!error) self->doorkeeper.let_in(std::move(peer));
      if (error && error != asio::error::connection_aborted) return self->run_short(error);
      self->accept();
    });
  }

  // Retrying at once would never end: the waiting client is still there.
  void run_short(const SystemError& error) {
    const std::string what = "no client can be accepted: " + error.message();
    complaint.add(what + "; raise LimitNOFILE= in the unit, or `ulimit -n`");
    const Response refusal =
        turned_away("the daemon cannot take another client: " + error.message());
    shed(head_of(refusal, Framing::length, false) + refusal.body);
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

  Acceptor acceptor;
  asio::steady_timer resume;
  SocketFile file;  // none where an init system made the socket
  Fd spare = spare_descriptor();
  Complaint complaint;
  Doorkeeper doorkeeper;
};

Server HttpServer::listen(asio::io_context& context, const std::filesystem::path& socket,
                          Handler handler, Options options) {
  auto path = SocketPath::make(socket);
  if (!path) return propagate(path);
  if (auto room = make_room(socket); !room) return propagate(room);
  auto impl = std::make_shared<Impl>(context, std::move(handler), std::move(options));
  SystemError error;
  const Local::endpoint endpoint(path->text());
  impl->acceptor.open(Protocol(endpoint.protocol()), error);
  // The mode is right from the first instant: bind() applies the umask to 0777.
  const mode_t before = ::umask(0117);
  if (!error) impl->acceptor.bind(endpoint, error);
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

Server HttpServer::listen_tcp(asio::io_context& context, const std::string& address,
                              std::uint16_t port, Handler handler, Options options) {
  const std::string where = address + ":" + std::to_string(port);
  SystemError error;
  const Tcp::endpoint endpoint(asio::ip::make_address(address, error), port);
  if (error) {
    return fail(ErrorKind::usage, "this is no address", where, "write it in digits: 127.0.0.1");
  }
  auto impl = std::make_shared<Impl>(context, std::move(handler), std::move(options));
  Acceptor& acceptor = impl->acceptor;
  acceptor.open(Protocol(endpoint.protocol()), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return fail(ErrorKind::permanent, "cannot listen for the API: " + error.message(), where,
                "`ss -ltnp` shows who listens there; choose another port or address");
  }
  impl->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

Server HttpServer::adopt(asio::io_context& context, int listening, Handler handler, Options options,
                         SocketFile file) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return fail_errno(errno, "use the socket that was handed over");
  }
  Fd copy(::fcntl(listening, F_DUPFD_CLOEXEC, 0));
  if (!copy) return fail_errno(errno, "use the socket that was handed over");
  auto impl = std::make_shared<Impl>(context, std::move(handler), std::move(options));
  SystemError error;
  impl->acceptor.assign(Protocol(address.ss_family, 0), copy.get(), error);
  if (error) {
    return fail(ErrorKind::permanent, "cannot serve on the given socket: " + error.message());
  }
  copy.release();
  impl->file = std::move(file);
  impl->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::Kept HttpServer::keep() {
  Kept kept{Fd(::fcntl(impl_->acceptor.native_handle(), F_DUPFD_CLOEXEC, 0)),
            std::move(impl_->file)};
  SystemError ignored;
  impl_->resume.cancel();
  impl_->acceptor.close(ignored);
  return kept;
}

std::uint16_t HttpServer::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  const int socket = impl_->acceptor.native_handle();
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  }
  if (address.ss_family != AF_INET6) return 0;
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

}  // namespace trainward::api
