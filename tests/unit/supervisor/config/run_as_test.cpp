// As whom a program runs: users, groups, umask and limits, and what it finds in its environment.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "common/os/file.hpp"
#include "fixture.hpp"
#include "supervisor/config/launch_environment.hpp"
#include "supervisor/config/reading/secrets.hpp"

namespace trainward::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

class RunAs : public ConfigTest {
 protected:
  Program program(const std::string& more) const {
    auto config = load_text("programs:\n  a:\n    command: [/bin/true]\n" + more);
    if (!config) {
      ADD_FAILURE() << config.error().front().text();
      return {};
    }
    return config->programs.front();
  }
};

TEST_F(RunAs, AUserIsLookedUpByNameOrNumber) {
  for (const char* word : {"nobody", "65534"}) {
    const Program found = program(fmt::format("    user: {}\n", word));
    ASSERT_TRUE(found.user);
    EXPECT_EQ(found.user->name, "nobody");
    EXPECT_EQ(found.user->credentials.user, 65534U);
    EXPECT_THAT(found.user->credentials.groups, Contains(found.user->credentials.group));
  }
  const Program other = program("    user: nobody\n    group: 64321\n");
  EXPECT_EQ(other.user->credentials.group, 64321U);
  EXPECT_THAT(other.user->credentials.groups, Contains(64321U));
  const Program unnamed = program("    user: 64322\n    group: 64321\n");
  EXPECT_EQ(unnamed.user->name, "64322");
  EXPECT_THAT(unnamed.user->credentials.groups, ElementsAre(64321U));
}

TEST_F(RunAs, WhomNobodyKnowsIsNamed) {
  EXPECT_THAT(wrong("user: no-such-user"),
              ElementsAre(HasSubstr("there is no user 'no-such-user' on this machine")));
  EXPECT_THAT(wrong("{user: nobody, group: no-such-group}"),
              ElementsAre(HasSubstr("there is no group 'no-such-group'")));
  EXPECT_THAT(wrong("user: 64322"), ElementsAre(HasSubstr("give one with 'group:'")));
  EXPECT_THAT(wrong("user: 4294967295"), ElementsAre(HasSubstr("there is no user")));
  EXPECT_THAT(wrong("user: -1"), ElementsAre(HasSubstr("there is no user")));
  EXPECT_THAT(wrong("group: nogroup"), ElementsAre(HasSubstr("goes with 'user'")));
  EXPECT_THAT(wrong("user: [a]"), ElementsAre(HasSubstr("expected a name or a number")));
}

TEST_F(RunAs, AnUmaskIsOctalHoweverItIsWritten) {
  for (const char* text : {"022", "22", "0o22", "'022'", "\"0022\""}) {
    EXPECT_EQ(program(fmt::format("    umask: {}\n", text)).umask, 022U) << text;
  }
  EXPECT_EQ(program("    umask: 0\n").umask, 0U);
  for (const char* text : {"08", "1000", "-1", "rwx", "''", "0x12", "[022]"}) {
    EXPECT_THAT(wrong(fmt::format("umask: {}", text)),
                ElementsAre(HasSubstr("expected three octal digits")))
        << text;
  }
}

TEST_F(RunAs, LimitsAreSoftAndHard) {
  const Program found = program(
      "    limits: {open_files: '1024:65536', core: 0B, memory_locked: unlimited, stack: "
      "8MiB:unlimited, memory: 1GiB}\n");
  EXPECT_THAT(found.resource_limits,
              ElementsAre(ResourceLimit{"open_files", 1024, 65536}, ResourceLimit{"core", 0, 0},
                          ResourceLimit{"memory_locked", unlimited, unlimited},
                          ResourceLimit{"stack", 8U << 20U, unlimited}));
  for (const char* text : {"open_files: -1", "open_files: 1GiB", "open_files: '9:8'", "core: 5",
                           "core: unlimited:0B", "stack: ':8MiB'", "processes: [1, 2]"}) {
    EXPECT_THAT(wrong(fmt::format("limits: {{{}}}", text)), ElementsAre(HasSubstr("expected ")))
        << text;
  }
}

// A run that was begun with an earlier version goes on.
TEST_F(RunAs, WithoutThemTheDigestIsWhatItWas) {
  const json::object plain = to_json(program(""));
  for (const char* key : {"user", "group", "umask"}) EXPECT_FALSE(plain.contains(key));
  EXPECT_EQ(plain.at("limits").as_object().size(), 1U);
  EXPECT_NE(program("    user: nobody\n").digest, program("").digest);
  EXPECT_NE(program("    umask: 022\n").digest, program("").digest);
  EXPECT_NE(program("    limits: {core: 0B}\n").digest, program("").digest);
}

