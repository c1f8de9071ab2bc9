// What cannot work is refused before anything starts, with the place and the next step.

#include "world.hpp"

namespace trainward::e2e {
namespace {

class Configuration : public World {};

TEST_F(Configuration, EveryProblemIsNamedWithItsPlace) {
  write("bad.yaml",
        "programs:\n"
        "  run:\n"
        "    training_config: {model: micro_3x, lerning_rate: 0.1, steps: many}\n"
        "    autorestart: sometimes\n");
  const Output output = run("trainwardd", {"bad.yaml"});
  EXPECT_EQ(output.code, 78);
  EXPECT_NE(output.err.find("bad.yaml:3:40"), std::string::npos) << output.err;
  EXPECT_NE(output.err.find("did you mean 'learning_rate'"), std::string::npos) << output.err;
  EXPECT_NE(output.err.find("bad.yaml:4:18"), std::string::npos) << output.err;
  EXPECT_FALSE(std::filesystem::exists(path(".trainward"))) << "nothing starts half-configured";
  EXPECT_EQ(ctl({"config", "check", "bad.yaml"}).code, 1);
}

TEST_F(Configuration, AMissingFileIsNamed) {
  const Output output = run("trainwardd", {"none.yaml"});
  EXPECT_EQ(output.code, 78);
  EXPECT_NE(output.err.find("none.yaml"), std::string::npos) << output.err;
}

TEST_F(Configuration, AStateFolderThatCannotBeMadeIsNamed) {
  write("run.yaml", "state_dir: text.txt/state\nprograms:\n  run: {command: [/bin/true]}\n");
  const Output output = run("trainwardd", {"run.yaml"});
  EXPECT_NE(output.code, 0);
  EXPECT_NE(output.err.find("text.txt"), std::string::npos) << output.err;
}

TEST_F(Configuration, ADatabaseThatIsNoneIsNamedAndKept) {
  const std::string sentence = "this is not a database, it is a sentence of some length.....";
  write(".trainward/trainward.db", sentence);
  write("run.yaml", "programs:\n  run: {command: [/bin/true]}\n");
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.err;
  const std::string said = output.out + output.err;
  const auto named = said.find("trainward.db.damaged-");
  ASSERT_NE(named, std::string::npos) << said;
  const std::string kept = said.substr(named, said.find_first_of("; \n", named) - named);
  EXPECT_EQ(read_file(path(".trainward/" + kept), 1000).value_or(""), sentence);
}

TEST_F(Configuration, WrongArgumentsAreExplained) {
  EXPECT_EQ(run("trainwardd", {}).code, 2);
  EXPECT_EQ(run("trainwardd", {"--what"}).code, 2);
  const Output verb = ctl({"statsu"});
  EXPECT_EQ(verb.code, 2);
  EXPECT_NE(verb.err.find("status"), std::string::npos) << verb.err;
}

TEST_F(Configuration, ACorpusThatIsNotThereIsAConfigurationError) {
  write("run.yaml",
        "programs:\n  run:\n    training_config: {model: femto_1x, steps: 3, data: "
        "[nowhere]}\n    device_config: {device: cpu, threads: 1}\n");
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 78) << output.out << output.err;
  EXPECT_NE((output.out + output.err).find("nowhere"), std::string::npos)
      << output.out << output.err;
}

}  // namespace
}  // namespace trainward::e2e
