// --host without a machine: addresses, what ssh is told, frames, first words, failures in words.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <random>
#include <thread>
#include <tuple>

#include "common/os/fd.hpp"
#include "fixture.hpp"
#include "supervisor/ctl/client/failure.hpp"
#include "supervisor/ctl/client/frames.hpp"
#include "supervisor/ctl/client/hello.hpp"
#include "supervisor/ctl/client/relay.hpp"
#include "supervisor/ctl/client/remote_address.hpp"

namespace trainward::ctl::remote {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Address, WhatPeopleWrite) {
  struct Case {
    const char* text;
    Address address;
  };
  const std::vector<Case> cases{
      {"ssh://box", {"", "box", 0, "", ""}},
      {"box", {"", "box", 0, "", ""}},
      {"ssh://box/", {"", "box", 0, "", ""}},
      {"ssh://anna@box.example.org:2222/srv/run/.trainward",
       {"anna", "box.example.org", 2222, "/srv/run/.trainward", ""}},
      {"anna@box/run/trainward/trainward.sock",
       {"anna", "box", 0, "/run/trainward/trainward.sock", ""}},
      {"ssh://box/~/run/.trainward", {"", "box", 0, "~/run/.trainward", ""}},
      {"ssh://box/~", {"", "box", 0, "~", ""}},
      {"ssh://[::1]:22/a%20b", {"", "::1", 22, "/a b", ""}},
      {"ssh://anna@corp.example@box", {"anna@corp.example", "box", 0, "", ""}},
      {"ssh://box?program=/opt/trainward/bin/trainwardctl",
       {"", "box", 0, "", "/opt/trainward/bin/trainwardctl"}},
      {"ssh://box/a?program=/opt/b", {"", "box", 0, "/a", "/opt/b"}},
  };
  for (const Case& each : cases) {
    const auto address = read_address(each.text);
    ASSERT_TRUE(address.has_value()) << each.text << ": " << address.error().message();
    EXPECT_EQ(*address, each.address) << each.text;
  }
  EXPECT_EQ(read_address("anna@[::1]:22/~/a b")->text(), "ssh://anna@[::1]:22/~/a b");
  EXPECT_EQ(read_address("ssh://box")->text(), "ssh://box");
}

// ssh would take them for options, or hand them to a shell of its configuration.
TEST(Address, HostileNamesAreRefused) {
  for (const char* text : {"",
                           "ssh://",
                           "ssh:///srv",
                           "ssh://-oProxyCommand=id",
                           "ssh://-F/tmp/x",
                           "-oProxyCommand=id",
                           "ssh://-l@box",
                           "ssh://--@box",
                           "ssh://a b",
                           "ssh://box;id",
                           "ssh://$(id)",
                           "ssh://`id`",
                           "ssh://box|id",
                           "ssh://box\nid",
                           "ssh://box%0aid",
                           "ssh://'box'",
                           "ssh://an na@box",
                           "ssh://$(id)@box",
                           "ssh://anna;id@box",
                           "ssh://@box",
                           "ssh://box:",
                           "ssh://box:0",
                           "ssh://box:65536",
                           "ssh://box:22x",
                           "ssh://box:-1",
                           "ssh://[::1",
                           "ssh://[-1::]",
                           "ssh://[$(id):]",
                           "ssh://box/~root/x",
                           "ssh://box/a%0ab",
                           "ssh://box/a%00b",
                           "ssh://box/%zz",
                           "ssh://box?program=ctl",
                           "ssh://box?program=/opt/a;id",
                           "ssh://box?program=/opt/a'b",
                           "ssh://box?program=/opt/$(id)",
                           "ssh://box?program=/a%0ab",
                           "ssh://box?other=1",
                           "http://box",
                           "ssh://http://box",
                           "unix:///run/a.sock"}) {
    const auto address = read_address(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::usage) << text;
  }
}

TEST(Address, WhatSshIsTold) {
  const auto words = ssh_arguments(*read_address("anna@box:2222/srv/$(id)/'x"), true);
  ASSERT_GE(words.size(), 3U);
  // Behind "--" nothing is an option; the path is in no word at all.
  EXPECT_EQ(std::vector<std::string>(words.end() - 3, words.end()),
            (std::vector<std::string>{"--", "box", "trainwardctl connect"}));
  for (const std::string& word : words) EXPECT_THAT(word, Not(HasSubstr("srv")));
  EXPECT_THAT(words, Contains("ClearAllForwardings=yes"));
  EXPECT_THAT(words, Contains("anna"));
  EXPECT_THAT(words, Contains("2222"));
  EXPECT_THAT(words, Not(Contains("BatchMode=yes")));
  EXPECT_THAT(ssh_arguments(*read_address("box"), false), Contains("BatchMode=yes"));
  EXPECT_EQ(ssh_arguments(*read_address("box?program=/opt/a/ctl"), true).back(),
            "'/opt/a/ctl' connect");
}

