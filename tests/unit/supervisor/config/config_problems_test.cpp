// Every kind of mistake, with the exact place and the words a person gets to read.
#include <gmock/gmock.h>

#include "fixture.hpp"

namespace trainward::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using ConfigProblems = ConfigTest;

TEST_F(ConfigProblems, UnknownKeyWithTheNearestOne) {
  EXPECT_THAT(problems("programs:\n  a:\n    training_config:\n      lerning_rate: 0.1\n"),
              ElementsAre("4:7: unknown key 'lerning_rate'; did you mean 'learning_rate'?"));
  EXPECT_THAT(problems("programs: {a: {}}\nzzz: 1\n"),
              ElementsAre("2:1: unknown key 'zzz'; valid here: state_dir, socket, log_level, "
                          "rules, listen, hosts, proxies, tokens, notify, tracking, programs"));
  EXPECT_THAT(problems("programs:\n  a:\n    budgets: {hours: 1}\n"),
              ElementsAre("3:15: unknown key 'hours'; valid in programs.a.budgets: attempts, "
                          "attempts_without_progress, time_without_progress"));
}

TEST_F(ConfigProblems, DuplicateKey) {
  EXPECT_THAT(problems("programs:\n  a:\n    autostart: true\n    autostart: false\n"),
              ElementsAre("4:5: duplicate key 'autostart'; first given in line 3"));
  EXPECT_THAT(problems("programs:\n  a:\n  b:\n  a:\n"),
              ElementsAre("4:3: duplicate key 'a'; first given in line 2"));
}

TEST_F(ConfigProblems, WrongType) {
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {steps: many}\n"),
              ElementsAre("3:30: programs.a.training_config.steps: expected a whole number from 0 "
                          "to 1000000000, found the text 'many'"));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {steps: '5'}\n"),
              ElementsAre(HasSubstr("found the text '5'")));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {steps: 1.5}\n"),
              ElementsAre(HasSubstr("found the number 1.5")));
  EXPECT_THAT(problems("programs:\n  a:\n    autostart: yes\n"),
              ElementsAre("3:16: programs.a.autostart: expected true or false, found the text "
                          "'yes'; write true"));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: [1]\n"),
              ElementsAre("3:22: programs.a.training_config: expected a map of keys, found a "
                          "list"));
  EXPECT_THAT(problems("programs:\n  a:\n    command: {python3: train.py}\n"),
              ElementsAre(HasSubstr("expected a list such as [python3, train.py], found a map")));
  EXPECT_THAT(problems("programs:\n  a:\n    command: []\n"),
              ElementsAre(HasSubstr("found an empty list")));
  EXPECT_THAT(problems("programs:\n  a:\n    environment: {X: [1]}\n"),
              ElementsAre(AllOf(StartsWith("3:22: "), HasSubstr("expected text, found a list"))));
  EXPECT_THAT(problems("programs: 5\n"),
              ElementsAre("1:11: programs: expected a map of keys, found the number 5"));
  EXPECT_THAT(problems("- 1\n"), ElementsAre("1:1: expected a map of keys, found a list"));
}

TEST_F(ConfigProblems, OutOfRange) {
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {beta1: 1.0}\n"),
              ElementsAre("3:30: programs.a.training_config.beta1: expected a number from 0 to "
                          "below 1, found the number 1.0"));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {learning_rate: 0}\n"),
              ElementsAre(HasSubstr("expected a number above 0 to 10, found the number 0")));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {learning_rate: .nan}\n"),
              ElementsAre(HasSubstr("found the text '.nan'")));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {seed: 99999999999999999999}\n"),
              ElementsAre(HasSubstr("expected a whole number")));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {model: micro_3}\n"),
              ElementsAre(AllOf(StartsWith("3:30: programs.a.training_config.model: expected one "
                                           "of femto_1x, "),
                                HasSubstr("did you mean 'micro_3x'?"))));
  EXPECT_THAT(problems("log_level: loud\nprograms: {a: {}}\n"),
              ElementsAre("1:12: log_level: expected one of trace, debug, info, warning, error, "
                          "found the text 'loud'"));
}

TEST_F(ConfigProblems, Durations) {
  EXPECT_THAT(problems("programs:\n  a:\n    deadlines: {load: 60}\n"),
              ElementsAre("3:23: programs.a.deadlines.load: expected a duration from 100ms to 30d, "
                          "found the number 60; add a unit (ms, s, min, h, d), as in '60s'"));
  EXPECT_THAT(problems("programs:\n  a:\n    deadlines: {load: 5 minutes}\n"),
              ElementsAre(HasSubstr("write it as '200ms', '60s', '10min', '2h' or '1d'")));
  EXPECT_THAT(problems("programs:\n  a:\n    deadlines: {load: 10ms}\n"),
              ElementsAre(HasSubstr("expected a duration from 100ms to 30d")));
  EXPECT_THAT(problems("programs:\n  a:\n    backoff: {first: 2s, max: 1s}\n"),
              ElementsAre("3:31: programs.a.backoff.max: is shorter than backoff.first"));
  EXPECT_THAT(problems("programs:\n  a:\n    backoff: {first: 1h}\n"), IsEmpty());
}

