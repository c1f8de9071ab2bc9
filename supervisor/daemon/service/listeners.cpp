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

// A client may name the address of a listener in Host.
api::Guard guard_of(const config::Listening& wanted, const InheritedSockets& given) {
  api::Guard guard{wanted.hosts};
  const auto allow = [&guard](const config::Address& address) {
    if (!is_any(address)) guard.hosts.push_back(host_of(address));
  };
  for (const config::Address& address : wanted.addresses) allow(address);
  for (const InheritedSockets::Tcp& socket : given.tcp) allow(socket.address);
  return guard;
}

template <typename Sockets>
bool has(const Sockets& sockets, const config::Address& address) {
  return std::any_of(sockets.begin(), sockets.end(),
                     [&](const auto& socket) { return socket.address == address; });
}

// That of `kept` which listens where it is wanted. For port 0 any of the same host will do that
// nobody else names, so that a port which the kernel chose stays the same.
std::vector<KeptSockets::Tcp>::iterator fitting(std::vector<KeptSockets::Tcp>& kept,
                                                const config::Address& address,
                                                const std::vector<config::Address>& all) {
  return std::find_if(kept.begin(), kept.end(), [&](const KeptSockets::Tcp& socket) {
    if (address.port != 0) return socket.address == address;
    return socket.address.host == address.host &&
           std::find(all.begin(), all.end(), socket.address) == all.end();
  });
}

}  // namespace

Listeners::Listeners(Loop& loop, std::filesystem::path socket, api::HttpServer::Options options,
                     api::Handler handler)
    : loop_(loop), socket_(std::move(socket)), options_(std::move(options)), again_(loop) {
  const auto shared = std::make_shared<const api::Handler>(std::move(handler));
  handler_ = [shared](const api::Request& request, api::Respond respond) {
    (*shared)(request, std::move(respond));
  };
}

Result<std::unique_ptr<Listeners>> Listeners::open(Loop& loop, const std::filesystem::path& socket,
                                                   const config::Listening& wanted,
                                                   const InheritedSockets& given, KeptSockets kept,
                                                   api::Handler handler) {
  std::unique_ptr<Listeners> open(
      new Listeners(loop, socket, {.guard = guard_of(wanted, given)}, std::move(handler)));
  for (const std::string& name : given.others) {
    spdlog::warn("the init system passed the socket '{}', on which the API is not served", name);
  }
  if (auto local = open->open_local(given, std::move(kept.local)); !local) return propagate(local);
  for (const InheritedSockets::Tcp& handed : given.tcp) {
    if (handed.address.loopback() || !wanted.tokens.empty()) {
      open->adopt(handed.fd, handed.address, false);
      continue;
    }
    open->refused_.push_back(fmt::format(
        "nobody is served on the socket handed over at {}: it is reached from other machines, and "
        "there are no tokens; add `tokens:` to the configuration, or let the socket unit listen on "
        "127.0.0.1",
        handed.address.text()));
    spdlog::warn("{}", open->refused_.back());
  }
  std::vector<config::Address> to_open;
  for (const config::Address& address : wanted.addresses) {
    if (has(given.tcp, address)) continue;
    if (const auto mine = fitting(kept.tcp, address, wanted.addresses); mine != kept.tcp.end()) {
      open->adopt(mine->fd.get(), mine->address, true);
      kept.tcp.erase(mine);
    } else {
      to_open.push_back(address);
    }
  }
  kept.tcp.clear();  // before others are opened: one of them may be on the same port
  for (const config::Address& address : to_open) {
    if (auto opened = open->listen_on(address); !opened) open->miss(address, opened.error());
  }
  if (!open->missing_.empty()) {
    open->again_.after(again_after_ms, [raw = open.get()] { raw->try_again(); });
  }
  return open;
}

Status Listeners::open_local(const InheritedSockets& given, std::optional<KeptSockets::Unix> kept) {
  using api::HttpServer;
  const bool go_on = given.unix_socket < 0 && kept && kept->path == socket_;
  if (!go_on) kept.reset();
  local_is_own_ = given.unix_socket < 0;
  auto& context = loop_.context();
  auto local = !local_is_own_ ? HttpServer::adopt(context, given.unix_socket, handler_, options_)
               : go_on        ? HttpServer::adopt(context, kept->fd.get(), handler_, options_,
                                                  std::move(kept->file))
                              : HttpServer::listen(context, socket_, handler_, options_);
  if (!local) return propagate(local);
  local_ = std::move(*local);
  return {};
}

