// What people paste: spellings of other tools, keys of other trainers, a program without the map
// around it. Taken where only one thing can be meant, else answered with what to write.
#include <gmock/gmock.h>

#include <cstdlib>

#include "common/yaml/map_reader.hpp"
#include "fixture.hpp"
#include "supervisor/config/elsewhere/other_names.hpp"

namespace trainward::config {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Pasted : public ConfigTest {
 protected:
  void SetUp() override {
    ConfigTest::SetUp();
    ::setenv("HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (home_.empty()) {
      ::unsetenv("HOME");
    } else {
      ::setenv("HOME", home_.c_str(), 1);
    }
  }

  // "line:column: message" of each note, but of those that watch_notes_test.cpp is about.
  std::vector<std::string> notes(const std::string& text) const {
    const auto config = load_text(text);
    EXPECT_TRUE(config) << config.error().front().text();
    std::vector<std::string> out;
    if (!config) return out;
    for (const Problem& note : config->notes) {
      if (note.message.find(".watch: ") != std::string::npos) continue;
      out.push_back(fmt::format("{}:{}: {}", note.line, note.column, note.message));
    }
    return out;
  }

  // Of a program with just this line.
  Program program(const std::string& line) const {
    const auto config = load_text("programs:\n  a:\n    " + line + "\n");
    EXPECT_TRUE(config) << config.error().front().text();
    return config ? config->programs.at(0) : Program{};
  }

  static std::vector<std::string> words_of(const Program& program) {
    return foreign::fill(program.command, {});
  }