TEST_F(ConfigProblems, MissingFiles) {
  const std::string where = folder_.string();
  EXPECT_THAT(problems("rules: r.yaml\nprograms: {a: {}}\n"),
              ElementsAre("1:8: rules: no such file: " + where + "/r.yaml"));
  EXPECT_THAT(
      problems("programs:\n  a:\n    device_config: {host: h.yaml}\n"),
      ElementsAre("3:27: programs.a.device_config.host: no such file: " + where + "/h.yaml"));
  EXPECT_THAT(problems("programs:\n  a:\n    training_config: {data: [data, none]}\n"),
              ElementsAre("3:36: programs.a.training_config.data: no such file or folder: " +
                          where + "/none"));
  EXPECT_THAT(
      problems("programs:\n  a:\n    training_config: {tokenizer: t.json}\n"),
      ElementsAre("3:34: programs.a.training_config.tokenizer: neither 'byte' nor a file: " +
                  where + "/t.json"));
  EXPECT_THAT(problems("programs:\n  a:\n    directory: c.yaml\n"),
              ElementsAre("3:16: programs.a.directory: no such folder: " + where + "/c.yaml"));
}

TEST_F(ConfigProblems, BlocksLongerThanTheModelsPositions) {
  const auto with = [&](const std::string& training) {
    return problems("programs:\n  a:\n    training_config: {" + training + "}\n");
  };
  EXPECT_THAT(with("model: gpt2, block_size: 1024"), IsEmpty());
  EXPECT_THAT(with("model: large, block_size: 4096"), IsEmpty());
  EXPECT_THAT(with("model: gpt2, block_size: 1025"),
              ElementsAre("3:48: programs.a.training_config.block_size: gpt2 has 1024 positions; a "
                          "block of 1025 tokens is longer"));
}

TEST_F(ConfigProblems, Meshes) {
  const auto with = [&](const std::string& device) {
    return problems("programs:\n  a:\n    training_config: {batch_size: 8, accumulation: 3}\n" +
                    ("    device_config: {" + device + "}\n"));
  };
  EXPECT_THAT(with("mesh_shape: [1, 4], enable_ddp: true"), IsEmpty());
  EXPECT_THAT(with("mesh_shape: [1, 3], enable_ddp: true"), IsEmpty());
  EXPECT_THAT(with("mesh_shape: [1, 1]"), IsEmpty());
  EXPECT_THAT(with("mesh_shape: [1, 5], enable_ddp: true"),
              ElementsAre(AllOf(StartsWith("4:20: programs.a.device_config.mesh_shape: "),
                                HasSubstr("make batch_size a multiple of 5"))));
  EXPECT_THAT(with("mesh_shape: [1, 2]"), ElementsAre(HasSubstr("enable_ddp")));
  EXPECT_THAT(with("mesh_shape: [2, 4], enable_ddp: true"), IsEmpty());
  EXPECT_THAT(with("mesh_shape: [4, 4], enable_ddp: true"),
              ElementsAre(HasSubstr("make batch_size a multiple of 16")));
  for (const char* wrong : {"[2, 513]", "[0, 2]", "[4294967296, 4294967296]", "[1]", "[1, 2, 1]",
                            "[1, 0]", "[1, x]", "[1, [2]]", "2", "[1, 2000]", "{a: 1}"}) {
    EXPECT_THAT(with(std::string("enable_ddp: true, mesh_shape: ") + wrong),
                ElementsAre(HasSubstr("expected [rows, columns]")))
        << wrong;
  }
}