void Listeners::adopt(int fd, const config::Address& address, bool own) {
  auto server = api::HttpServer::adopt(loop_.context(), fd, handler_, options_);
  if (!server) return miss(address, server.error());
  tcp_.push_back({address, std::move(*server), own});
  spdlog::info("listening on http://{}", address.text());
}

Status Listeners::listen_on(const config::Address& address) {
  auto server =
      api::HttpServer::listen_tcp(loop_.context(), address.host, address.port, handler_, options_);
  if (!server) return propagate(server);
  const std::uint16_t port = (*server)->port();
  tcp_.push_back({{address.host, port}, std::move(*server)});
  spdlog::info("listening on http://{}", tcp_.back().address.text());
  return {};
}

void Listeners::miss(const config::Address& address, Error why) {
  missing_.push_back({address, std::move(why)});
  spdlog::warn("{}", troubles().back());
}

// What it says may change meanwhile: the newest is the true one.
void Listeners::try_again() {
  std::erase_if(missing_, [this](Missing& missing) {
    auto opened = listen_on(missing.address);
    if (!opened) missing.why = opened.error();
    return opened.has_value();
  });
  if (!missing_.empty()) again_.after(again_after_ms, [this] { try_again(); });
}

KeptSockets Listeners::keep() {
  again_.cancel();
  KeptSockets kept;
  if (local_is_own_) {
    auto local = local_->keep();
    if (local.listening && local.file) {
      kept.local = KeptSockets::Unix{std::move(local.listening), socket_, std::move(local.file)};
    }
  }
  for (Tcp& tcp : tcp_) {
    if (!tcp.own) continue;
    auto socket = tcp.server->keep();
    if (socket.listening) kept.tcp.push_back({std::move(socket.listening), tcp.address});
  }
  return kept;
}

Status Listeners::could_open(const std::filesystem::path& socket,
                             const config::Listening& wanted) const {
  boost::asio::io_context nowhere;
  const auto nobody = [](const api::Request&, const api::Respond&) {};
  if (socket != socket_) {
    if (auto tried = api::HttpServer::listen(nowhere, socket, nobody, {}); !tried) {
      return propagate(tried);
    }
  }
  for (const config::Address& address : wanted.addresses) {
    const bool mine = std::any_of(tcp_.begin(), tcp_.end(), [&](const Tcp& tcp) {
      return tcp.address.port == address.port;  // it may be ours on another address
    });
    if (mine || address.port == 0 || has(missing_, address)) continue;
    auto tried = api::HttpServer::listen_tcp(nowhere, address.host, address.port, nobody, {});
    if (!tried) return propagate(tried);
  }
  return {};
}

json::array Listeners::addresses() const {
  json::array all{"unix:" + socket_.string()};
  for (const Tcp& tcp : tcp_) all.emplace_back("http://" + tcp.address.text());
  return all;
}

std::vector<std::string> Listeners::troubles() const {
  std::vector<std::string> all = refused_;
  for (const Missing& missing : missing_) {
    all.push_back(fmt::format(
        "no page at http://{}: {}; {}; training goes on, and it is tried again every {} s",
        missing.address.text(), missing.why.what, missing.why.hint, again_after_ms / 1'000));
  }
  return all;
}

// By digits: the name localhost may lead to a socket of ::1 that somebody else listens on.
Result<std::string> Listeners::for_browsers() const {
  const Tcp* best = nullptr;
  for (const Tcp& tcp : tcp_) {
    if (best == nullptr || (tcp.address.loopback() && !best->address.loopback())) best = &tcp;
  }
  if (best == nullptr && !missing_.empty()) {
    return fail(ErrorKind::transient, missing_.front().why.what, missing_.front().address.text(),
                missing_.front().why.hint);
  }
  if (best == nullptr) return std::string();
  config::Address address = best->address;
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  return "http://" + address.text();
}

}  // namespace trainward::daemon
