// Commands with names in them, and the section that says how they are watched.
#include <gmock/gmock.h>

#include "fixture.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class ForeignCommand : public ConfigTest {
 protected:
  std::vector<std::string> wrong(const std::string& line) const {
    return ConfigTest::wrong("command: [x]\n    " + line);
  }
};

TEST_F(ForeignCommand, NamesAreFilledInAndListsCanBeLeftOut) {
  const auto config = load_text(R"(programs:
  a:
    command: [train, [--resume, "{checkpoint}"], "--block={block}", 'a {{literal}']
    environment: {FROM: "{checkpoint}", DEVICES: "dev-{devices}"}
)");
  ASSERT_TRUE(config) << config.error().front().text();
  const Program& program = config->programs[0];
  foreign::LaunchFacts facts;
  facts.configured.block = 64;
  EXPECT_THAT(foreign::fill(program.command, values_of(facts)),
              ElementsAre("train", "--block=64", "a {literal}"));
  facts.checkpoint = "/c/step 7.pt";
  facts.plan.block = 32;
  EXPECT_THAT(foreign::fill(program.command, values_of(facts)),
              ElementsAre("train", "--resume", "/c/step 7.pt", "--block=32", "a {literal}"));
  EXPECT_EQ(program.environment.at("FROM").fill(values_of(facts)).text, "/c/step 7.pt");
}

TEST_F(ForeignCommand, UnknownNamesAreErrors) {
  EXPECT_THAT(problems("programs:\n  a:\n    command: [x, '{chekpoint}']\n"),
              ElementsAre("3:18: programs.a.command: unknown name '{chekpoint}'; did you mean "
                          "'{checkpoint}'?"));
  EXPECT_THAT(problems("programs:\n  a:\n    command: [sh, -c, 'echo ${HOME}']\n"),
              ElementsAre(HasSubstr("a brace is written '{{'")));
  EXPECT_THAT(problems("programs:\n  a:\n    command: [x, 'a{']\n"),
              ElementsAre(HasSubstr("a '{' without its '}'")));
  EXPECT_THAT(problems("programs:\n  a:\n    command: [[x]]\n"),
              ElementsAre(HasSubstr("which may be left out")));
  EXPECT_THAT(problems("programs:\n  a:\n    command: [x, []]\n"),
              ElementsAre(HasSubstr("found an empty list")));
  EXPECT_THAT(problems("programs:\n  a:\n    command: [x, [y, [z]]]\n"),
              ElementsAre(HasSubstr("expected text, found a list")));
  EXPECT_THAT(problems("programs:\n  a:\n    environment: {X: '{y}'}\n"),
              ElementsAre(StartsWith("3:22: programs.a.environment.X: unknown name '{y}'")));
}

TEST_F(ForeignCommand, ReadsTheWatchSection) {
  const auto config = load_text(R"(programs:
  a:
    command: [x]
    watch:
      status_file: out/status.json
      keys: {step: n, loss: l, tokens: t, phase: p, tokens_per_second: s, updated: u}
      log:
        - {match: 'step (?P<step>\d+) .*loss (?P<loss>[0-9.eE+-]+)', phase: train}
        - {match: '^saving', phase: save}
      checkpoints: ['ckpts/step*.pt', '{checkpoint_dir}/*.safetensors']
      cpu_time: true
      protocol: true
)");
  ASSERT_TRUE(config) << config.error().front().text();
  const foreign::WatchSpec& watch = config->programs[0].watch;
  EXPECT_EQ(watch.status_file, "out/status.json");
  EXPECT_EQ(watch.keys, (foreign::StatusKeys{"n", "l", "t", "p", "s", "u"}));
  ASSERT_EQ(watch.log.size(), 2U);
  EXPECT_EQ(watch.log[1], (foreign::LogRule{"^saving", "save"}));
  EXPECT_THAT(watch.checkpoints, ElementsAre("ckpts/step*.pt", "{checkpoint_dir}/*.safetensors"));
  EXPECT_TRUE(watch.cpu_time);
  EXPECT_TRUE(watch.protocol);
}

