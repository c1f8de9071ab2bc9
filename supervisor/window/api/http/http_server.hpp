// HTTP/1.1 on the daemon's loop, over a Unix socket or TCP. A server is one listener: it has its
// own places, so that clients of one never starve those of another.
//
// Bounds: 8 KiB of header, 64 KiB of body, 10 s to send a request, 15 s between two of them, 1,000
// of them a connection, and the places of places.hpp; what goes beyond is told so (431, 413, 408,
// 503). Without descriptors it waits between two tries and tells those who come meanwhile. Clients
// turned away are on the log, at most once a minute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "supervisor/window/api/http/guard.hpp"
#include "supervisor/window/api/http/http.hpp"
#include "supervisor/window/api/http/patience.hpp"

namespace boost::asio {
class io_context;
}

namespace trainward::api {

class HttpServer {
 public:
  struct Options {
    Guard guard = {};
    Patience patience = {};
  };

  // Replaces a dead socket and nothing else; the socket has mode 0660. Its file is removed at the
  // end, unless another lies there by then.
  static Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& context,
                                                    const std::filesystem::path& socket,
                                                    Handler handler, Options options);
  // `address` is one of IPv4 or IPv6, in digits; port 0: any that is free.
  static Result<std::unique_ptr<HttpServer>> listen_tcp(boost::asio::io_context& context,
                                                        const std::string& address,
                                                        std::uint16_t port, Handler handler,
                                                        Options options);
  // Serves on a socket of either kind that listens already. Works on a copy of the descriptor.
  // `file` is removed at the end as that of listen() is; empty: it is somebody else's, such as an
  // init system's.
  static Result<std::unique_ptr<HttpServer>> adopt(boost::asio::io_context& context, int listening,
                                                   Handler handler, Options options,
                                                   SocketFile file = {});
  // Takes no more clients, and the socket keeps listening for the next server that adopts it.
  struct Kept {
    Fd listening;
    SocketFile file;
  };
  Kept keep();
  // Of TCP; 0 otherwise.
  [[nodiscard]] std::uint16_t port() const;
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct Impl;
  explicit HttpServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::api
