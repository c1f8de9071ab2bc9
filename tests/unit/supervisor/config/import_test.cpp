// supervisord's configuration in our words.
#include <gmock/gmock.h>

#include "fixture.hpp"
#include "supervisor/config/elsewhere/program_words.hpp"
#include "supervisor/config/import/expand.hpp"
#include "supervisor/config/import/ini.hpp"
#include "supervisor/config/import/program_entry.hpp"
#include "supervisor/config/import/supervisord.hpp"
#include "supervisor/config/reading/secrets.hpp"

namespace trainward::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

std::optional<std::string> variable(const std::string& name) {
  if (name == "HOME") return "/home/me";
  if (name == "HF_TOKEN") return "hf_abc";
  return std::nullopt;
}

class Import : public ConfigTest {
 protected:
  std::string imported(const std::string& ini, bool with_secrets = true) const {
    const auto result = import_supervisord(ini, {.file = "s.conf",
                                                 .here = folder_.string(),
                                                 .host = "box",
                                                 .variable = variable,
                                                 .with_secrets = with_secrets});
    return result ? result->yaml : "error: " + result.error().what;
  }
  // As the daemon would read it.
  Config read(const std::string& ini) const {
    const std::string text = imported(ini);
    auto config = load_text(text);
    EXPECT_TRUE(config) << config.error().front().text() << "\n" << text;
    return config ? std::move(*config) : Config{};
  }
  static std::vector<std::string> words_of(const Program& program) {
    return foreign::fill(program.command, {});
  }
};

TEST(Ini, SectionsKeysCommentsAndLinesThatGoOn) {
  const auto sections = parse_ini(
      "; a comment\n[a]\nKey = one ; said\nother: x;y\nlong=1,\n  2 # no\n\n  3\n[b]\r\n"
      "k=v\r\n[a]\nkey=two\n");
  ASSERT_TRUE(sections) << sections.error().what;
  ASSERT_EQ(sections->size(), 2U);
  EXPECT_EQ(*sections->at(0).find("key"), "two");
  EXPECT_EQ(*sections->at(0).find("other"), "x;y");
  EXPECT_EQ(*sections->at(0).find("long"), "1,\n2\n3");
  EXPECT_EQ(*sections->at(1).find("k"), "v");
  EXPECT_EQ(sections->at(1).find("none"), nullptr);
}

