#include "client.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "common/base/json/json.hpp"

namespace trainward::chaos {
namespace {

constexpr std::int64_t pause_ms = 100;
constexpr std::string_view request =
    "GET /v1/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

Fd connect_to(const std::filesystem::path& path, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

void send_text(const Fd& fd, std::string_view text) {
  (void)!::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// {"loop": {"latency_ms": {"p99": …, "max": …}}}; a daemon that measures nothing says nothing.
std::optional<LoopLatency> loop_latency(std::string_view answer) {
  const auto body = answer.find("\r\n\r\n");
  if (body == std::string_view::npos) return std::nullopt;
  auto value = parse_json(answer.substr(body + 4), "answer");
  if (!value || !value->is_object()) return std::nullopt;
  auto loop = get_object(value->get_object(), "loop");
  if (!loop) return std::nullopt;
  auto latency = get_object(**loop, "latency_ms");
  if (!latency) return std::nullopt;
  return LoopLatency{number_or(**latency, "p99", 0), number_or(**latency, "max", 0)};
}

}  // namespace

Fd connect_api(const std::filesystem::path& socket) { return connect_to(socket, SOCK_STREAM); }

std::vector<Fd> crowd(const std::filesystem::path& socket, std::uint64_t count,
                      std::string_view text) {
  std::vector<Fd> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    Fd fd = connect_api(socket);
    if (!fd) break;
    if (!text.empty()) send_text(fd, text);
    all.push_back(std::move(fd));
  }
  return all;
}

std::optional<Pulse::Answer> Pulse::beat(std::int64_t now_ms) {
  if (!fd_) {
    if (now_ms < next_ms_) return std::nullopt;
    next_ms_ = now_ms + pause_ms;
    fd_ = connect_api(socket_);
    if (!fd_) return std::nullopt;
    asked_ms_ = now_ms;
    text_.clear();
    send_text(fd_, request);
    return std::nullopt;
  }
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EAGAIN) return std::nullopt;
    if (got > 0) {
      text_.append(bytes.data(), static_cast<std::size_t>(got));
      continue;
    }
    fd_.reset();
    next_ms_ = now_ms + pause_ms;
    // Refused, or the daemon has gone: nobody answered.
    if (!text_.starts_with("HTTP/1.1 200")) return std::nullopt;
    return Answer{now_ms - asked_ms_, loop_latency(text_)};
  }
}

void send_rubbish(const std::filesystem::path& socket, std::uint64_t count) {
  const Fd fd = connect_to(socket, SOCK_DGRAM);
  if (!fd) return;
  const std::array<std::string, 8> texts{std::string(16'000, '\0'),
                                         "STEP=99999999999999999999\nLOSS=cheese",
                                         "STEP=-5",
                                         "PHASE=\xff\xfe dancing",
                                         "CHECKPOINT=/etc/passwd\nCHECKPOINT_STEP=7",
                                         std::string(3'000, '\x03') + "=x",
                                         "STATUS=\x1b]0;owned\x07\x1b[2J'; drop table steps; --",
                                         std::string("=\n=\n\n\0=", 7)};
  for (std::uint64_t i = 0; i < count; ++i) send_text(fd, texts.at(i % texts.size()));
}

}  // namespace trainward::chaos