TEST(Frames, ComeOutAsTheyWentInHoweverTheyAreCut) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto upto = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  std::vector<Frame> frames;
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    Frame frame{static_cast<FrameKind>("odex"[upto(3)]), static_cast<std::uint32_t>(random()), ""};
    frame.payload.resize(i % 50 == 0 ? longest_payload : upto(300));
    for (char& byte : frame.payload) byte = static_cast<char>(random());
    add_frame(bytes, frame.kind, frame.channel, frame.payload);
    frames.push_back(std::move(frame));
  }
  FrameReader reader;
  std::size_t at = 0;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t length = std::min(1 + upto(5000), bytes.size() - begin);
    reader.add(std::string_view(bytes).substr(begin, length));
    begin += length;
    for (auto frame = reader.next(); frame.value(); frame = reader.next()) {
      ASSERT_LT(at, frames.size());
      EXPECT_EQ((*frame)->kind, frames[at].kind);
      EXPECT_EQ((*frame)->channel, frames[at].channel);
      EXPECT_EQ((*frame)->payload, frames[at].payload);
      ++at;
    }
  }
  EXPECT_EQ(at, frames.size());
}

TEST(Frames, OtherBytesAreNone) {
  FrameReader text;
  text.add("Last login: Thu Nov 20");
  EXPECT_EQ(text.next().error().kind, ErrorKind::corrupt);
  FrameReader endless;
  endless.add(std::string("d\0\0\0\1\xff\xff\xff\xff", 9));
  EXPECT_EQ(endless.next().error().kind, ErrorKind::corrupt);
}

TEST(Hello, IsFoundBehindWhatALoginPrints) {
  std::string bytes = "Welcome to box!\n{\"trainward\": 1}\n\x1b[0m" +
                      hello_line({1, "0.1.0", "/srv/a b/\"x\""}) + "behind";
  const auto hello = take_hello(bytes);
  ASSERT_TRUE(hello.has_value() && hello->has_value());
  EXPECT_EQ((*hello)->protocol, 1);
  EXPECT_EQ((*hello)->version, "0.1.0");
  EXPECT_EQ((*hello)->place, "/srv/a b/\"x\"");
  EXPECT_EQ(bytes, "behind");

  std::string half = "Welcome\n{\"trainward-con";
  EXPECT_FALSE(take_hello(half).value().has_value());
  std::string endless(100'000, 'x');
  EXPECT_FALSE(take_hello(endless).has_value());
}

TEST(Failure, EachHasItsWordsAndTheLineToType) {
  struct Case {
    Ending ending;
    Trouble trouble;
    const char* what;
    const char* hint;
  };
  const std::vector<Case> cases{
      {{ENOENT, false, {}, ""}, Trouble::refused, "no ssh in PATH", "openssh-client"},
      {{0, false, 255, "anna@box: Permission denied (publickey).\r\n"},
       Trouble::denied,
       "not let in: anna@box: Permission denied (publickey)",
       "ssh -p 22 anna@box true"},
      {{0, false, 255, "ssh: Could not resolve hostname box: Name or service not known\r\n"},
       Trouble::refused,
       "no machine of this name",
       "~/.ssh/config"},
      {{0, false, 255, "ssh: connect to host box port 22: No route to host\n"},
       Trouble::refused,
       "cannot be reached: ssh: connect to host box port 22: No route to host",
       "ssh -p 22 anna@box true"},
      {{0, false, 255, "No ED25519 host key is known for box.\nHost key verification failed.\n"},
       Trouble::refused,
       "key is not known here",
       "shows the key and asks"},
      {{0, false, 127, "sh: 1: trainwardctl: not found\n"},
       Trouble::refused,
       "trainwardctl was not found",
       "command -v trainwardctl"},
      {{0, false, 2, "trainwardctl: unknown command 'connect'; trainwardctl --help lists them\n"},
       Trouble::garbled,
       "older version",
       "install the version"},
      {{0, false, 3, "out of cheese\n"},
       Trouble::refused,
       "status 3: out of cheese",
       "trainwardctl"},
      {{0, false, {}, ""}, Trouble::refused, "by a signal: it gave no reason", "trainwardctl"},
      {{0, true, 255, "client_loop: send disconnect: Broken pipe\nKilled by signal 15.\n"},
       Trouble::refused,
       "broke off: client_loop: send disconnect: Broken pipe",
       "try again"},
  };
  const Address address = *read_address("anna@box:22");
  for (const Case& each : cases) {
    const ClientError error = ended(address, each.ending);
    EXPECT_EQ(error.trouble, each.trouble) << each.what;
    EXPECT_THAT(error.error.what, HasSubstr(each.what));
    EXPECT_THAT(error.error.hint, HasSubstr(each.hint)) << each.what;
    EXPECT_EQ(error.error.where, "ssh://anna@box:22");
  }
}

// Two relays with a socket between them; at the far end each channel is a socket that is kept.
class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    std::tie(near_end_, far_end_) = pair();
    near_ = std::make_unique<Relay>(near_end_.get(), near_end_.get());
    far_ =
        std::make_unique<Relay>(far_end_.get(), far_end_.get(), [this]() -> tl::expected<Fd, int> {
          if (refuse_) return tl::unexpected<int>(ECONNREFUSED);
          auto [theirs, ours] = pair();
          served_.push_back(std::move(ours));
          return std::move(theirs);
        });
  }
  static std::pair<Fd, Fd> pair() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    return {Fd(ends[0]), Fd(ends[1])};
  }
  Fd open() {
    auto [mine, theirs] = pair();
    refusal_ = std::make_shared<std::atomic<int>>(0);
    near_->open(std::move(theirs), refusal_);
    return std::move(mine);
  }
  static bool ready(int fd) {
    pollfd polled{fd, POLLIN, 0};
    return ::poll(&polled, 1, 0) > 0;
  }
  // Until neither has anything left to do; `bytes` are what comes out of `fd` meanwhile.
  void settle(int fd = -1, std::string* bytes = nullptr) {
    const Fd always(::eventfd(1, EFD_CLOEXEC));
    for (int idle = 0; idle < 3; ++idle) {
      ASSERT_TRUE(near_->turn({always.get()}).has_value());
      ASSERT_TRUE(far_->turn({always.get()}).has_value());
      if (ready(near_end_.get()) || ready(far_end_.get())) idle = 0;
      if (fd >= 0 && take(fd, *bytes)) idle = 0;
    }
  }
  static bool take(int fd, std::string& bytes) {
    std::array<char, 4096> piece{};
    const ssize_t got = ::recv(fd, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) bytes.append(piece.data(), static_cast<std::size_t>(got));
    return got > 0;
  }
  static bool ended(int fd) {
    char byte = 0;
    return ::recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
  }

  Fd near_end_;
  Fd far_end_;
  std::unique_ptr<Relay> near_;
  std::unique_ptr<Relay> far_;
  std::vector<Fd> served_;
  Refusal refusal_;
  bool refuse_ = false;
};

