// listen, hosts and tokens: what is taken, what is refused with its place, and that no message ever
// has a token in it.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/digest.hpp"
#include "fixture.hpp"

namespace trainward::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string program = "programs: {a: {command: [/bin/true]}}\n";
const std::string secret = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG=";
const std::string other_secret = "other-6789abcdefghijklmnopqrstuvwxyzABCDEFG=";

class Listens : public ConfigTest {
 protected:
  void write_private(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    write(name, text);
    ASSERT_EQ(::chmod((folder_ / name).c_str(), mode), 0);
  }
  std::vector<std::string> found(const std::string& lines) const {
    auto list = problems(program + lines);
    for (const std::string& problem : list) {
      EXPECT_THAT(problem, Not(HasSubstr("6789abcdef"))) << "a token is in a message";
    }
    return list;
  }
};

TEST_F(Listens, NowhereUnlessAskedTo) {
  const auto config = load_text(program);
  ASSERT_TRUE(config);
  EXPECT_THAT(config->listening.addresses, IsEmpty());
  EXPECT_THAT(config->listening.tokens, IsEmpty());
}

TEST_F(Listens, OnAddressesOfThisMachine) {
  const auto config =
      load_text(program +
                "listen: [127.0.0.1:8420, \"[::1]:8420\", localhost:9, \"[0:0::1]:0\"]\n"
                "hosts: [Train.Example.org, \"[fd00::5]\", 192.168.1.5]\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_THAT(config->listening.addresses,
              ElementsAre(Address{"127.0.0.1", 8420}, Address{"::1", 8420}, Address{"127.0.0.1", 9},
                          Address{"::1", 0}));
  EXPECT_EQ(config->listening.addresses[1].text(), "[::1]:8420");
  EXPECT_THAT(config->listening.hosts,
              ElementsAre("train.example.org", "[fd00::5]", "192.168.1.5"));
  EXPECT_EQ(load_text(program + "listen: 127.0.0.1:1\n")->listening.addresses.size(), 1U);
}

TEST_F(Listens, BehindProxiesOfTheseAddresses) {
  const auto config = load_text(program + "proxies: [127.0.0.1, \"0:0::1\"]\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_THAT(config->listening.proxies, ElementsAre("127.0.0.1", "::1"));
  EXPECT_EQ(load_text(program + "proxies: 10.0.0.7\n")->listening.proxies.size(), 1U);
  EXPECT_THAT(found("proxies: [example.org, '10.0.0.0/8', '[::1]', {a: 1}]\n"),
              testing::Each(HasSubstr("proxies: expected the address")));
}

TEST_F(Listens, BesideAProgramWithoutAName) {
  const auto config = load_text("command: [/bin/true]\nlisten: 127.0.0.1:8420\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_EQ(config->listening.addresses.size(), 1U);
  EXPECT_EQ(config->programs.size(), 1U);
}

TEST_F(Listens, WhatIsNoAddressIsShownWithItsPlace) {
  for (const char* wrong : {"8420", "localhost", "example.org:80", "127.0.0.1:65536",
                            "127.0.0.1:-1", "'127.0.0.1:'", "':80'", "127.0.0.1:80x", "127.1:80",
                            "'::1:80'", "'[::1]'", "'[127.0.0.1]:80'", "{a: 1}"}) {
    EXPECT_THAT(found("listen: " + std::string(wrong) + "\n"),
                ElementsAre(StartsWith("2:9: listen: expected an address and a port")))
        << wrong;
  }
  EXPECT_THAT(found("listen: [127.0.0.1:5, 127.0.0.1:5]\n"),
              ElementsAre("2:23: listen: 127.0.0.1:5 stands here twice"));
  EXPECT_THAT(found("hosts: ['a b', 'x:80', 'https://x']\n"), testing::SizeIs(3));
}

TEST_F(Listens, OnOtherAddressesOnlyWithTokens) {
  for (const char* address : {"0.0.0.0:8420", "192.168.1.5:8420", "'[::]:8420'", "128.0.0.1:1",
                              "'[::ffff:127.0.0.1]:1'"}) {
    EXPECT_THAT(found("listen: " + std::string(address) + "\n"),
                ElementsAre(AllOf(StartsWith("2:9: listen: "), HasSubstr("there are no 'tokens'"),
                                  HasSubstr("ssh -L"))))
        << address;
  }
  write_private("t", secret + "\n");
  const auto config = load_text(program + "listen: 0.0.0.0:8420\ntokens: {viewer: t}\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_THAT(config->notes, testing::Contains(testing::Field(&Problem::message,
                                                              HasSubstr("without encryption"))));
}

