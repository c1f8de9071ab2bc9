#include "common/os/sockets/tcp_peer.hpp"

#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"

namespace trainward {
namespace {

constexpr std::size_t longest_table = 8 << 20;

struct End {
  std::array<std::uint32_t, 4> address{};  // as they go over the wire; of IPv4 the first
  in_port_t port = 0;                      // the same
};

// One of IPv4 that came in over a socket of both is one of IPv4.
struct Connection {
  int family = AF_UNSPEC;
  End peer;
  End own;
};

using Name = int (*)(int, sockaddr*, socklen_t*);

bool read_end(int socket, Name name, int& family, End& end) {
  sockaddr_storage at{};
  socklen_t size = sizeof(at);
  if (name(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0) return false;
  family = at.ss_family;
  if (family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(at);
    end.address[0] = four.sin_addr.s_addr;
    end.port = four.sin_port;
    return true;
  }
  if (family != AF_INET6) return false;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(at);
  end.port = six.sin6_port;
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    family = AF_INET;
    std::memcpy(end.address.data(), six.sin6_addr.s6_addr + 12, 4);
  } else {
    std::memcpy(end.address.data(), six.sin6_addr.s6_addr, 16);
  }
  return true;
}

std::optional<Connection> connection_of(int socket) {
  Connection found;
  int other = AF_UNSPEC;
  if (!read_end(socket, ::getpeername, found.family, found.peer) ||
      !read_end(socket, ::getsockname, other, found.own) || other != found.family) {
    return std::nullopt;
  }
  return found;
}

struct Question {
  nlmsghdr header{};
  inet_diag_req_v2 request{};
};

Question question_about(const Connection& connection) {
  Question question;
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  inet_diag_req_v2& request = question.request;
  request.sdiag_family = static_cast<std::uint8_t>(connection.family);
  request.sdiag_protocol = IPPROTO_TCP;
  request.idiag_states = ~0U;
  request.id.idiag_sport = connection.peer.port;
  request.id.idiag_dport = connection.own.port;
  std::memcpy(request.id.idiag_src, connection.peer.address.data(), 16);
  std::memcpy(request.id.idiag_dst, connection.own.address.data(), 16);
  request.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

// As a table of /proc/net has it: each word in the order of this machine's bytes.
std::string in_table(const End& end, int family, bool mapped) {
  std::string text;
  if (mapped) text = fmt::format("{:08X}{:08X}{:08X}", 0, 0, htonl(0xFFFF));
  for (std::size_t i = 0; i < (family == AF_INET ? 1U : 4U); ++i) {
    text += fmt::format("{:08X}", end.address.at(i));
  }
  return text + fmt::format(":{:04X}", ntohs(end.port));
}

}  // namespace

PeerSearch search_by_sock_diag(int socket) {
  const auto connection = connection_of(socket);
  if (!connection) return {std::nullopt, true};
  const Fd kernel(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  const Question question = question_about(*connection);
  // Answered before send() returns.
  if (!kernel || ::send(kernel.get(), &question, sizeof(question), 0) != sizeof(question))
    return {};
  alignas(nlmsghdr) std::array<char, 1024> bytes{};
  const ssize_t got = ::recv(kernel.get(), bytes.data(), bytes.size(), 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(bytes.data());
  if (got < static_cast<ssize_t>(NLMSG_LENGTH(0))) return {};
  if (header->nlmsg_type == NLMSG_ERROR && got >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(int)))) {
    int code = 0;
    std::memcpy(&code, bytes.data() + NLMSG_HDRLEN, sizeof(code));
    return {std::nullopt, code == -ENOENT};
  }
  inet_diag_msg answer{};
  if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
      got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(answer)))) {
    return {};
  }
  std::memcpy(&answer, bytes.data() + NLMSG_HDRLEN, sizeof(answer));
  // Where the very connection is gone, one that listens at the peer's address is found instead.
  const bool is_it = answer.id.idiag_sport == connection->peer.port &&
                     answer.id.idiag_dport == connection->own.port && answer.idiag_inode != 0;
  return {is_it ? std::optional<uid_t>(answer.idiag_uid) : std::nullopt, true};
}

PeerSearch search_in_tables(int socket, const std::filesystem::path& root) {
  const auto connection = connection_of(socket);
  if (!connection) return {std::nullopt, true};
  PeerSearch search;
  for (const bool six : {false, true}) {
    if (!six && connection->family == AF_INET6) continue;
    const auto table = read_file(root / (six ? "proc/net/tcp6" : "proc/net/tcp"), longest_table);
    if (!table) continue;
    search.asked = true;
    const bool mapped = six && connection->family == AF_INET;
    const std::string local = in_table(connection->peer, connection->family, mapped);
    const std::string remote = in_table(connection->own, connection->family, mapped);
    std::istringstream lines(*table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream in(line);
      std::string number, here, there, state, queues, timer, retransmits, timeout;
      uid_t user = 0;
      std::uint64_t inode = 0;
      in >> number >> here >> there;
      if (here != local || there != remote) continue;
      in >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
      if (in && inode != 0) return {user, true};
    }
  }
  return search;
}

std::optional<uid_t> user_of_peer(int socket) {
  const PeerSearch search = search_by_sock_diag(socket);
  return search.asked ? search.user : search_in_tables(socket).user;
}

}  // namespace trainward
