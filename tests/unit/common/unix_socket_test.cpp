#include "common/os/sockets/unix_socket.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <optional>
#include <thread>

#include "common/wire/notifier.hpp"
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

// A socket for streams at `path`, listening or not.
Fd stream_socket(const std::filesystem::path& path, std::optional<int> backlog) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  if (backlog) {
    EXPECT_EQ(::listen(fd.get(), *backlog), 0);
  }
  return fd;
}

TEST(SocketPlaces, WhatIsNoSocketIsNamedAndStays) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return folder.path() / name; };
  std::ofstream(at("file")) << "precious";
  std::filesystem::create_directory(at("folder"));
  std::filesystem::create_symlink("elsewhere", at("link"));
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  for (const auto& [name, what] : std::map<const char*, std::string>{{"file", "a file"},
                                                                     {"folder", "a folder"},
                                                                     {"link", "a symbolic link"},
                                                                     {"pipe", "a named pipe"}}) {
    const auto room = make_room(at(name));
    ASSERT_FALSE(room.has_value()) << name;
    EXPECT_TRUE(room.error().what.starts_with(what)) << room.error().message();
    EXPECT_FALSE(bind_datagram(at(name), 0600).has_value());
    EXPECT_TRUE(std::filesystem::is_symlink(at(name)) || std::filesystem::exists(at(name)));
  }
  EXPECT_EQ(std::filesystem::file_size(at("file")), 8U);
}

TEST(SocketPlaces, ADeadSocketMakesRoomAndALivingOneDoesNot) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s";
  EXPECT_EQ(look_at_place(path).value(), SocketPlace::free);
  {
    const Fd living = stream_socket(path, 1);
    EXPECT_EQ(look_at_place(path).value(), SocketPlace::held);
    EXPECT_FALSE(make_room(path).has_value());
  }
  EXPECT_EQ(look_at_place(path).value(), SocketPlace::dead);
  EXPECT_TRUE(make_room(path).has_value());
  EXPECT_EQ(look_at_place(path).value(), SocketPlace::free);
}

TEST(SocketPlaces, OneThatHasNoRoomForAnotherClientLives) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s";
  const Fd busy = stream_socket(path, 0);
  EXPECT_EQ(look_at_place(path).value(), SocketPlace::held);  // takes the one place
  EXPECT_EQ(look_at_place(path).value(), SocketPlace::held);
}

TEST(SocketPlaces, OneForDatagramsLivesToo) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s";
  {
    const Fd living = bind_datagram(path, 0600).value();
    EXPECT_EQ(look_at_place(path).value(), SocketPlace::held);
    EXPECT_FALSE(bind_datagram(path, 0600).has_value());
  }
  EXPECT_TRUE(bind_datagram(path, 0600).has_value());
}

TEST(SocketPlaces, OneThatDiesWhileItIsLookedAtIsDead) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s";
  Fd dying = stream_socket(path, 8);
  std::promise<void> looking;
  std::jthread killer([&] {
    looking.get_future().wait();
    dying.reset();
  });
  looking.set_value();
  EXPECT_EQ(look_at_place(path).value(), SocketPlace::dead);
}

TEST(SocketPlaces, AFileRemovesTheSocketItIsOfAndNoOther) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s";
  const Fd first = stream_socket(path, 1);
  {
    const SocketFile file(SocketPath::make(path).value());
    std::filesystem::rename(path, folder.path() / "aside");
    std::ofstream(path) << "another";
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
  const Fd second = stream_socket(path, 1);
  { const SocketFile file(SocketPath::make(path).value()); }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Errors, WithoutDescriptorsTheNextStepIsSaid) {
  EXPECT_NE(fail_errno(EMFILE, "open the file").value().hint.find("LimitNOFILE"),
            std::string::npos);
  EXPECT_EQ(fail_errno(EMFILE, "open the file", "", "mine").value().hint, "mine");
}

}  // namespace
}  // namespace trainward