 private:
  const std::string home_ = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
};

TEST_F(Pasted, SpellingsOfPythonAndScience) {
  const Program program =
      this->program("training_config: {steps: 1e3, tie_weights: True, checkpoint_async: False}");
  const json::object& training = program.worker.at("training_config").as_object();
  EXPECT_EQ(training.at("steps"), 1000);
  EXPECT_EQ(training.at("tie_weights"), true);
  EXPECT_EQ(training.at("checkpoint_async"), false);
}

TEST_F(Pasted, OnePathWhereAListStands) {
  const Program program = this->program("training_config: {data: data}");
  EXPECT_EQ(program.worker.at("training_config").at("data"),
            (json::array{json::string((folder_ / "data").string())}));
  EXPECT_THAT(wrong("training_config: {data: nowhere}"),
              ElementsAre(HasSubstr("no such file or folder")));
  EXPECT_THAT(wrong("training_config: {data: {a: b}}"), ElementsAre(HasSubstr("expected a list")));
  EXPECT_THAT(wrong("training_config: {data: ''}"),
              ElementsAre(HasSubstr("expected a file or folder")));
}

TEST_F(Pasted, SizesAsOtherToolsWriteThem) {
  EXPECT_EQ(program("limits: {memory: 16GB}").memory_limit_bytes, 16'000'000'000);
  EXPECT_EQ(program("limits: {memory: 16 GiB}").memory_limit_bytes, std::int64_t{16} << 30);
}

TEST_F(Pasted, ACommandAsOneText) {
  EXPECT_THAT(words_of(program("command: python3 train.py --name 'a b' --lr=1e-4")),
              ElementsAre("python3", "train.py", "--name", "a b", "--lr=1e-4"));
  EXPECT_EQ(program("command: python3 t.py --at {attempt}").digest,
            program("command: [python3, t.py, [--at, '{attempt}']]").digest);
  EXPECT_THAT(wrong("command: python3 train.py > log.txt 2>&1"),
              ElementsAre(HasSubstr("no shell reads it, and there is a '>' in it; write "
                                    "[bash, -c, 'python3 train.py > log.txt 2>&1']")));
  EXPECT_THAT(wrong("command: cd ${X} && echo it's"),
              ElementsAre(HasSubstr("that is never closed")));
  EXPECT_THAT(wrong("command: echo ${X} it"), ElementsAre(HasSubstr("'echo ${{X} it'")));
  EXPECT_THAT(wrong("command: ''"), ElementsAre(HasSubstr("expected a program to run")));
}

TEST_F(Pasted, TheCureForAShellsTextIsTaken) {
  EXPECT_THAT(words_of(program("command: [bash, -c, 'echo ${{X} it']")),
              ElementsAre("bash", "-c", "echo ${X} it"));
}

TEST_F(Pasted, TheHomeFolderInPathsIsFilledInAndTold) {
  for (const std::string spelling : {"~/data", "$HOME/data", "${HOME}//data"}) {
    const std::string text =
        "programs:\n  a:\n    command: [/bin/true]\n    directory: " + spelling;
    const auto config = load_text(text);
    ASSERT_TRUE(config) << config.error().front().text();
    EXPECT_EQ(config->programs[0].directory, folder_ / "data");
    EXPECT_THAT(notes(text), ElementsAre(fmt::format("4:16: '{}' is {}", spelling,
                                                     (folder_ / "data").string())));
  }
  EXPECT_EQ(program("directory: $HOME").directory, folder_);
  EXPECT_THAT(wrong("directory: $HOMES"), ElementsAre(HasSubstr("no such folder")));
  EXPECT_THAT(wrong("training_config: {data: [~/none]}"),
              ElementsAre(HasSubstr("no such file or folder: " + (folder_ / "none").string())));
}

TEST_F(Pasted, AProgramWithoutTheMapAroundIt) {
  const std::string text = "command: [/bin/true]\nlog_level: debug\n";
  const auto config = load_text(text);
  ASSERT_TRUE(config) << config.error().front().text();
  ASSERT_EQ(config->programs.size(), 1U);
  EXPECT_EQ(config->programs[0].name, "c");
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(config->programs[0].digest,
            load_text("programs:\n  c:\n    command: [/bin/true]\n")->programs[0].digest);
  EXPECT_THAT(notes(text),
              ElementsAre("1:1: there is no 'programs:', so this is one program, 'c'"));
  EXPECT_EQ(load_text("name: llama\ntraining_config: {steps: 5}\n")->programs[0].name, "llama");
  EXPECT_EQ(load_text(text, {"programs.c.autostart=false"})->programs[0].autostart, false);
  EXPECT_THAT(problems(text, {"autostart=false"}),
              ElementsAre("--set: unknown key 'autostart'; it belongs to a program: "
                          "programs.NAME.autostart"));
}

TEST_F(Pasted, ThatProgramIsCalledAsItsFile) {
  const auto name_in = [&](const std::string& file, const std::string& state = "state",
                           const std::vector<std::string>& overrides = {}) {
    const auto config = config::load_text("command: [/bin/true]\nstate_dir: " + state + "\n",
                                          folder_ / file, folder_, overrides);
    EXPECT_TRUE(config) << config.error().front().text();
    return config ? config->programs.at(0).name : "";
  };
  EXPECT_EQ(name_in("tiny.yaml"), "tiny");
  EXPECT_EQ(name_in("my lesson 2.yml"), "my-lesson-2");
  EXPECT_EQ(name_in("trainward.yaml"), "main") << "the usual file is named after nothing";
  EXPECT_EQ(name_in("all.yaml"), "main") << "a word of trainwardctl";
  // A run from when every such program was called so goes on; one with its own name does too.
  std::filesystem::create_directories(folder_ / "old/runs/main");
  EXPECT_EQ(name_in("tiny.yaml", "old"), "main");
  EXPECT_EQ(name_in("tiny.yaml", "state", {"state_dir=old"}), "main");
  std::filesystem::create_directories(folder_ / "old/runs/tiny");
  EXPECT_EQ(name_in("tiny.yaml", "old"), "tiny");
}

TEST_F(Pasted, WhatIsNoProgramIsNotTakenForOne) {
  EXPECT_THAT(problems("log_level: info\n"), ElementsAre(HasSubstr("missing key 'programs'")));
  EXPECT_THAT(problems("mine: {command: [x]}\n"),
              ElementsAre(HasSubstr("missing key 'programs'"), HasSubstr("unknown key 'mine'")));
  EXPECT_THAT(problems("program: {a: {command: [x]}}\n"),
              Contains(HasSubstr("did you mean 'programs'?")));
  EXPECT_THAT(problems("programs: {a: {}}\ncommand: [x]\n"),
              ElementsAre("2:1: unknown key 'command'; it belongs to a program: "
                          "programs.NAME.command"));
}

// Where they belong they are read (elsewhere_test.cpp).
TEST_F(Pasted, KeysOfOtherTrainersInAWrongPlaceAreAnsweredWithOurs) {
  EXPECT_THAT(wrong("logging_config: {max_steps: 5}\n    command: [x]"),
              Contains(HasSubstr("remove one of them")));
  EXPECT_THAT(problems("programs: {a: {}}\nmax_steps: 5000\n"),
              ElementsAre("2:1: unknown key 'max_steps'; here it is training_config.steps"));
  EXPECT_THAT(wrong("deadlines: {learning_rate: 1}"), ElementsAre(HasSubstr("unknown key")));
  // A whole file, flat: what is not known is answered key by key.
  const auto flat = problems("model_name: x\nlearning_rate: 2e-5\nlora_r: 4\noutput_dir: out\n");
  EXPECT_THAT(flat, Contains(HasSubstr("c.model_name: the text 'x' is no folder")));
  EXPECT_THAT(flat, Contains(HasSubstr("unknown key 'output_dir'; there is no such key here: "
                                       "checkpoints lie in")));
}

TEST_F(Pasted, KeysOfSupervisordAreAnsweredWithOurs) {
  EXPECT_THAT(wrong("stopwaitsecs: 10"),
              ElementsAre("3:5: unknown key 'stopwaitsecs'; here it is deadlines.stop (with a "
                          "unit, as in 10s)"));
  EXPECT_THAT(wrong("redirect_stderr: true"), ElementsAre(HasSubstr("both streams are kept")));
}

// The list that tells a program's keys from strangers is that of the reader.
TEST_F(Pasted, AProgramsKeysAreKnown) {
  const auto said = wrong("zzz: 1");
  ASSERT_EQ(said.size(), 1U);
  const std::string keys = said[0].substr(said[0].find("programs.a: ") + 12);
  std::size_t count = 0;
  for (std::size_t at = 0; at < keys.size(); ++count) {
    const auto end = std::min(keys.find(", ", at), keys.size());
    EXPECT_TRUE(is_program_key(keys.substr(at, end - at))) << keys.substr(at, end - at);
    at = end + 2;
  }
  EXPECT_GT(count, 15U);
}

TEST_F(Pasted, WhatAnotherToolsNameStandsForExists) {
  for (const char* key : {"max_steps", "min_lr", "keep_last_n", "logging_steps", "startretries",
                          "stopwaitsecs", "stdout_logfile_maxbytes", "use_tt", "cwd"}) {
    const std::string said = other_name(key);
    ASSERT_TRUE(said.starts_with("here it is ")) << key << said;
    const std::string path = said.substr(11, said.find(' ', 11) - 11);
    const auto dot = path.find('.');
    EXPECT_TRUE(is_program_key(path.substr(0, dot))) << path;
    if (dot == std::string::npos) continue;
    // A value of a wrong type is refused as such, not as that of an unknown key.
    const auto problems =
        wrong(fmt::format("{}: {{{}: [[]]}}", path.substr(0, dot), path.substr(dot + 1)));
    ASSERT_FALSE(problems.empty()) << path;
    EXPECT_THAT(problems[0], testing::Not(HasSubstr("unknown key"))) << path;
  }
}

TEST_F(Pasted, RegularExpressionsOfOtherLanguages) {
  EXPECT_THAT(wrong("command: [x]\n    watch: {log: [{match: '(?=a)'}]}"),
              ElementsAre(HasSubstr("RE2 looks neither ahead nor back")));
  EXPECT_THAT(wrong("command: [x]\n    watch: {log: [{match: \"step \\d+\"}]}"),
              ElementsAre(HasSubstr("use single quotes, as in '\\d+'")));
  const auto named = wrong("command: [x]\n    watch: {log: [{match: '(?<step>\\d+)'}]}");
  for (const std::string& problem : named) {  // newer RE2 reads it
    EXPECT_THAT(problem, HasSubstr("written with a P, as in (?P<step>[0-9]+)"));
  }
}

TEST_F(Pasted, TwoStarsAreRefusedWithTheReason) {
  EXPECT_THAT(wrong("command: [x]\n    watch: {checkpoints: ['**/step*.pt']}"),
              ElementsAre(AllOf(HasSubstr("'**' is not read"), HasSubstr("'runs/*/"))));
}

TEST_F(Pasted, APatternOfCheckpointsThatNeverMatchesIsTold) {
  const auto of = [&](const std::string& glob) {
    return notes("programs:\n  a:\n    command: [/bin/true]\n    watch: {checkpoints: ['" + glob +
                 "']}\n");
  };
  EXPECT_THAT(of("out/step*.pt"), IsEmpty());
  EXPECT_THAT(of("step_\\d+.pt"), ElementsAre(HasSubstr("'*' stands for any characters")));
  EXPECT_THAT(of("{epoch}-{step}.ckpt"), ElementsAre(HasSubstr("never matches: '{' stands for")));
  write("file", "");
  EXPECT_THAT(of("file/step*.pt"), ElementsAre(HasSubstr("file is no folder")));
  std::filesystem::create_directories(folder_ / "out/checkpoint-500");
  EXPECT_THAT(of("out/"), ElementsAre(HasSubstr("for each folder in it write 'out/*'")));
  EXPECT_THAT(of("out/*"), IsEmpty());
}

TEST_F(Pasted, AProgramOrScriptThatIsNotThereIsTold) {
  const auto of = [&](const std::string& command) {
    return notes("programs:\n  a:\n    command: " + command + "\n");
  };
  write("train.py", "");
  EXPECT_THAT(of("[/bin/sh, -c, 'exit 0']"), IsEmpty());
  EXPECT_THAT(of("[sh, none.sh]"), ElementsAre("3:14: programs.a.command: no such script: " +
                                               (folder_ / "none.sh").string()));
  EXPECT_THAT(of("[pyth0n3, train.py]"),
              ElementsAre(StartsWith("3:14: programs.a.command: no program 'pyth0n3' in PATH (")));
  EXPECT_THAT(of("[./train.py]"), ElementsAre(HasSubstr("not a file that may be executed")));
  EXPECT_THAT(of("[./run, a.py]"), ElementsAre(HasSubstr("no such program: ")));
  EXPECT_THAT(of("[sh, '{checkpoint}']"), IsEmpty());
  EXPECT_THAT(of("[/bin/echo, ~/x, $HOME/y, '5$', 'a']"),
              ElementsAre(HasSubstr("'~/x' is passed as it is, since no shell reads it"),
                          HasSubstr("'$HOME/y' is passed as it is")));
  EXPECT_THAT(of("[/bin/true]\n    environment: {PATH: '$HOME/bin:$PATH'}"),
              ElementsAre(AllOf(HasSubstr("programs.a.environment.PATH: its '$' or '~' is passed"),
                                testing::Not(HasSubstr("/bin")))));
}

TEST_F(Pasted, ACommandWithoutAFile) {
  const auto config = load_command({"python3", "-u", "src/train.py", "--cfg", "{\"a\": 1}",
                                    "--resume={checkpoint}", "--from", "{resume_step}"},
                                   folder_ / "work");
  ASSERT_TRUE(config) << config.error().front().text();
  ASSERT_EQ(config->programs.size(), 1U);
  const Program& program = config->programs[0];
  EXPECT_EQ(program.name, "train");
  EXPECT_EQ(program.directory, folder_ / "work");
  EXPECT_EQ(config->state_dir, folder_ / "work/.trainward");
  EXPECT_THAT(foreign::fill(program.command, {{"checkpoint", "c.pt"}, {"resume_step", "7"}}),
              ElementsAre("python3", "-u", "src/train.py", "--cfg", "{\"a\": 1}", "--resume=c.pt",
                          "--from", "7"));
  EXPECT_THAT(foreign::fill(program.command, {}),
              ElementsAre("python3", "-u", "src/train.py", "--cfg", "{\"a\": 1}"));
  const auto name = [&](const std::vector<std::string>& words) {
    const auto loaded = load_command(words, folder_ / "work");
    return loaded ? loaded->programs[0].name : loaded.error().front().text();
  };
  EXPECT_EQ(name({"python3", "-m", "pkg.train"}), "pkg.train");
  EXPECT_EQ(name({"/usr/bin/sleep", "5"}), "sleep");
  EXPECT_EQ(name({"./my train.sh"}), "my-train");
  EXPECT_EQ(name({"all"}), "main");
  EXPECT_THAT(name({""}), HasSubstr("expected a program to run"));
}

}  // namespace
}  // namespace trainward::config
