// Where the daemon listens: its Unix socket, the addresses of `listen:`, and what an init system
// has handed over. All are opened at the start, or the start fails; what goes wrong with one of
// them later is its own affair, and it goes on listening (http_server.hpp).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json.hpp"
#include "supervisor/api/http_server.hpp"
#include "supervisor/config/listening.hpp"
#include "supervisor/daemon/service/inherited_sockets.hpp"

namespace boost::asio {
class io_context;
}

namespace trainward::daemon {

class Listeners {
 public:
  // Kind permanent, with what to do, when one of them cannot be had, and when an init system has
  // handed over an address that other machines reach while there are no tokens.
  static Result<Listeners> open(boost::asio::io_context& context,
                                const std::filesystem::path& socket,
                                const config::Listening& wanted, const InheritedSockets& given,
                                api::Handler handler);

  // Whether this process could listen there as well, when it is started anew: what it does not
  // listen on yet is tried.
  [[nodiscard]] Status could_open(const config::Listening& wanted) const;

  // ["unix:/run/trainward/trainward.sock", "http://127.0.0.1:8420"]
  [[nodiscard]] json::array addresses() const;
  // What a browser on this machine opens: "http://127.0.0.1:8420"; empty: nothing.
  [[nodiscard]] std::string for_browsers() const;

 private:
  struct Tcp {
    config::Address address;  // with the port that it got
    std::unique_ptr<api::HttpServer> server;
  };
  std::filesystem::path socket_;
  std::unique_ptr<api::HttpServer> local_;
  std::vector<Tcp> tcp_;
};

}  // namespace trainward::daemon
