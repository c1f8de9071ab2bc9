// HTTP/1.1 over a Unix socket, on the daemon's loop.
//
// Bounds: 8 KiB of header, 64 KiB of body, 10 s to send a request, and the places of places.hpp;
// what goes beyond is told so (431, 413, 408, 503). One request a connection: a CLI needs no more.
// Without descriptors it waits between two tries and tells those who come meanwhile. Clients turned
// away are on the log, at most once a minute.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "common/base/error.hpp"
#include "supervisor/api/http.hpp"

namespace boost::asio {
class io_context;
}

namespace trainward::api {

class HttpServer {
 public:
  static constexpr std::chrono::milliseconds usual_request_time{10'000};

  // Replaces a dead socket and nothing else; the socket has mode 0660. Its file is removed at the
  // end, unless another lies there by then.
  static Result<std::unique_ptr<HttpServer>> listen(
      boost::asio::io_context& context, const std::filesystem::path& socket, Handler handler,
      std::chrono::milliseconds request_time = usual_request_time);
  // Serves on a socket that listens already, made by an init system. Works on a copy of the
  // descriptor and leaves the socket's file alone.
  static Result<std::unique_ptr<HttpServer>> adopt(boost::asio::io_context& context, int listening,
                                                   Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct Impl;
  explicit HttpServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::api
