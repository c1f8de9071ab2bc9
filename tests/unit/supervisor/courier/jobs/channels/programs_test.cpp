// Commands and mail: real programs, without a shell.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "fixture.hpp"
#include "supervisor/courier/jobs/channels/channel_program.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;
using testing::HasSubstr;

class Programs : public ChannelTest {
 protected:
  std::string script(const std::string& text) const {
    const auto file = folder_.write("program", "#!/bin/sh\n" + text);
    ::chmod(file.c_str(), 0700);
    return file.string();
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(folder_.path() / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  orders::Channel command(const std::vector<std::string>& words) const {
    orders::Channel out;
    out.name = "night";
    out.kind = ChannelKind::command;
    out.words["run"] = words;
    return orders::with_defaults(out);
  }
};

TEST_F(Programs, GetJsonOnStdinAndVariables) {
  const std::string out = (folder_.path() / "out").string();
  begin(command({script("cat >\"$1\"; echo \"$TRAINWARD_TITLE|$TRAINWARD_TIER|$2\" >>\"$1\""), out,
                 "$(id) `id` ;x"}));
  const auto message = tell("the title; $(id)", "critical");
  work();
  EXPECT_EQ(told(message).state, "sent");
  const std::string said = read("out");
  EXPECT_EQ(json_of(said.substr(0, said.find('\n'))).at("data").at("title"), "the title; $(id)");
  EXPECT_THAT(said, HasSubstr("\nthe title; $(id)|critical|$(id) `id` ;x\n"));
}

TEST_F(Programs, ExitStatusSaysWhatNext) {
  const std::string flag = (folder_.path() / "flag").string();
  begin(command({script("[ -e \"$1\" ] || { : >\"$1\"; exit 75; }"), flag}));
  const auto first = tell("one");
  work();
  EXPECT_EQ(told(first).state, "waiting");
  EXPECT_THAT(told(first).error, HasSubstr("exit status 75"));
  now_ms_ += 10'000;
  work();
  EXPECT_EQ(told(first).state, "sent");

  auto failing = command({script("echo " + std::string(secret) + " >&2; exit 3")});
  failing.name = "failing";
  begin(failing);
  const auto second = tell("two");
  work();
  EXPECT_EQ(told(second).state, "failed");
  EXPECT_THAT(told(second).error, HasSubstr("exit status 3"));

  auto missing = command({"/nowhere/at/all"});
  missing.name = "missing";
  begin(missing);
  const auto third = tell("three");
  work();
  EXPECT_EQ(told(third).state, "waiting") << "it may be installed later";
}

TEST_F(Programs, HaveNothingOfOursOpenAndAGroupOfTheirOwn) {
  const auto out = (folder_.path() / "out").string();
  const auto end = run_program(
      {{script("ls /proc/self/fd >\"$1\"; ps -o pgid= -p $$ >>\"$1\"; echo $$ >>\"$1\""), out}, ""},
      30'000, {});
  ASSERT_TRUE(end);
  std::istringstream said(read("out"));
  std::vector<std::string> words{std::istream_iterator<std::string>(said), {}};
  ASSERT_GE(words.size(), 3U);
  EXPECT_EQ(words[words.size() - 1], words[words.size() - 2]) << "the group's leader is itself";
  EXPECT_LE(words.size(), 6U) << "0, 1, 2 and the folder that ls reads";
}

TEST_F(Programs, AreEndedWithAllTheirsWhenTheyTakeTooLong) {
  const auto pid_file = folder_.path() / "pid";
  const auto end = run_program(
      {{script("sleep 600 & echo $! >\"$1\"; wait"), pid_file.string()}, ""}, 2'000, {});
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_EQ(end->kind, ProgramEnd::Kind::too_slow);
  const std::string child = read("pid");
  ASSERT_FALSE(child.empty());
  // It has its signal, and ends when the kernel comes round to it; none: it is gone already.
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, std::stoi(child), 0)));
  if (process) {
    pollfd ended{process.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ended, 1, 30'000), 1) << "what the program started lives on";
  }
}

TEST_F(Programs, AStopEndsThemAndIsNoVerdict) {
  std::stop_source stop;
  stop.request_stop();
  const auto end = run_program({{script("sleep 600")}, ""}, 30'000, stop.get_token());
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind, ErrorKind::transient);
}

TEST_F(Programs, ThatReadNothingHoldNothingUp) {
  const auto end = run_program({{"/bin/true"}, std::string(1'000'000, 'x')}, 30'000, {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status, 0);
}

TEST_F(Programs, MailThatDidNotReachItsServerIsTriedAgain) {
  for (const auto& [status, state] : {std::pair(68, "waiting"),
                                      {69, "waiting"},
                                      {71, "waiting"},
                                      {74, "waiting"},
                                      {75, "waiting"},
                                      {67, "failed"}}) {
    orders::Channel spec;
    spec.name = "mail" + std::to_string(status);
    spec.kind = ChannelKind::mail;
    spec.words["to"] = {"me@example.org"};
    spec.texts["sendmail"] = script("exit " + std::to_string(status));
    begin(orders::with_defaults(spec));
    const auto message = tell("crashed");
    work();
    EXPECT_EQ(told(message).state, state) << status;
    now_ms_ += 600'000;
  }
}

TEST_F(Programs, MailGoesToSendmailWithReceiversInItsHeaders) {
  orders::Channel spec;
  spec.name = "mail";
  spec.kind = ChannelKind::mail;
  spec.words["to"] = {"me@example.org"};
  const auto mail = (folder_.path() / "mail").string();
  spec.texts["sendmail"] = script("[ \"$*\" = '-t -oi' ] || exit 1\ncat >'" + mail + "'");
  begin(orders::with_defaults(spec));
  const auto message = tell("trainer: crashed", "critical", 5);
  work();
  EXPECT_EQ(told(message).state, "sent") << told(message).error;
  EXPECT_THAT(read("mail"), HasSubstr("\nTo: me@example.org\nSubject: trainer: crashed\n"));
  EXPECT_THAT(read("mail"), HasSubstr("\nMessage-ID: <msg_run0_" + std::to_string(message)));
}

}  // namespace
}  // namespace trainward::courier