TEST_F(RelayTest, ChannelsDoNotMix) {
  const Fd first = open();
  const Fd second = open();
  ASSERT_EQ(::send(first.get(), "one", 3, 0), 3);
  ASSERT_EQ(::send(second.get(), "two", 3, 0), 3);
  settle();
  ASSERT_EQ(served_.size(), 2U);
  std::string asked;
  take(served_[0].get(), asked);
  take(served_[1].get(), asked);
  EXPECT_EQ(asked, "onetwo");
  ASSERT_EQ(::send(served_[1].get(), "2", 1, 0), 1);
  ASSERT_EQ(::send(served_[0].get(), "1", 1, 0), 1);
  settle();
  std::string answers;
  take(first.get(), answers);
  take(second.get(), answers);
  EXPECT_EQ(answers, "12");
}

TEST_F(RelayTest, TheEndComesBehindTheLastByte) {
  const Fd client = open();
  settle();
  ASSERT_EQ(served_.size(), 1U);
  const std::string text(3 << 20, 'x');
  std::thread daemon([&, fd = std::move(served_[0])]() mutable {
    for (std::size_t sent = 0; sent < text.size();) {
      pollfd writable{fd.get(), POLLOUT, 0};
      ::poll(&writable, 1, -1);
      const auto put = ::send(fd.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (put > 0) sent += static_cast<std::size_t>(put);
    }
    fd.reset();
  });
  std::string got;
  while (got.size() < text.size()) settle(client.get(), &got);
  daemon.join();
  settle();
  EXPECT_EQ(got, text);
  EXPECT_TRUE(ended(client.get()));
}

TEST_F(RelayTest, AClientThatGoesClosesTheDaemonsSide) {
  Fd client = open();
  settle();
  client.reset();
  settle();
  ASSERT_EQ(served_.size(), 1U);
  EXPECT_TRUE(ended(served_[0].get()));
}

TEST_F(RelayTest, ARefusalHasItsNumber) {
  refuse_ = true;
  const Fd client = open();
  settle();
  EXPECT_EQ(*refusal_, ECONNREFUSED);
  EXPECT_TRUE(ended(client.get()));
}

TEST_F(RelayTest, TheFarSideOpensNothingHere) {
  std::string bytes;
  add_frame(bytes, FrameKind::open, 7);
  ASSERT_EQ(::send(far_end_.get(), bytes.data(), bytes.size(), 0), std::ssize(bytes));
  const auto turned = near_->turn();
  ASSERT_FALSE(turned.has_value());
  EXPECT_EQ(turned.error().kind, ErrorKind::corrupt);
}

TEST_F(RelayTest, ItEndsWithTheConnection) {
  far_.reset();
  far_end_.reset();
  const auto turned = near_->turn();
  EXPECT_TRUE(turned.has_value() && !*turned);
}

}  // namespace
}  // namespace trainward::ctl::remote