TEST_F(ForeignCommand, WhatCannotBeWatchedIsNamed) {
  EXPECT_THAT(wrong("watch: {status_file: ../s.json}"),
              ElementsAre(HasSubstr("expected a file inside the program's directory")));
  EXPECT_THAT(wrong("watch: {status_file: /s.json}"), ElementsAre(HasSubstr("inside")));
  EXPECT_THAT(wrong("watch: {keys: {step: n}}"), ElementsAre(HasSubstr("needs watch.status_file")));
  EXPECT_THAT(wrong("watch: {status_file: s, keys: {stp: n}}"),
              ElementsAre(HasSubstr("did you mean 'step'?")));
  EXPECT_THAT(wrong("watch: {log: [{match: '(', phase: load}]}"),
              ElementsAre(AllOf(StartsWith("4:27: programs.a.watch.log.match: not an RE2"))));
  EXPECT_THAT(wrong("watch: {log: [{match: '(?P<stp>x)'}]}"),
              ElementsAre(HasSubstr("unknown group 'stp'; did you mean 'step'?")));
  EXPECT_THAT(wrong("watch: {log: [{match: 'x'}]}"), ElementsAre(HasSubstr("says nothing")));
  EXPECT_THAT(wrong("watch: {log: [{match: 'x*', phase: load}]}"),
              ElementsAre(HasSubstr("every line")));
  EXPECT_THAT(wrong("watch: {log: [{match: 'x', phase: lod}]}"),
              ElementsAre(HasSubstr("did you mean 'load'?")));
  EXPECT_THAT(wrong("watch: {log: [{phase: load}]}"),
              ElementsAre(HasSubstr("missing key 'match'")));
  EXPECT_THAT(wrong("watch: {log: [{match: 'saved (?P<checkpoint>.+)'}]}"),
              ElementsAre(HasSubstr("where the next attempt finds them")));
  EXPECT_THAT(wrong("watch: {log: 'step'}"), ElementsAre(HasSubstr("expected a list")));
  EXPECT_THAT(wrong("watch: {checkpoints: []}"), ElementsAre(HasSubstr("found 0")));
  for (const char* glob : {"/x/*.pt", "../*.pt", "/", "{checkpoint_dir}/../x"}) {
    EXPECT_THAT(wrong(fmt::format("watch: {{checkpoints: ['{}']}}", glob)),
                ElementsAre(HasSubstr("expected a pattern of files or folders inside")));
  }
  EXPECT_THAT(wrong("watch: {checkpoints: ['ckpts/']}"), IsEmpty()) << "a folder";
  EXPECT_THAT(wrong("checkpoints: {foreign: true}"),
              ElementsAre(HasSubstr("there is no such pattern")));
  EXPECT_THAT(wrong("watch: {checkpoints: [x*]}\n    checkpoints: {foreign: true}"), IsEmpty());
  EXPECT_THAT(problems("programs:\n  a:\n    watch: {protocol: true}\n"),
              ElementsAre(HasSubstr("is for a 'command'")));
  EXPECT_THAT(wrong("watch: {protocol: true}"), IsEmpty());
}

TEST_F(ForeignCommand, OutputIsRecognisedUnlessSomethingElseTells) {
  const auto preset = [&](const std::string& watch) {
    const auto config = load_text("programs:\n  a:\n    command: [x]\n" +
                                  (watch.empty() ? "" : "    watch: " + watch + "\n"));
    return config ? config->programs[0].watch.preset : config.error().front().text();
  };
  EXPECT_EQ(preset(""), "auto");
  EXPECT_EQ(preset("auto"), "auto");
  EXPECT_EQ(preset("off"), "off");
  EXPECT_EQ(preset("false"), "off");
  EXPECT_EQ(preset("keras"), "keras");
  EXPECT_EQ(preset("{preset: axolotl}"), "axolotl");
  EXPECT_EQ(preset("{auto: false}"), "off");
  EXPECT_EQ(preset("{checkpoints: ['*.pt'], cpu_time: true}"), "auto");
  EXPECT_EQ(preset("{status_file: s.json}"), "off");
  EXPECT_EQ(preset("{protocol: true}"), "off");
  EXPECT_EQ(preset("{log: [{match: 'step (?P<step>x)'}]}"), "off");
  EXPECT_EQ(preset("{log: [{match: 'step (?P<step>x)'}], auto: true}"), "auto");
}

TEST_F(ForeignCommand, APresetIsOneOfThoseThereAre) {
  EXPECT_THAT(wrong("watch: nanogtp"), ElementsAre(HasSubstr("did you mean 'nanogpt'?")));
  EXPECT_THAT(wrong("watch: [x]"), ElementsAre(HasSubstr("expected a map of keys")));
  EXPECT_THAT(wrong("watch: 7"), ElementsAre(HasSubstr("the name of a format")));
  EXPECT_THAT(wrong("watch: {preset: keros}"), ElementsAre(HasSubstr("keras")));
  EXPECT_THAT(wrong("watch: {preset: keras, auto: false}"),
              ElementsAre(HasSubstr("watch.auto is false")));
}

TEST_F(ForeignCommand, WhatIsThereByItselfIsNotInTheCanonicalForm) {
  const auto text = [&](const std::string& watch) {
    const auto config = load_text("programs:\n  a:\n    command: [x]\n    watch: " + watch + "\n");
    return canonical_json(to_json(config->programs[0]));
  };
  EXPECT_THAT(text("auto"), Not(HasSubstr("preset")));
  EXPECT_THAT(text("{status_file: s.json}"), Not(HasSubstr("preset")));
  EXPECT_THAT(text("off"), HasSubstr(R"("preset":"off")"));
  EXPECT_THAT(text("keras"), HasSubstr(R"("preset":"keras")"));
}

}  // namespace
}  // namespace trainward::config