TEST(Ini, WhatIsNoneIsNamedWithItsLine) {
  EXPECT_EQ(parse_ini("k=v\n").error().what, "line 1: no [section] begins before it");
  EXPECT_EQ(parse_ini("[a]\nword\n").error().what, "line 2: neither a [section] nor key=value");
  EXPECT_FALSE(parse_ini(std::string(2'000'000, '#')));
  EXPECT_FALSE(parse_ini(std::string("[a]\0", 4)));
  std::string many = "[a]\n";
  for (int i = 0; i < 10'001; ++i) many += "k" + std::to_string(i) + "=1\n";
  EXPECT_FALSE(parse_ini(many));
}

TEST(Expand, NamesNumbersAndPercent) {
  const std::map<std::string, std::string> values{{"n", "7"}, {"name", "w"}};
  EXPECT_EQ(expand("%(name)s_%(n)02d%% 5% %(n)s %(n)d", values).text, "w_07% 5% 7 7");
  EXPECT_EQ(expand("%(n)9999999999999999999d", values).text, "7");
  const Expanded unknown = expand("a %(x)s %(name) %(", values);
  EXPECT_THAT(unknown.unknown, ElementsAre("x", "name"));
  EXPECT_EQ(unknown.text, "a %(x)s %(name) %(");
}

TEST(Expand, Variables) {
  EXPECT_THAT(variables_of("A=\"1,2\", B = x y,\nC='q\"',D=").value(),
              ElementsAre(Pair("A", "1,2"), Pair("B", "x y"), Pair("C", "q\""), Pair("D", "")));
  EXPECT_TRUE(variables_of("").value().empty());
  EXPECT_FALSE(variables_of("nothing"));
  EXPECT_FALSE(variables_of("A=1,B=\"open"));
  EXPECT_FALSE(variables_of("A=\"## A\nURL=\"http://h\"")) << "cut off by a comment in it";
}

TEST_F(Import, AProgramBecomesOne) {
  const Config config = read(
      "[supervisord]\nloglevel=warn\nenvironment=A=\"1\",B=\"1\"\n"
      "[program:train]\ncommand=python3 train.py --name '%(program_name)s {x}' %(here)s\n"
      "directory=~\nautostart=false\nautorestart=true\nstopwaitsecs=30\nstartretries=3\n"
      "stdout_logfile_maxbytes=50MB\nstdout_logfile_backups=7\nenvironment=B=\"2\"\n");
  EXPECT_EQ(config.log_level, "warning");
  ASSERT_EQ(config.programs.size(), 1U);
  const Program& program = config.programs[0];
  EXPECT_EQ(program.name, "train");
  EXPECT_THAT(words_of(program),
              ElementsAre("python3", "train.py", "--name", "train {x}", folder_.string()));
  EXPECT_FALSE(program.autostart);
  EXPECT_EQ(program.autorestart, Autorestart::always);
  EXPECT_EQ(program.deadlines.stop_ms, 30'000);
  EXPECT_EQ(program.budgets.attempts_without_progress, 4);
  EXPECT_EQ(program.log_max_bytes, 50 << 20);
  EXPECT_EQ(program.log_keep, 7);
  EXPECT_EQ(program.environment.at("A").fill({}).text, "1");
  EXPECT_EQ(program.environment.at("B").fill({}).text, "2");
}

TEST_F(Import, SeveralProcessesAreSeveralPrograms) {
  const Config config = read(
      "[program:b]\ncommand=/bin/true %(process_num)d\nnumprocs=2\nnumprocs_start=4\n"
      "process_name=%(program_name)s_%(process_num)02d\npriority=10\n"
      "[program:a]\ncommand=/bin/true\nnumprocs=2\npriority=5\n"
      "[program:all]\ncommand=/bin/true\n[program:a b]\ncommand=/bin/true\n");
  std::vector<std::string> names;
  for (const Program& program : config.programs) names.push_back(program.name);
  EXPECT_THAT(names, ElementsAre("a-0", "a-1", "b_04", "b_05", "program-all", "a-b"));
  EXPECT_THAT(words_of(config.programs[3]), ElementsAre("/bin/true", "5"));
}

TEST_F(Import, WhatHasNoCounterpartIsSaid) {
  const std::string text = imported(
      "[unix_http_server]\nfile=/run/s.sock\npassword=geheim\n[include]\nfiles=/etc/x/*.conf\n"
      "[supervisord]\nlogfile=/x.log\nminfds=9\n[group:g]\nprograms=a\n"
      "[program:a]\ncommand=/bin/true\numask=rwx\nstopsignal=POLL\nstartsecs=5\nfrob=1\n"
      "redirect_stderr=true\nstdout_logfile=/x.log\nkillasgroup=true\nexitcodes=0,x\n"
      "stopwaitsecs=soon\nautostart=maybe\nstdout_logfile_maxbytes=0\n");
  EXPECT_THAT(
      text, AllOf(HasSubstr("# umask=rwx: expected octal digits"), HasSubstr("# stopsignal=POLL: "),
                  HasSubstr("# startsecs=5: "), HasSubstr("# frob=1: is not known here")));
  EXPECT_THAT(text, AllOf(HasSubstr("# redirect_stderr=true: both streams are kept"),
                          HasSubstr("# stdout_logfile=/x.log: logs lie in"),
                          HasSubstr("# exitcodes=0,x: "), HasSubstr("# killasgroup=true: ")));
  EXPECT_THAT(text, AllOf(HasSubstr("# stopwaitsecs=soon: expected a number"),
                          HasSubstr("# autostart=maybe: is neither true nor false"),
                          HasSubstr("# stdout_logfile_maxbytes=0: a log is")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("# [include]: other files are not read"), HasSubstr("# [group:g]: "),
                    HasSubstr("# [supervisord] minfds: "), HasSubstr("# [supervisord] logfile: ")));
  EXPECT_THAT(text, Not(HasSubstr("geheim")));
  EXPECT_TRUE(load_text(text)) << text;
}

TEST_F(Import, HowAProgramEndsStays) {
  const Config config = read(
      "[program:a]\ncommand=/bin/true\nstopsignal=INT\nexitcodes=0, 2\n"
      "[program:b]\ncommand=/bin/true\nstopsignal=10\n[program:c]\ncommand=/bin/true\n");
  EXPECT_EQ(config.programs.at(0).stop_signal, SIGINT);
  EXPECT_THAT(config.programs.at(0).exit_codes, ElementsAre(0, 2));
  EXPECT_EQ(config.programs.at(1).stop_signal, SIGUSR1);
  EXPECT_EQ(config.programs.at(2).stop_signal, SIGTERM);
  EXPECT_THAT(config.programs.at(2).exit_codes, ElementsAre(0));
}

// supervisord ends nobody for being silent.
TEST_F(Import, NobodyIsWatchedForSilence) {
  const Config config = read("[program:a]\ncommand=/bin/true\nstopwaitsecs=30\n");
  EXPECT_EQ(config.programs.at(0).deadlines.silence_ms, 0);
  EXPECT_EQ(config.programs.at(0).deadlines.stop_ms, 30'000);
}

// Its entry would have no command, and our own worker would train in its name.
TEST_F(Import, AProgramThatCannotBeReadIsLeftOutAndNamed) {
  for (const char* broken : {"command=sh -c 'while : ; do x; done'", "numprocs=1",
                             "command=", "command=/bin/true\nenvironment=A=\"## A ##\",B=\"1\""}) {
    const std::string ini =
        std::string("[program:good]\ncommand=/bin/true\n[program:bad]\n") + broken + "\n";
    const Config config = read(ini);
    ASSERT_EQ(config.programs.size(), 1U) << broken;
    EXPECT_EQ(config.programs[0].name, "good");
    EXPECT_THAT(imported(ini), HasSubstr("# program 'bad' is left out: ")) << broken;
    EXPECT_THAT(imported(std::string("[program:bad]\n") + broken + "\n"), HasSubstr("error: "));
  }
}

TEST_F(Import, UserAndUmaskStay) {
  const Config config = read("[program:a]\ncommand=/bin/true\nuser=root\numask=027\n");
  ASSERT_TRUE(config.programs[0].user);
  EXPECT_EQ(config.programs[0].user->credentials.user, 0U);
  EXPECT_EQ(config.programs[0].umask, 027U);
}

TEST_F(Import, SecretsAreOnlyWrittenToTheirOwnersFile) {
  const std::string ini =
      "[program:a]\ncommand=/bin/true --as %(ENV_HF_TOKEN)s %(ENV_HOME)s %(ENV_NONE)s\n"
      "environment=WANDB_API_KEY=\"w123\",DB=\"postgres://u:pw@h/d\",N=\"1\"\nauth_token=q5\n";
  EXPECT_THAT(imported(ini), AllOf(HasSubstr("WANDB_API_KEY: w123"), HasSubstr("u:pw@h"),
                                   HasSubstr("hf_abc"), HasSubstr("/home/me")));
  const std::string shown = imported(ini, false);
  EXPECT_THAT(shown, AllOf(Not(HasSubstr("w123")), Not(HasSubstr("u:pw@h")),
                           Not(HasSubstr("hf_abc")), HasSubstr("N: '1'")));
  EXPECT_THAT(shown, HasSubstr("# WANDB_API_KEY looks like a secret"));
  EXPECT_THAT(shown, AllOf(HasSubstr("# auth_token: is not known here"), Not(HasSubstr("q5"))));
  EXPECT_THAT(shown, HasSubstr("%(ENV_NONE)s is not filled in here"));
  EXPECT_FALSE(looks_secret("MONKEY", "x"));
  EXPECT_FALSE(looks_secret("URL", "https://host:80/a@b"));
}

TEST_F(Import, NothingBreaksOutOfItsPlace) {
  const Config config = read(
      "[program:x: {y}]\ncommand=/bin/echo 'a: b' \"#c\" %% ]\nstopsignal=1\n  2\n"
      "environment=\"K: 1\"=\"v\\n\",Q=\"it's\"\n");
  ASSERT_EQ(config.programs.size(), 1U);
  EXPECT_THAT(words_of(config.programs[0]), ElementsAre("/bin/echo", "a: b", "#c", "%", "]"));
  EXPECT_THAT(imported("nothing"), HasSubstr("line 1"));
  EXPECT_THAT(imported("[x]\n"), HasSubstr("no [program:NAME]"));
}

TEST(ProgramWords, OursAreKeysOfAProgram) {
  for (const char* key : {"command", "stopwaitsecs", "startretries", "stdout_logfile_backups"}) {
    ASSERT_NE(find_program_word(key), nullptr);
    EXPECT_FALSE(find_program_word(key)->ours.empty());
  }
  EXPECT_FALSE(find_program_word("startsecs")->says.empty());
  EXPECT_EQ(find_program_word("frob"), nullptr);
}

}  // namespace
}  // namespace trainward::config