TEST_F(RunAs, OnlyRootStartsProgramsOfOthers) {
  auto config = load_text("programs:\n  a: {command: [/bin/true], user: nobody}\n");
  ASSERT_TRUE(config);
  const auto problems = check_run_as(*config);
  if (::geteuid() == 0) {
    EXPECT_TRUE(problems.empty());
  } else {
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems[0].text(), HasSubstr("only root may start programs as user 'nobody'"));
    EXPECT_THAT(config->notes, Not(testing::IsEmpty()));
  }
  const std::string self = std::to_string(::geteuid());
  auto own = load_text(fmt::format(
      "programs:\n  a: {{command: [/bin/true], user: {}, group: {}}}\n", self, ::getegid()));
  ASSERT_TRUE(own);
  EXPECT_TRUE(check_run_as(*own).empty()) << "as itself anybody may";
}

TEST_F(RunAs, AUserFindsWhatALoginSets) {
  const Environment daemon{{"PATH", "/bin"},        {"HOME", "/root"},
                           {"USER", "root"},        {"NOTIFY_SOCKET", "/n"},
                           {"SSH_AUTH_SOCK", "/s"}, {"XDG_RUNTIME_DIR", "/run/user/0"},
                           {"LANG", "C"},           {"TRAINWARD_RUN", "other"}};
  const Environment plain = environment_of(program(""), {}, daemon);
  EXPECT_EQ(plain.at("HOME"), "/root");
  EXPECT_EQ(plain.at("SSH_AUTH_SOCK"), "/s");
  EXPECT_THAT(plain, Not(Contains(Key("NOTIFY_SOCKET"))));
  EXPECT_THAT(plain, Not(Contains(Key("TRAINWARD_RUN"))));

  const Environment theirs =
      environment_of(program("    user: nobody\n    environment: {SHELL: /bin/zsh}\n"), {}, daemon);
  EXPECT_EQ(theirs.at("USER"), "nobody");
  EXPECT_EQ(theirs.at("LOGNAME"), "nobody");
  EXPECT_NE(theirs.at("HOME"), "/root");
  EXPECT_EQ(theirs.at("SHELL"), "/bin/zsh") << "what is configured wins";
  EXPECT_EQ(theirs.at("LANG"), "C");
  EXPECT_THAT(theirs, Not(Contains(Key("SSH_AUTH_SOCK"))));
  EXPECT_THAT(theirs, Not(Contains(Key("XDG_RUNTIME_DIR"))));
}

TEST_F(RunAs, WhatChannelsAreGivenInVariablesIsForNoWorker) {
  const auto config = load_text(
      "programs:\n  a: {command: [/bin/true]}\n  b: {command: [/bin/true], environment: {TEAM: "
      "x}}\n"
      "notify: {channels: {n: {ntfy: {topic: env:NIGHT, token: env:ENTRY}},\n"
      "  s: {slack: {url: env:TEAM}}}}\n");
  ASSERT_TRUE(config);
  const Environment daemon{{"NIGHT", "a"}, {"ENTRY", "b"}, {"TEAM", "c"}, {"LANG", "C"}};
  const Environment of_a = environment_of(config->programs[0], {}, daemon);
  for (const char* name : {"NIGHT", "ENTRY", "TEAM"}) EXPECT_FALSE(of_a.contains(name)) << name;
  EXPECT_EQ(of_a.at("LANG"), "C");
  EXPECT_EQ(environment_of(config->programs[1], {}, daemon).at("TEAM"), "x") << "it is its own";
  EXPECT_THAT(without_withheld(config->programs[0], daemon), testing::ElementsAre(Key("LANG")));
}

TEST_F(RunAs, AProgramIsFoundByItsOwnPath) {
  std::filesystem::create_directories(folder_ / "venv");
  std::ofstream(folder_ / "venv" / "python3") << "#!/bin/sh\n";
  std::filesystem::permissions(folder_ / "venv" / "python3", std::filesystem::perms(0755));
  std::ofstream(folder_ / "venv" / "data") << "no program\n";
  const std::string path = (folder_ / "missing").string() + ":" + (folder_ / "venv").string();
  EXPECT_EQ(program_file("python3", path, "/"), folder_ / "venv" / "python3");
  EXPECT_EQ(program_file("python3", "venv", folder_), folder_ / "venv" / "python3");
  EXPECT_EQ(program_file("venv/python3", "", folder_), folder_ / "venv" / "python3");
  EXPECT_EQ(program_file("data", path, "/"), "");
  EXPECT_EQ(program_file("no-such-program", path, "/"), "");
}

TEST(Secrets, OfArgumentsAreHidden) {
  EXPECT_THAT(
      without_secrets({"train", "--api-key", "k1", "--token=t2", "WANDB_API_KEY=w3", "--lr", "0.1",
                       "s3://u:p@h/x", "--password", "--quiet"}),
      ElementsAre("train", "--api-key", hidden, "--token=(hidden)", "WANDB_API_KEY=(hidden)",
                  "--lr", "0.1", hidden, "--password", "--quiet"));
}

}  // namespace
}  // namespace trainward::config
