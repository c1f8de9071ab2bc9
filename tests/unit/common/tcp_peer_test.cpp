// Both ways to ask whose the other end is: of this process, of another user's, of one that is gone,
// over IPv4, IPv6 and IPv4 by a socket of both.
#include "common/os/sockets/tcp_peer.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "common/os/fd.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

constexpr uid_t somebody = 65534;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

Address loopback(int family, bool mapped = false) {
  Address at;
  if (family == AF_INET) {
    auto& four = reinterpret_cast<sockaddr_in&>(at.bytes);
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.size = sizeof(four);
    return at;
  }
  auto& six = reinterpret_cast<sockaddr_in6&>(at.bytes);
  six.sin6_family = AF_INET6;
  if (mapped) {
    six.sin6_addr.s6_addr[10] = six.sin6_addr.s6_addr[11] = 0xFF;
    const in_addr four{htonl(INADDR_LOOPBACK)};
    std::memcpy(six.sin6_addr.s6_addr + 12, &four, sizeof(four));
  } else {
    six.sin6_addr = in6addr_loopback;
  }
  at.size = sizeof(six);
  return at;
}

void set_port(Address& address, in_port_t port) {
  (address.bytes.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(address.bytes).sin_port
                                      : reinterpret_cast<sockaddr_in6&>(address.bytes).sin6_port) =
      port;
}

class TcpPeer : public testing::Test {
 protected:
  // False: there is no such family here.
  bool listen(int family) {
    listening_ = Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Address at = loopback(family);
    if (::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&at.bytes), at.size) != 0 ||
        ::listen(listening_.get(), 8) != 0) {
      return false;
    }
    sockaddr_storage bound{};
    socklen_t size = sizeof(bound);
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = family == AF_INET ? reinterpret_cast<sockaddr_in&>(bound).sin_port
                              : reinterpret_cast<sockaddr_in6&>(bound).sin6_port;
    return true;
  }
  [[nodiscard]] Fd connect(Address to) const {
    set_port(to, port_);
    Fd client(::socket(to.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&to.bytes), to.size) != 0)
      return {};
    return client;
  }
  [[nodiscard]] Fd accept() const { return Fd(::accept(listening_.get(), nullptr, nullptr)); }

  static void expect(const Fd& server, std::optional<uid_t> user) {
    const PeerSearch asked = search_by_sock_diag(server.get());
    if (asked.asked) {
      EXPECT_EQ(asked.user, user);
    }
    const PeerSearch read = search_in_tables(server.get());
    EXPECT_TRUE(read.asked);
    EXPECT_EQ(read.user, user);
    EXPECT_EQ(user_of_peer(server.get()), user);
  }

  Fd listening_;
  in_port_t port_ = 0;
};

TEST_F(TcpPeer, IsThisUserByEveryFamily) {
  for (const auto& [family, client_family, mapped] : {std::tuple(AF_INET, AF_INET, false),
                                                      {AF_INET6, AF_INET6, false},
                                                      {AF_INET, AF_INET6, true}}) {
    SCOPED_TRACE(testing::Message() << family << ' ' << client_family);
    if (!listen(family)) continue;
    const Fd client = connect(loopback(client_family, mapped));
    if (!client) continue;
    expect(accept(), ::geteuid());
  }
}

TEST_F(TcpPeer, IsTheOneWhoMadeTheSocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to be somebody else";
  ASSERT_TRUE(listen(AF_INET));
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setresuid(somebody, somebody, somebody) != 0) ::_exit(1);
    const Fd client = connect(loopback(AF_INET));
    for (;;) ::pause();
  }
  const Fd server = accept();
  expect(server, somebody);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  expect(server, std::nullopt);  // and never root, whose what nobody holds would seem
}

TEST_F(TcpPeer, ThatIsGoneIsNobody) {
  ASSERT_TRUE(listen(AF_INET));
  Fd client = connect(loopback(AF_INET));
  const Fd server = accept();
  client.reset();
  expect(server, std::nullopt);
}

TEST_F(TcpPeer, OfNoConnectionIsNobody) {
  ASSERT_TRUE(listen(AF_INET));
  EXPECT_EQ(user_of_peer(listening_.get()), std::nullopt);
  EXPECT_EQ(user_of_peer(-1), std::nullopt);
  const Fd client = connect(loopback(AF_INET));
  const TemporaryFolder empty;
  const PeerSearch nowhere = search_in_tables(accept().get(), empty.path());
  EXPECT_FALSE(nowhere.asked);
}

}  // namespace
}  // namespace trainward