TEST_F(ConfigProblems, Plugins) {
  const auto with = [&](const std::string& device) {
    return problems("programs:\n  a:\n    device_config: {" + device + "}\n");
  };
  const std::string at = "3:20: programs.a.device_config";
  EXPECT_THAT(with("plugin: sim_n300"), IsEmpty());
  EXPECT_THAT(with("device: pjrt"),
              ElementsAre(at + ".plugin: is missing; name 'sim_n300' or the file of a plugin"));
  EXPECT_THAT(with("plugin: p.so"),
              ElementsAre("3:29: programs.a.device_config.plugin: neither 'sim_n300' nor a file: " +
                          (folder_ / "p.so").string()));
  EXPECT_THAT(with("plugin: [a]"), ElementsAre(HasSubstr("found a list")));
  EXPECT_THAT(
      with("plugin: sim_n300, mesh_shape: [1, 2]"),
      ElementsAre(at + ".enable_ddp: needed by a mesh_shape of more than one device: true"));
  EXPECT_THAT(with("plugin: sim_n300, mesh_shape: [1, 3], enable_ddp: true"),
              ElementsAre(HasSubstr("3 devices cannot share batches of 8 sequences")));
  // Rows share the sequences, columns the weights.
  EXPECT_THAT(with("plugin: sim_n300, mesh_shape: [1, 4], enable_tp: true"), IsEmpty());
  EXPECT_THAT(with("plugin: sim_n300, mesh_shape: [2, 4], enable_ddp: true, enable_tp: true"),
              IsEmpty());
  EXPECT_THAT(
      with("plugin: sim_n300, mesh_shape: [1, 3], enable_tp: true"),
      ElementsAre(HasSubstr("enable_tp: the 8 heads of micro_3x do not divide evenly over 3 "
                            "columns")));
  EXPECT_THAT(with("plugin: sim_n300, mesh_shape: [2, 4], enable_tp: true"),
              ElementsAre(at + ".enable_ddp: needed by a mesh_shape of more than one row: true"));
  EXPECT_THAT(with("plugin: sim_n300, mesh_shape: [3, 2], enable_ddp: true, enable_tp: true"),
              ElementsAre(HasSubstr("3 rows of devices cannot share batches of 8 sequences")));
  EXPECT_THAT(
      with("plugin: sim_n300, mesh_shape: [2, 1], enable_ddp: true, enable_tp: true"),
      ElementsAre(HasSubstr("enable_tp: divides the weights over the columns of mesh_shape, "
                            "and [2, 1] has one; write [1, 2]")));
  EXPECT_THAT(with("mesh_shape: [1, 2], enable_tp: true"),
              ElementsAre(HasSubstr("enable_tp: is for the devices of a plugin")));
  EXPECT_THAT(with("plugin: sim_n300, placement: both"),
              ElementsAre(HasSubstr("expected one of host, device")));
  EXPECT_THAT(with("plugin: sim_n300, attention: flash"),
              ElementsAre(HasSubstr("expected one of auto, plain, fused")));
  EXPECT_THAT(with("plugin: sim_n300, cache_limit: 5"), ElementsAre(HasSubstr("add a unit")));
  EXPECT_THAT(with("plugin: sim_n300, cache_limit: 5KiB"), ElementsAre(HasSubstr("from 1MiB")));
  EXPECT_THAT(with("plugin: sim_n300, option: {}"),
              ElementsAre(HasSubstr("unknown key 'option'; did you mean 'options'?")));
  EXPECT_THAT(with("placement: device"),
              ElementsAre(HasSubstr("placement: goes with a plugin, and none is named")));
  EXPECT_THAT(with("device: cpu, plugin: sim_n300, placement: device"), IsEmpty())
      << "the same file, tried on the CPU";
}

TEST_F(ConfigProblems, PluginOptions) {
  const auto with = [&](const std::string& options) {
    return problems("programs:\n  a:\n    device_config:\n      plugin: sim_n300\n      options: " +
                    options + "\n");
  };
  EXPECT_THAT(with("{}"), IsEmpty());
  EXPECT_THAT(with("{a: [1, -2], b: [], c: text, 'd e': '5'}"), IsEmpty());
  for (const char* wrong : {"{a: {b: 1}}", "{a: [x]}", "{a: [1.5]}", "{a: ['1']}", "{a: [[1]]}"}) {
    EXPECT_THAT(with(wrong),
                ElementsAre(StartsWith("5:20: programs.a.device_config.options.a: expected text, a "
                                       "number, true or false, or a list of whole numbers, found")))
        << wrong;
  }
  EXPECT_THAT(with("[1]"), ElementsAre(HasSubstr("expected a map of options, found a list")));
  EXPECT_THAT(with("{a: 1, a: 2}"), ElementsAre(HasSubstr("duplicate key")));
  std::string many = "{";
  for (int i = 0; i < 257; ++i) many += "o" + std::to_string(i) + ": 1, ";
  EXPECT_THAT(with(many + "}"), ElementsAre(HasSubstr("at most 256")));
}

