// Numbers, booleans and lists as people have them in other programs' files.
#include <gmock/gmock.h>

#include "fixture.hpp"

namespace trainward::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Spellings : public ConfigTest {
 protected:
  // What the worker is given under `key` when the file says `value`.
  json::value in_training(const std::string& key, const std::string& value) {
    const auto config =
        load_text(fmt::format("programs:\n  a:\n    training_config: {{{}: {}}}\n", key, value));
    if (!config) return json::value(config.error().front().text());
    return config->programs.at(0).worker.at("training_config").at(key);
  }
  std::vector<std::string> said(const std::string& line) { return wrong(line); }
};

TEST_F(Spellings, Numbers) {
  for (const char* text :
       {"1e-4", "1E-4", "1.e-4", "1.0e-4", "0.0001", ".0001", "+1e-4", "1e-04"}) {
    EXPECT_EQ(in_training("learning_rate", text), json::value(1e-4)) << text;
  }
  EXPECT_EQ(in_training("dropout", ".5"), json::value(0.5));
  EXPECT_EQ(in_training("gradient_clip", "1."), json::value(1.0));
  EXPECT_EQ(in_training("gradient_clip", "1"), json::value(1.0));
}

TEST_F(Spellings, WholeNumbers) {
  EXPECT_EQ(in_training("steps", "1e6"), json::value(1'000'000));
  EXPECT_EQ(in_training("steps", "2.5E3"), json::value(2'500));
  EXPECT_EQ(in_training("steps", "300.0"), json::value(300));
  EXPECT_EQ(in_training("steps", "+300"), json::value(300));
  EXPECT_EQ(in_training("seed", "9007199254740993"), json::value(9'007'199'254'740'993));
  EXPECT_THAT(said("training_config: {steps: 1e-4}"), ElementsAre(HasSubstr("a whole number")));
  EXPECT_THAT(said("training_config: {steps: 1.5}"),
              ElementsAre(HasSubstr("found the number 1.5")));
  EXPECT_THAT(said("training_config: {steps: 1e10}"), ElementsAre(HasSubstr("to 1000000000")));
  EXPECT_THAT(said("training_config: {seed: 1e300}"), ElementsAre(HasSubstr("a whole number")));
}

TEST_F(Spellings, DigitsAreNotGrouped) {
  EXPECT_THAT(said("training_config: {steps: 5_000}"),
              ElementsAre(HasSubstr("found the text '5_000'; write 5000")));
  EXPECT_THAT(said("training_config: {gradient_clip: 1_0.5}"),
              ElementsAre(HasSubstr("; write 10.5")));
}

TEST_F(Spellings, Booleans) {
  for (const char* text : {"true", "True", "TRUE"}) {
    EXPECT_EQ(in_training("recompute", text), json::value(true)) << text;
  }
  for (const char* text : {"false", "False", "FALSE"}) {
    EXPECT_EQ(in_training("checkpoint_async", text), json::value(false)) << text;
  }
  for (const char* text : {"yes", "Yes", "on", "ON", "y", "tRue", "'true'"}) {
    EXPECT_THAT(said(std::string("autostart: ") + text), ElementsAre(HasSubstr("; write true")));
  }
  for (const char* text : {"no", "No", "off", "n"}) {
    EXPECT_THAT(said(std::string("autostart: ") + text), ElementsAre(HasSubstr("; write false")));
  }
  EXPECT_THAT(said("autostart: 1"), ElementsAre(HasSubstr("found the number 1")));
  EXPECT_THAT(said("training_config: {end_of_text: True}"), ElementsAre(HasSubstr("in quotes")));
}

TEST_F(Spellings, Lists) {
  const json::value mesh{1, 4};
  const auto mesh_of = [&](const std::string& section, const std::vector<std::string>& set = {}) {
    const auto config = load_text("programs:\n  a:\n    device_config:" + section, set);
    if (!config) return json::value(config.error().front().text());
    return config->programs.at(0).worker.at("device_config").at("mesh_shape");
  };
  for (const std::string list : {"[1, 4]", "[1,4]", "[ 1, 4, ]"}) {
    EXPECT_EQ(mesh_of(" {enable_ddp: True, mesh_shape: " + list + "}\n"), mesh);
  }
  EXPECT_EQ(mesh_of("\n      enable_ddp: true\n      mesh_shape:\n        - 1\n        - 4\n"),
            mesh);
  EXPECT_EQ(mesh_of(" {enable_ddp: true}\n", {"programs.a.device_config.mesh_shape=[1, 4]"}), mesh);
  EXPECT_EQ(in_training("data", "[/tmp, /etc]"), (json::value{"/tmp", "/etc"}));
  const auto board =
      load_text("programs:\n  a:\n    command: [x]\n    board: {mesh_shape: [2, 4]}\n");
  ASSERT_TRUE(board) << board.error().front().text();
  EXPECT_EQ(board->programs.at(0).mesh->columns, 4);
}

TEST_F(Spellings, OptionsOfAPlugin) {
  const auto config = load_text(
      "programs:\n  a:\n    device_config: {plugin: sim_n300, options: {a: [2, 4], b: True, c: "
      "1e-4, "
      "d: .5, e: yes}}\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_EQ(json::serialize(config->programs.at(0).worker.at("device_config").at("options")),
            R"({"a":[2,4],"b":true,"c":1E-4,"d":5E-1,"e":"yes"})");
}

}  // namespace
}  // namespace trainward::config
