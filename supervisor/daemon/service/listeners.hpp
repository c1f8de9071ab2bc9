// Where the daemon listens: its Unix socket, the addresses of `listen:`, what an init system has
// handed over, and what the image before this one has kept open (kept_sockets.hpp).
//
// Without the Unix socket nobody could ask or command, so that one is had, or the start fails. An
// address of TCP that cannot be had (another program has the port, the network is not up yet) is a
// trouble: it is said, and tried again every few seconds, for a page is no reason not to supervise.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/config/reading/listening.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/service/inherited_sockets.hpp"
#include "supervisor/daemon/service/kept_sockets.hpp"
#include "supervisor/window/api/http/http_server.hpp"

namespace trainward::daemon {

class Listeners {
 public:
  static constexpr std::int64_t again_after_ms = 3'000;

  // What is kept and no more configured is closed.
  static Result<std::unique_ptr<Listeners>> open(Loop& loop, const std::filesystem::path& socket,
                                                 const config::Listening& wanted,
                                                 const InheritedSockets& given, KeptSockets kept,
                                                 api::Handler handler);
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners() = default;

  // Stops serving, and hands over the sockets that keep listening.
  KeptSockets keep();

  // Whether this process could listen there as well after a restart: what it is not told
  // to listen on yet is tried.
  [[nodiscard]] Status could_open(const std::filesystem::path& socket,
                                  const config::Listening& wanted) const;

  // ["unix:/run/trainward/trainward.sock", "http://127.0.0.1:8420"]
  [[nodiscard]] json::array addresses() const;
  // What a browser on this machine opens: "http://127.0.0.1:8420"; empty: nothing is configured.
  // An error when what is configured cannot be had.
  [[nodiscard]] Result<std::string> for_browsers() const;
  // What is wrong, a sentence an address.
  [[nodiscard]] std::vector<std::string> troubles() const;

 private:
  struct Tcp {
    config::Address address;  // with the port that it got
    std::unique_ptr<api::HttpServer> server;
    bool own = true;  // no init system's
  };
  struct Missing {
    config::Address address;
    Error why;
  };
  Listeners(Loop& loop, std::filesystem::path socket, api::HttpServer::Options options,
            api::Handler handler);

  Status open_local(const InheritedSockets& given, std::optional<KeptSockets::Unix> kept);
  void adopt(int fd, const config::Address& address, bool own);
  void miss(const config::Address& address, Error why);
  [[nodiscard]] Status listen_on(const config::Address& address);
  void try_again();

  Loop& loop_;
  std::filesystem::path socket_;
  api::HttpServer::Options options_;
  api::Handler handler_;
  std::unique_ptr<api::HttpServer> local_;
  bool local_is_own_ = true;
  std::vector<Tcp> tcp_;
  std::vector<Missing> missing_;
  std::vector<std::string> refused_;  // sockets of an init system, with why
  Timer again_;
};

}  // namespace trainward::daemon