TEST_F(ConfigProblems, ProgramNames) {
  EXPECT_THAT(problems("programs: {'a b': {}}\n"),
              ElementsAre("1:12: program name 'a b': expected 1 to 64 of A-Z a-z 0-9 _ . -"));
  EXPECT_THAT(problems("programs: {'..': {}}\n"), ElementsAre(HasSubstr("program name '..'")));
  EXPECT_THAT(problems("programs: {all: {}}\n"), ElementsAre(HasSubstr("every program")));
  EXPECT_THAT(problems("programs: {}\n"),
              ElementsAre("1:11: programs: expected at least one program, found none"));
  EXPECT_THAT(problems("log_level: info\n"),
              ElementsAre("1:1: missing key 'programs', expected a map of program names"));
}

TEST_F(ConfigProblems, EnvironmentOfTheSupervisorIsReserved) {
  EXPECT_THAT(problems("programs:\n  a:\n    environment: {TRAINWARD_RUN: x, 1A: y}\n"),
              ElementsAre(AllOf(StartsWith("3:19: "), HasSubstr("set by the supervisor")),
                          AllOf(StartsWith("3:37: "), HasSubstr("expected a variable name"))));
}

TEST_F(ConfigProblems, CommandAndWorkerSectionsContradict) {
  EXPECT_THAT(
      problems("programs:\n  a:\n    command: [x]\n    training_config: {steps: 1}\n"),
      ElementsAre("4:22: programs.a.training_config: is for our own worker and cannot stand beside "
                  "'command'; remove one of them"));
}

TEST_F(ConfigProblems, AllAtOnceInTheOrderOfTheFile) {
  EXPECT_THAT(
      problems("log_level: loud\nprograms:\n  a:\n    autostart: 1\n    autostrt: true\n"
               "    training_config: {steps: 0, batch: 4}\nstate: x\n",
               {"programs.a.budgets.attempts=0"}),
      ElementsAre(StartsWith("1:12: log_level"), StartsWith("4:16: programs.a.autostart"),
                  StartsWith("5:5: unknown key 'autostrt'; did you mean 'autostart'?"),
                  StartsWith("6:30: programs.a.training_config.steps"),
                  StartsWith("6:33: unknown key 'batch'"), StartsWith("7:1: unknown key 'state'"),
                  StartsWith("--set: programs.a.budgets.attempts: expected a whole "
                             "number from 1 to 1000000, found the number 0")));
}

TEST_F(ConfigProblems, Overrides) {
  const std::string good = "programs:\n  quickstart:\n    autostart: true\n";
  EXPECT_THAT(problems(good, {"programs.quikstart.autostart=false"}),
              ElementsAre("--set: the file has no program 'quikstart'; did you mean "
                          "'quickstart'?"));
  EXPECT_THAT(problems(good, {"programs.quickstart.autostrt=false"}),
              ElementsAre("--set: unknown key 'autostrt'; did you mean 'autostart'?"));
  EXPECT_THAT(problems(good, {"nonsense"}),
              ElementsAre("--set: expected KEY.PATH=VALUE, found 'nonsense'"));
  EXPECT_THAT(problems(good, {"programs.quickstart.autostart.x=1"}),
              ElementsAre("--set: programs.quickstart.autostart.x: nothing can be set inside "
                          "true"));
  EXPECT_THAT(problems(good, {"log_level=[a"}), ElementsAre(StartsWith("--set: log_level: not "
                                                                       "valid YAML")));
  EXPECT_THAT(problems(good, {"log_level="}), ElementsAre("--set: log_level: has no value"));
  EXPECT_THAT(problems(good, {"programs..x=1"}), ElementsAre(StartsWith("--set: ")));
}

TEST_F(ConfigProblems, FilesThatAreNotConfiguration) {
  const auto missing = load(folder_ / "none.yaml", folder_);
  ASSERT_FALSE(missing);
  EXPECT_THAT(
      missing.error().front().text(),
      AllOf(StartsWith((folder_ / "none.yaml").string() + ": "), HasSubstr("No such file")));
  const auto folder = load(folder_, folder_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().front().text(), HasSubstr("is a folder"));
  EXPECT_THAT(problems(""), ElementsAre("1:1: the file is empty, expected 'programs:'"));
  EXPECT_THAT(problems("# only a comment\n"), ElementsAre(HasSubstr("the file is empty")));
  EXPECT_THAT(problems(std::string("a: b\nc\0d", 8)),
              ElementsAre("2:2: byte 0x00: this is not a text file"));
  EXPECT_THAT(problems(std::string(1'100'000, '#')), ElementsAre(HasSubstr("longer than")));
  EXPECT_THAT(problems("programs:\n\ta: 1\n\tb: 2\n"),
              ElementsAre("2:1: a tab in the indentation; YAML wants spaces",
                          "3:1: a tab in the indentation; YAML wants spaces"));
}

}  // namespace
}  // namespace trainward::config
