// config show: what would be started, from the file alone.
#include <sys/stat.h>

#include <fstream>

#include "fixture.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ConfigShow : public CtlTest {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(folder_);
    fs::create_directories("venv/bin");
    std::ofstream("venv/bin/python3") << "#!/bin/sh\n";
    fs::permissions("venv/bin/python3", fs::perms(0755));
    std::ofstream("trainward.yaml")
        << "programs:\n  a:\n    command: [python3, train.py, [--resume, '{checkpoint}'], "
           "[--devices, '{devices}'], --out, '{checkpoint_dir}', --token, hunter1, 'two words']\n"
           "    environment: {PATH: 'venv/bin:/bin', HF_TOKEN: hunter2, OMP_NUM_THREADS: '2'}\n"
           "    umask: 077\n    limits: {memory: 1GiB, open_files: '64:128', core: unlimited}\n"
           "    watch: {log: [{match: 'step (?P<step>\\d+)'}], checkpoints: ['ck/*.pt']}\n"
           "  b:\n    training_config: {steps: 5}\n";
  }
  void TearDown() override { fs::current_path(before_); }
  fs::path before_;
};

TEST_F(ConfigShow, TheCommandItsPlaceAndWhatItFinds) {
  const Ran ran = ctl({"config", "show", "a"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string here = fs::current_path().string();
  EXPECT_THAT(ran.out,
              HasSubstr("command     python3 train.py [--resume {checkpoint}] --out " + here +
                        "/.trainward/runs/a/checkpoints --token (hidden) 'two words'\n"));
  EXPECT_THAT(ran.out, HasSubstr("starts      " + here + "/venv/bin/python3\n"));
  EXPECT_THAT(ran.out, HasSubstr("directory   " + here + "\n"));
  EXPECT_THAT(ran.out, HasSubstr("user        that of trainwardd\numask       077\n"));
  EXPECT_THAT(ran.out, HasSubstr("limits      memory 1GiB, open_files 64:128, core unlimited\n"));
  EXPECT_THAT(ran.out, HasSubstr("1 log rule, checkpoints ck/*.pt"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("HF_TOKEN=(hidden)"), HasSubstr("OMP_NUM_THREADS=2"),
                             HasSubstr("PYTHONUNBUFFERED=1")));
  EXPECT_THAT(ran.out, HasSubstr("None answers here"));
  EXPECT_THAT(ran.out, Not(HasSubstr("hunter")));
}

// What is met at the start otherwise, minutes later.
TEST_F(ConfigShow, ACheckOpensTheModelAndTakesWhatIsSet) {
  fs::create_directories("model");
  std::ofstream("model/config.json")
      << R"({"model_type": "llama", "max_position_embeddings": 128})";
  std::ofstream("rows.jsonl") << "{}\n";
  std::ofstream("tune.yaml") << "programs: {t: {training_config: {base_model: model, "
                                "data: rows.jsonl, steps: 5, block_size: 64}}}\n";
  Ran ran = ctl({"config", "check", "tune.yaml"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("tune.yaml: programs.t.training_config.base_model: "),
                             HasSubstr("model.safetensors")));
  std::ofstream("model/model.safetensors", std::ios::binary)
      << std::string("\x02\0\0\0\0\0\0\0{}", 10);
  ran = ctl({"config", "check", "tune.yaml"});
  EXPECT_EQ(ran.code, 0) << ran.out;
  const auto set = [](const std::string& value) { return "programs.t.training_config." + value; };
  ran = ctl({"config", "check", "--set", set("block_size=256"), "--set", set("evaluate_every=5"),
             "tune.yaml"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("block_size: is 256, and the model knows 128 positions"),
                             HasSubstr("evaluate_every: there is nothing to evaluate on")));
  EXPECT_THAT(ctl({"config", "worker", "tune.yaml", "--set", set("seed=9")}).out,
              HasSubstr("\"seed\":9"));
}

TEST_F(ConfigShow, AsADocument) {
  const Ran ran = ctl({"--json", "config", "show", "a"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("hunter")));
  const auto shown = json::parse(ran.out).as_object();
  EXPECT_EQ(shown.at("command").as_array().at(2), (json::array{"--resume", "{checkpoint}"}));
  EXPECT_EQ(shown.at("user"), json::value(nullptr));
  EXPECT_EQ(shown.at("umask"), "077");
  EXPECT_EQ(shown.at("inherited"), json::value(nullptr));
  EXPECT_EQ(shown.at("environment").as_object().at("HF_TOKEN"), "(hidden)");
}

TEST_F(ConfigShow, OurOwnWorkerAndWhatIsNotThere) {
  const Ran own = ctl({"config", "show", "b"});
  EXPECT_EQ(own.code, 0) << own.err;
  EXPECT_THAT(own.out, HasSubstr("command     trainward-worker train --config "));
  EXPECT_THAT(own.out, HasSubstr("watch       the worker protocol\n"));
  EXPECT_THAT(ctl({"config", "show"}).err, HasSubstr("name a program; it has a, b"));
  EXPECT_EQ(ctl({"config", "show", "c"}).code, 1);
  EXPECT_EQ(ctl({"config", "show", "a", "missing.yaml"}).code, 1);
  fs::remove("trainward.yaml");
  EXPECT_EQ(ctl({"config", "show", "a"}).code, 2);
}

}  // namespace
}  // namespace trainward::ctl