TEST_F(Listens, TokensAreKeptAsDigestsByTheNameOfTheirHolder) {
  write_private("v", "# who may look\n\nanna " + secret + "\r\n");
  write_private("o", other_secret, 0400);
  const auto config = load_text(program + "tokens:\n  viewer: v\n  operator: [o]\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_THAT(config->listening.tokens,
              ElementsAre(Token{"anna", sha256_hex(secret), false},
                          Token{"operator", sha256_hex(other_secret), true}));
}

TEST_F(Listens, ATokenThatOthersMayReadIsNone) {
  for (const mode_t mode : {0640, 0604, 0620, 0601}) {
    write_private("t", secret, mode);
    EXPECT_THAT(
        found("tokens: {operator: t}\n"),
        ElementsAre(AllOf(StartsWith("2:20: tokens.operator: "),
                          HasSubstr("may be read or written by others"), HasSubstr("chmod 600"))))
        << mode;
  }
}

TEST_F(Listens, WhatIsNoFileIsRefusedAndNeverWaitedFor) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(found("tokens: {viewer: pipe}\n"), ElementsAre(HasSubstr("is a pipe, not a file")));
  EXPECT_THAT(found("tokens: {viewer: data}\n"), ElementsAre(HasSubstr("folder")));
  EXPECT_THAT(found("tokens: {viewer: none.txt}\n"),
              ElementsAre(AllOf(StartsWith("2:18: tokens.viewer: "), HasSubstr("none.txt"),
                                HasSubstr("No such file"))));
  EXPECT_THAT(found("tokens: {viewer: /dev/zero}\n"), ElementsAre(HasSubstr("not a file")));
  EXPECT_THAT(found("tokens: {admin: t}\n"), ElementsAre(HasSubstr("unknown key 'admin'")));
}

TEST_F(Listens, ATokenInThePlaceOfItsFileIsNotRepeated) {
  EXPECT_THAT(found("tokens: {viewer: " + secret + "}\n"),
              ElementsAre(HasSubstr("looks like a token itself")));
}

TEST_F(Listens, LinesThatAreNoneAreNamedByNumberOnly) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"anna 0123456789abcdef6789abcdef\n", "line 1 has a token of 26 characters"},
      {"# x\n" + secret + " anna\n", "line 2 has a token of 4 characters"},
      {"an/na " + secret, "line 1 has an invalid name"},
      {"anna " + secret + " more", "line 1 has a token with other characters"},
      {secret + "\xc3\xa4", "line 1 has a token with other characters"},
      {std::string(513, 'x'), "line 1 has a token of 513 characters"},
      {"\n# nothing\n", "has no token"},
      {std::string(70'000, '\n'), "longer than 64 KiB"}};
  for (const auto& [text, expected] : cases) {
    write_private("t", text);
    EXPECT_THAT(found("tokens: {viewer: t}\n"), ElementsAre(HasSubstr(expected)));
  }
}

TEST_F(Listens, EverybodyHasATokenAndANameOfTheirOwn) {
  write_private("v", "anna " + secret);
  write_private("o", "bert " + secret);
  EXPECT_THAT(found("tokens: {viewer: v, operator: o}\n"),
              ElementsAre(HasSubstr("the token of bert is also that of anna")));
  write_private("o", "anna " + other_secret);
  EXPECT_THAT(found("tokens: {viewer: v, operator: o}\n"),
              ElementsAre(HasSubstr("two tokens are called anna")));
  write_private("v", secret + "\n" + other_secret + "\n");
  const auto config = load_text(program + "tokens: {viewer: v}\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->listening.tokens[1].name, "viewer-2");
}

// Somebody else's configuration can be looked at; only the daemon must be able to read tokens.
TEST_F(Listens, WhoMayNotReadTokensIsTold) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  write_private("t", secret, 0);
  const auto config = load_text(program + "listen: 0.0.0.0:1\ntokens: {viewer: t}\n");
  ASSERT_TRUE(config) << config.error().front().text();
  const auto refused = check_tokens(*config);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused[0].message, HasSubstr("may not be read by this user"));
}

}  // namespace
}  // namespace trainward::config
