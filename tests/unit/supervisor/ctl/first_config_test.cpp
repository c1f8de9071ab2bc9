// init, config import, and config check without a file.
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "common/os/file.hpp"
#include "fixture.hpp"
#include "supervisor/ctl/init/script.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Commands that mean the folder they are typed in.
class FirstConfig : public CtlTest {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  void TearDown() override { fs::current_path(before_); }

  static void write(const fs::path& file, const std::string& text) {
    if (file.has_parent_path()) fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  static std::string text_of(const fs::path& file) {
    return read_file(file, 100'000).value_or("(none)");
  }

 private:
  fs::path before_;
};

constexpr const char* script =
    "import argparse\nimport torch\np.add_argument('--resume', type=str)\nloss.backward()\n";

TEST_F(FirstConfig, InitWritesWhatItFindsAndConfigCheckAccepts) {
  write("train.py", script);
  write("eval.py", "import torch\n");
  write("ckpts/step_100.pt", "x");
  write("ckpts/step_200.pt", "x");
  const Ran ran = ctl({"init"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("trainward.yaml: written, train.py (PyTorch)"));
  const std::string text = text_of("trainward.yaml");
  EXPECT_THAT(text, HasSubstr("command: [python3, train.py, [--resume, \"{checkpoint}\"]]"));
  EXPECT_THAT(text, HasSubstr("checkpoints: ['ckpts/step_*.pt']"));
  const Ran checked = ctl({"config", "check"});
  EXPECT_EQ(checked.code, 0) << checked.out;
  EXPECT_THAT(checked.out, HasSubstr("trainward.yaml: ok, 1 program\n"));
}

TEST_F(FirstConfig, AMeshThatADescribedHostCannotHoldIsAProblem) {
  const auto check = [&](const std::string& mesh) {
    write("run.yaml",
          "programs:\n  a:\n    command: [x]\n    board: {host: host.yaml, mesh_shape: " + mesh +
              "}\n");
    return ctl({"config", "check", "run.yaml"});
  };
  write("host.yaml",
        "boards:\n  - serial: \"00000000000000aa\"\n    chips: [{id: L}, {id: R, "
        "heartbeat: frozen}]\n    links: [{from: \"L:8\", to: \"R:0\", up: false}]\n");
  EXPECT_EQ(check("[1, 2]").code, 0) << "what is broken may be mended";
  const Ran small = check("[2, 2]");
  EXPECT_EQ(small.code, 1);
  EXPECT_THAT(small.out, HasSubstr("programs.a: a mesh of 2x2 needs 4 chips, the host has 2"));
  write("host.yaml", "boards: [{serial: x}]\n");
  EXPECT_THAT(check("[1, 2]").out, HasSubstr("expected 16 hexadecimal digits"));
}

// The only script, whatever it is called; one file without a number; a flag that takes no path.
TEST_F(FirstConfig, InitSeesWhatAPlainScriptSaves) {
  write("hf.py",
        "import torch\np.add_argument('--resume', action='store_true')\ntorch.save(m, f)\n");
  write("out/ckpt.pt", "x");
  EXPECT_EQ(ctl({"init"}).code, 0);
  const std::string text = text_of("trainward.yaml");
  EXPECT_THAT(text, HasSubstr("command: [python3, hf.py, \"{checkpoint:+--resume}\"]"));
  EXPECT_THAT(text, HasSubstr("checkpoints: [out/ckpt.pt]"));
  EXPECT_EQ(ctl({"config", "check"}).code, 0) << ctl({"config", "check"}).out;
}

TEST_F(FirstConfig, InitNeverOverwritesUnlessTold) {
  write("trainward.yaml", "mine");
  const Ran refused = ctl({"init"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("there is one already (--force replaces it)"));
  EXPECT_EQ(text_of("trainward.yaml"), "mine");
  EXPECT_EQ(ctl({"init", "--force"}).code, 0);
  EXPECT_THAT(text_of("trainward.yaml"), HasSubstr("programs:"));
}

TEST_F(FirstConfig, InitPrintsWithADash) {
  write("sub/pretrain.py", script);
  const Ran ran = ctl({"init", "sub", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("command: [python3, pretrain.py]"));
  EXPECT_FALSE(fs::exists("sub/trainward.yaml"));
  EXPECT_THAT(ctl({"init", "-", "sub/pretrain.py"}).out,
              HasSubstr("command: [python3, sub/pretrain.py]"));
}

TEST_F(FirstConfig, InitWithoutAScriptIsOurOwnWorker) {
  write("corpus/a.txt", "text");
  write("eval.py", "print(1)\n");
  EXPECT_EQ(ctl({"init"}).code, 0);
  EXPECT_THAT(text_of("trainward.yaml"), HasSubstr("data: [corpus]"));
  EXPECT_EQ(ctl({"config", "check"}).code, 0);
}

TEST_F(FirstConfig, InitPassesConfigCheckWhateverNamesThereAre) {
  for (const std::string name : {"all", "my train: {1}", "it's", "-x"}) {
    const fs::path folder = folder_ / ("case " + name);
    write(folder / (name + ".py"), "from transformers import Trainer\nTrainer().train()\n");
    write(folder / ("c [" + name) / "w1.pt", "x");
    write(folder / name / "w1.pt", "x");
    EXPECT_EQ(ctl({"init", folder / (name + ".py"), "--force"}).code, 0) << name;
    EXPECT_EQ(ctl({"init", folder}).code, 0) << text_of(folder / "trainward.yaml");
  }
}

TEST_F(FirstConfig, InitRefusesWhatIsNotThere) {
  EXPECT_EQ(ctl({"init", "nowhere"}).code, 2);
  EXPECT_EQ(ctl({"init", "nowhere.py", "-"}).code, 2);
}

TEST_F(FirstConfig, FrameworksAreKnownByTheirImports) {
  const auto name = [](const char* text) { return read_script(text).framework; };
  EXPECT_EQ(name("from transformers import Trainer, AutoModel\n"), "Hugging Face Trainer");
  EXPECT_EQ(name("from transformers import AutoModel\nimport torch as t\n"), "PyTorch");
  EXPECT_EQ(name("from trl import SFTTrainer\nimport transformers\n"), "TRL");
  EXPECT_EQ(name("import os, lightning.pytorch as pl\n"), "Lightning");
  EXPECT_EQ(name("import torch\niter_num = 0\n"), "nanoGPT");
  EXPECT_EQ(name("  import jax.numpy as jnp\n"), "JAX");
  EXPECT_EQ(name("# import torch\nimportant = 1\n"), "");
  EXPECT_EQ(read_script("p.add_argument('--resume', action='store_true')").resume_option, "");
  EXPECT_EQ(read_script("p.add_argument('--resume', action='store_true')").resume_flag, "--resume");
  EXPECT_EQ(read_script("p.add_argument(\"--ckpt\", help=\"x\")\n").resume_option, "--ckpt");
  EXPECT_TRUE(read_script("rank = os.environ['LOCAL_RANK']").distributed);
}

TEST_F(FirstConfig, CheckWithoutAFileSaysWhatToDo) {
  const Ran ran = ctl({"config", "check"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("no trainward.yaml here"));
  EXPECT_THAT(ran.err, HasSubstr("trainwardctl init"));
}

TEST_F(FirstConfig, CheckTellsWhatIsNotWrongToo) {
  write("trainward.yaml", "command: [sh, none.sh]\n");
  const Ran ran = ctl({"config", "check"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("no such script: "));
  EXPECT_THAT(ran.out, HasSubstr("one program, 'main'"));
  EXPECT_THAT(ran.out, HasSubstr("I can't see checkpoints"));
  const auto document = json::parse(ctl({"config", "check", "--json"}).out).as_object();
  EXPECT_EQ(document.at("notes").as_array().size(), 3U);
  EXPECT_EQ(document.at("problems").as_array().size(), 0U);
}

TEST_F(FirstConfig, ImportWritesAFileForItsOwnerOnly) {
  write("s.conf", "[program:a]\ncommand=/bin/true\nenvironment=TOKEN=\"t123\"\nstartsecs=1\n");
  const Ran ran = ctl({"config", "import", "s.conf"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("trainward.yaml: written, 1 program; 1 comment"));
  EXPECT_THAT(ran.out, Not(HasSubstr("t123")));
  struct stat info {};
  ASSERT_EQ(::stat("trainward.yaml", &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_THAT(text_of("trainward.yaml"), HasSubstr("TOKEN: t123"));
  EXPECT_EQ(ctl({"config", "import", "s.conf"}).code, 1) << "never overwrites";
  const Ran shown = ctl({"config", "import", "s.conf", "-"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, Not(HasSubstr("t123")));
  fs::permissions("trainward.yaml", fs::perms(0644));
  EXPECT_EQ(ctl({"config", "import", "s.conf", "--force"}).code, 0);
  ASSERT_EQ(::stat("trainward.yaml", &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(FirstConfig, ImportRefusesWhatIsNoIni) {
  write("s.conf", "nothing\n");
  EXPECT_EQ(ctl({"config", "import", "s.conf"}).code, 1);
  EXPECT_EQ(ctl({"config", "import", "none.conf"}).code, 1);
  EXPECT_FALSE(fs::exists("trainward.yaml"));
}

TEST_F(FirstConfig, SizesHaveOneGrammar) {
  fs::create_directories("programs");
  for (const char* size : {"1GB", "1 GiB", "5g", "1048576"}) {
    EXPECT_EQ(ctl({"cache", "prune", "--dir", "programs", "--max-bytes", size}).code, 0) << size;
  }
  for (const char* size : {"1 XB", "GB", "-1GB", "1  GB"}) {
    EXPECT_EQ(ctl({"cache", "prune", "--dir", "programs", "--max-bytes", size}).code, 2) << size;
  }
}

}  // namespace
}  // namespace trainward::ctl
