#include "common/unix_socket.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <thread>

#include "common/protocol.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

TEST(UnixSocket, PathsLongerThanAnAddressWork) {
  const TemporaryFolder folder;
  const auto deep = folder.path() / std::string(120, 'd');
  std::filesystem::create_directories(deep);
  const Fd receiver = bind_datagram(deep / "s", 0600).value();
  const Fd sender = connect_datagram(deep / "s").value();
  ASSERT_EQ(::send(sender.get(), "hello", 5, 0), 5);
  std::string text(16, '\0');
  EXPECT_EQ(::recv(receiver.get(), text.data(), text.size(), 0), 5);
}

TEST(UnixSocket, ANotifierWithoutAListenerDropsSilently) {
  const TemporaryFolder folder;
  ::setenv(env::socket, (folder.path() / "nobody").c_str(), 1);
  const Notifier notifier = Notifier::from_environment();
  EXPECT_FALSE(notifier.connected());
  notifier.send({{"STEP", "1"}});
  ::unsetenv(env::socket);
}

TEST(UnixSocket, ABurstIsNotLostWhenSomebodyReads) {
  const TemporaryFolder folder;
  const Fd receiver = bind_datagram(folder.path() / "s", 0600).value();
  ::setenv(env::socket, (folder.path() / "s").c_str(), 1);
  const Notifier notifier = Notifier::from_environment();
  ::unsetenv(env::socket);
  constexpr int all = 2'000;
  const std::jthread sender([&notifier] {
    for (int i = 1; i <= all; ++i) notifier.send({{"STEP", std::to_string(i)}});
  });
  std::string text(100, '\0');
  for (int i = 1; i <= all; ++i) {
    pollfd readable{receiver.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&readable, 1, 20'000), 1) << "message " << i;
    const ssize_t got = ::recv(receiver.get(), text.data(), text.size(), 0);
    ASSERT_GT(got, 0);
    EXPECT_EQ(text.substr(0, static_cast<std::size_t>(got)), "STEP=" + std::to_string(i) + "\n");
  }
}

TEST(UnixSocket, AFullSocketNeverBlocksTheWorker) {
  const TemporaryFolder folder;
  const Fd receiver = bind_datagram(folder.path() / "s", 0600).value();
  ::setenv(env::socket, (folder.path() / "s").c_str(), 1);
  const Notifier notifier = Notifier::from_environment();
  ::unsetenv(env::socket);
  ASSERT_TRUE(notifier.connected());
  for (int i = 0; i < 10'000; ++i) notifier.send({{"STEP", std::to_string(i)}});
}

}  // namespace
}  // namespace trainward
