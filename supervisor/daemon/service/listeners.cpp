#include "supervisor/daemon/service/listeners.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>

namespace trainward::daemon {
namespace {

bool is_any(const config::Address& address) {
  return address.host == "0.0.0.0" || address.host == "::";
}

// As it stands in an address and in Host: "127.0.0.1", "[::1]".
std::string host_of(const config::Address& address) {
  return address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
}

// Whoever types the address of a listener may ask for it by that.
api::Guard guard_of(const config::Listening& wanted, const InheritedSockets& given) {
  api::Guard guard{wanted.hosts};
  const auto allow = [&guard](const config::Address& address) {
    if (!is_any(address)) guard.hosts.push_back(host_of(address));
  };
  for (const config::Address& address : wanted.addresses) allow(address);
  for (const InheritedSockets::Tcp& socket : given.tcp) allow(socket.address);
  return guard;
}

Status needs_no_token(const config::Listening& wanted, const config::Address& address) {
  if (address.loopback() || !wanted.tokens.empty()) return {};
  return fail(ErrorKind::permanent,
              "the socket handed over is reached from other machines, and there are no tokens",
              address.text(),
              "add `tokens:` to the configuration, or let the socket unit listen on 127.0.0.1");
}

}  // namespace

Result<Listeners> Listeners::open(boost::asio::io_context& context,
                                  const std::filesystem::path& socket,
                                  const config::Listening& wanted, const InheritedSockets& given,
                                  api::Handler handler) {
  using api::HttpServer;
  Listeners open;
  open.socket_ = socket;
  const HttpServer::Options options{.guard = guard_of(wanted, given)};
  const auto shared = std::make_shared<const api::Handler>(std::move(handler));
  const auto serve = [shared](const api::Request& request, api::Respond respond) {
    (*shared)(request, std::move(respond));
  };
  for (const std::string& name : given.others) {
    spdlog::warn("the socket '{}' of the init system is none that the API is served on", name);
  }
  auto local = given.unix_socket >= 0
                   ? HttpServer::adopt(context, given.unix_socket, serve, options)
                   : HttpServer::listen(context, socket, serve, options);
  if (!local) return propagate(local);
  open.local_ = std::move(*local);
  for (const InheritedSockets::Tcp& handed : given.tcp) {
    if (auto may = needs_no_token(wanted, handed.address); !may) return propagate(may);
    auto server = HttpServer::adopt(context, handed.fd, serve, options);
    if (!server) return propagate(server);
    open.tcp_.push_back({handed.address, std::move(*server)});
  }
  for (const config::Address& address : wanted.addresses) {
    const bool handed_over = std::any_of(given.tcp.begin(), given.tcp.end(),
                                         [&](const auto& tcp) { return tcp.address == address; });
    if (handed_over) continue;
    auto server = HttpServer::listen_tcp(context, address.host, address.port, serve, options);
    if (!server) return propagate(server);
    const std::uint16_t port = (*server)->port();
    open.tcp_.push_back({{address.host, port}, std::move(*server)});
  }
  for (const Tcp& tcp : open.tcp_) spdlog::info("listening on http://{}", tcp.address.text());
  return open;
}

Status Listeners::could_open(const config::Listening& wanted) const {
  for (const config::Address& address : wanted.addresses) {
    const bool mine = std::any_of(tcp_.begin(), tcp_.end(), [&](const Tcp& tcp) {
      return tcp.address.port == address.port;  // it may be ours on another address
    });
    if (mine || address.port == 0) continue;
    boost::asio::io_context nowhere;
    auto tried = api::HttpServer::listen_tcp(
        nowhere, address.host, address.port, [](const api::Request&, const api::Respond&) {},
        api::HttpServer::Options{});
    if (!tried) return propagate(tried);
  }
  return {};
}

json::array Listeners::addresses() const {
  json::array all{"unix:" + socket_.string()};
  for (const Tcp& tcp : tcp_) all.emplace_back("http://" + tcp.address.text());
  return all;
}

// By digits: the name localhost may lead to a socket of ::1 that somebody else listens on.
std::string Listeners::for_browsers() const {
  const Tcp* best = nullptr;
  for (const Tcp& tcp : tcp_) {
    if (best == nullptr || (tcp.address.loopback() && !best->address.loopback())) best = &tcp;
  }
  if (best == nullptr) return {};
  config::Address address = best->address;
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  return "http://" + address.text();
}

}  // namespace trainward::daemon
