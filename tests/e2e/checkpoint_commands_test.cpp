// trainwardctl ckpt, the real program, on real checkpoint folders.
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/retention.hpp"
#include "common/base/json/json.hpp"
#include "support.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using checkpoint::testing::flip;
using checkpoint::testing::names_in;
using checkpoint::testing::Sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

class CheckpointCommands : public World {
 protected:
  fs::path add(std::int64_t step, std::uint64_t seed = 1) {
    auto folder = checkpoint::save(root(), Sample(step, seed).contents());
    EXPECT_TRUE(folder) << folder.error().message();
    return *folder;
  }
  [[nodiscard]] fs::path root() const { return path("ckpts"); }

  // `prepare` runs in the new process before the program does.
  Output prepared(const std::function<void()>& prepare, Words words) {
    auto out = open_file(path(".out"), O_RDWR | O_CREAT | O_TRUNC);
    auto err = open_file(path(".err"), O_RDWR | O_CREAT | O_TRUNC);
    words.insert(words.begin(), {program("trainwardctl"), "ckpt"});
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(out->get(), STDOUT_FILENO);
      ::dup2(err->get(), STDERR_FILENO);
      prepare();
      if (::chdir(folder_.path().c_str()) == 0) ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    Output output;
    output.code = wait_for(pid);
    output.out = read_file(path(".out"), 1 << 20).value();
    output.err = read_file(path(".err"), 1 << 20).value();
    return output;
  }
  Output ckpt(Words words) {
    return prepared([] {}, std::move(words));
  }
  // Held back and waiting, the signal is there whenever the program first asks for it: in the
  // middle of its work, with no clock involved.
  Output interrupted(int signal, Words words) {
    return prepared(
        [signal] {
          sigset_t set{};
          ::sigemptyset(&set);
          ::sigaddset(&set, signal);
          ::sigprocmask(SIG_BLOCK, &set, nullptr);
          ::raise(signal);
        },
        std::move(words));
  }
  // Even root is bound by the modes of files then.
  Output unprivileged(Words words) {
    return prepared([] { ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE); }, std::move(words));
  }
  json::value document(const Output& output) {
    auto value = parse_json(output.out, "stdout");
    EXPECT_TRUE(value) << output.out << output.err;
    return value.value_or(nullptr);
  }
};

TEST_F(CheckpointCommands, WrongUseIsExitCodeTwo) {
  const std::vector<Words> wrong{
      {},
      {"show"},
      {"verify"},
      {"digest"},
      {"diff", "a"},
      {"prune"},
      {"prune", "a", "--keep", "1"},
      {"prune", "a", "--every", "0"},
      {"pin"},
      {"unpin"},
      {"repair"},
      {"repair", "a", "b"},
      {"convert", "a"},
      {"convert", "a", "b", "--type", "i8"},
      {"convert", "a", "b", "--shard-size", "much"},
      {"frobnicate", "a"},
  };
  for (const Words& words : wrong) {
    const Output output = ckpt(words);
    EXPECT_EQ(output.code, 2) << ::testing::PrintToString(words);
    EXPECT_THAT(output.err, Not(IsEmpty()));
    EXPECT_THAT(output.out, IsEmpty());
  }
}

TEST_F(CheckpointCommands, AMissingFolderIsNamed) {
  for (const Words& words : std::vector<Words>{{"show", "./none"},
                                               {"verify", "./none"},
                                               {"digest", "./none"},
                                               {"diff", "./none", "./none"},
                                               {"prune", "./none"},
                                               {"pin", "./none"},
                                               {"unpin", "./none"},
                                               {"repair", "./none"},
                                               {"convert", "./none", "to"}}) {
    const Output output = ckpt(words);
    EXPECT_EQ(output.code, 1) << words[0];
    EXPECT_THAT(output.err, HasSubstr("./none: no such folder")) << words[0];
  }
  EXPECT_FALSE(fs::exists(path("to")));
}

TEST_F(CheckpointCommands, ListMarksTheLatestAndThePinned) {
  add(10);
  add(20);
  EXPECT_EQ(ckpt({"pin", "ckpts/step-00000010", "--reason", "before the\nchange"}).code, 0);
  const json::value rows = document(ckpt({"list", "ckpts", "--json"}));
  ASSERT_EQ(rows.as_array().size(), 2U);
  EXPECT_TRUE(rows.at(0).at("latest").as_bool());
  EXPECT_FALSE(rows.at(0).at("pinned").as_bool());
  EXPECT_FALSE(rows.at(1).at("latest").as_bool());
  EXPECT_TRUE(rows.at(1).at("pinned").as_bool());
  EXPECT_THAT(ckpt({"list", "ckpts"}).out, HasSubstr("pinned"));
}

TEST_F(CheckpointCommands, ShowSaysWhatIsInIt) {
  add(10);
  const fs::path folder = add(20);
  ASSERT_TRUE(checkpoint::pin(folder, "the good one"));
  const Output text = ckpt({"show", "ckpts", "--tensors"});
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* word : {"step-00000020", "20,000", "the good one", "newest that was verified",
                           "block.0.attn", "model.safetensors", "MARK"}) {
    EXPECT_EQ(text.out.find(word) != std::string::npos, std::string_view(word) != "MARK") << word;
  }
  const json::value found = document(ckpt({"show", folder.string(), "--json"}));
  EXPECT_EQ(found.at("step"), 20);
  EXPECT_EQ(found.at("pin_reason"), "the good one");
  EXPECT_TRUE(found.at("latest").as_bool());
  EXPECT_EQ(found.at("sections").at(0).at("tensors"), 3);
  EXPECT_EQ(found.at("sections").at(0).at("parameters"), 17 * 8 + 8 * 9 + 1);
  EXPECT_FALSE(found.at("sections").at(0).as_object().contains("list"));
}

TEST_F(CheckpointCommands, VerifyFindsDamage) {
  add(10);
  flip(add(20) / "model.safetensors", 4200, 1);
  const Output output = ckpt({"verify", "ckpts"});
  EXPECT_EQ(output.code, 1);
  EXPECT_THAT(output.out, HasSubstr("step-00000010: ok, step 10\n"));
  EXPECT_THAT(output.out, HasSubstr("DAMAGED: "));
  EXPECT_EQ(ckpt({"verify", "ckpts/step-00000010"}).code, 0);
  EXPECT_EQ(ckpt({"digest", "ckpts"}).code, 1);
  fs::remove(add(30) / "MANIFEST.json");
  EXPECT_THAT(ckpt({"verify", "ckpts"}).out, HasSubstr("step-00000030: DAMAGED: "));
  EXPECT_THAT(ckpt({"list", "ckpts"}).out, HasSubstr("30  corrupt"));
  EXPECT_EQ(ckpt({"convert", "ckpts", "copy"}).code, 1);
  EXPECT_THAT(names_in(path("copy").parent_path()), Not(::testing::Contains("copy")));
}

TEST_F(CheckpointCommands, DiffTellsBothFromEachOther) {
  const fs::path a = add(10, 1);
  const Output same = ckpt({"diff", a.string(), a.string()});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.out, "The same: 6 tensors and the state\n");
  const Output other = ckpt({"diff", a.string(), add(20, 2).string()});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("other values  model"));
  EXPECT_THAT(other.out, HasSubstr("10 became 20"));
  const json::value found = document(ckpt({"diff", "ckpts/step-00000010", "ckpts", "--json"}));
  EXPECT_FALSE(found.at("equal").as_bool());
  EXPECT_EQ(found.at("tensors").as_array().size(), 6U);
}

TEST_F(CheckpointCommands, PruneLeavesWhatIsPinnedAndMilestones) {
  for (const std::int64_t step : {10, 20, 30, 40, 50}) add(step);
  EXPECT_EQ(ckpt({"pin", "ckpts/step-00000010"}).code, 0);
  const Words words{"prune", "ckpts", "--keep", "2", "--every", "30", "--json"};
  Words dry = words;
  dry.emplace_back("--dry-run");
  const json::value told = document(ckpt(dry));
  EXPECT_EQ(names_in(root()).size(), 6U);
  const json::value done = document(ckpt(words));
  EXPECT_EQ(told.at("removed"), done.at("removed"));
  EXPECT_THAT(names_in(root()), ElementsAre("latest", "step-00000010", "step-00000030",
                                            "step-00000040", "step-00000050"));
  EXPECT_EQ(ckpt({"prune", "ckpts"}).code, 0);
  EXPECT_EQ(ckpt({"unpin", "ckpts/step-00000010"}).code, 0);
  EXPECT_THAT(ckpt({"prune", "ckpts"}).out, HasSubstr("step-00000010: removed\n"));
  EXPECT_EQ(ckpt({"prune", "ckpts"}).out, "Nothing to remove\n");
  EXPECT_THAT(ckpt({"prune", "ckpts/step-00000040"}).err, HasSubstr("is one checkpoint"));
  EXPECT_THAT(ckpt({"pin", "ckpts"}).err, HasSubstr("is no checkpoint"));
}

TEST_F(CheckpointCommands, RepairPutsAFolderInOrder) {
  add(10);
  flip(add(20) / "state.json", 3, 1);
  fs::rename(add(30), root() / ".corrupt-step-00000030");
  fs::create_directory(root() / ".tmp-step-00000040-1-0");
  const auto before = names_in(root());
  const Output told = ckpt({"repair", "ckpts", "--dry-run"});
  EXPECT_EQ(told.code, 1) << "there is something to do";
  EXPECT_THAT(told.out, HasSubstr("step-00000020: would be set aside"));
  EXPECT_EQ(names_in(root()), before);
  const Output done = ckpt({"repair", "ckpts"});
  EXPECT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("2 checkpoints good, the newest is ckpts/step-00000030\n"));
  EXPECT_THAT(names_in(root()),
              ElementsAre(".corrupt-step-00000020", "latest", "step-00000010", "step-00000030"));
  const json::value again = document(ckpt({"repair", "ckpts", "--json"}));
  EXPECT_THAT(again.at("steps").as_array(), IsEmpty());
}

TEST_F(CheckpointCommands, ConvertToOthersFormAndBack) {
  add(10);
  const Output weights = ckpt({"convert", "ckpts", "hf", "--weights", "--shard-size", "300B"});
  EXPECT_EQ(weights.code, 0) << weights.err;
  EXPECT_THAT(names_in(path("hf")), ::testing::Contains("model.safetensors.index.json"));
  EXPECT_THAT(names_in(path("hf")), Not(::testing::Contains("MANIFEST.json")));
  const Output back = ckpt({"convert", "hf", "back", "--type", "bf16", "--json"});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(document(back).at("path"), "back/step-00000010");
  EXPECT_EQ(ckpt({"verify", "back"}).code, 0);
  EXPECT_THAT(ckpt({"show", "back", "--tensors"}).out, HasSubstr("BF16"));
  EXPECT_THAT(ckpt({"convert", "hf", "back"}).err, HasSubstr("exists already"));
}

TEST_F(CheckpointCommands, ExportToPyTorchAndBack) {
  const fs::path folder = add(10);
  for (const std::string layout : {"zip", "legacy"}) {
    const std::string file = layout + ".pt";
    const Output written = ckpt({"export", "ckpts", file, "--layout", layout});
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_THAT(ckpt({"export", "ckpts", file}).err, HasSubstr("exists already"));
    const Output back = ckpt({"import", file, "back-" + layout, "--run", "again", "--json"});
    EXPECT_EQ(back.code, 0) << back.err;
    const json::value found = document(back);
    EXPECT_EQ(found.at("layout").as_string(), layout);
    EXPECT_EQ(found.at("step"), 10);
    EXPECT_EQ(found.at("model_tensors").as_int64() + found.at("optimizer_tensors").as_int64(), 6);
    EXPECT_EQ(ckpt({"verify", "back-" + layout}).code, 0);
  }
  write("text.pt", "this is no file of torch.save");
  EXPECT_EQ(ckpt({"import", "text.pt", "new"}).code, 1);
  EXPECT_EQ(ckpt({"import", "none.pt", "new"}).code, 1);
  EXPECT_FALSE(fs::exists(path("new")));
  EXPECT_EQ(ckpt({"export", "ckpts", "x.pt", "--layout", "tar"}).code, 2);
  flip(folder / "model.safetensors", 4200, 1);
  EXPECT_EQ(ckpt({"export", "ckpts", "x.pt"}).code, 1);
  EXPECT_FALSE(fs::exists(path("x.pt")));
}

TEST_F(CheckpointCommands, AnInterruptLeavesNothingBehind) {
  add(10);
  flip(add(20) / "state.json", 3, 1);
  EXPECT_EQ(ckpt({"convert", "ckpts/step-00000010", "hf", "--weights"}).code, 0);
  EXPECT_EQ(ckpt({"export", "ckpts/step-00000010", "model.pt"}).code, 0);
  const auto before = names_in(root());
  const auto around = names_in(folder_.path());
  const std::vector<Words> all{{"verify", "ckpts"},
                               {"digest", "ckpts/step-00000010"},
                               {"diff", "ckpts/step-00000010", "ckpts/step-00000010"},
                               {"repair", "ckpts"},
                               {"convert", "ckpts/step-00000010", "ckpts/copy"},
                               {"convert", "hf", "new/copy"},
                               {"import", "model.pt", "new/copy"},
                               {"export", "ckpts/step-00000010", "other.pt"},
                               {"convert", "hf", "plain", "--weights"}};
  for (const Words& words : all) {
    for (const auto& [signal, code] : {std::pair(SIGINT, 130), {SIGTERM, 143}}) {
      const Output output = interrupted(signal, words);
      EXPECT_EQ(output.code, code) << words[0];
      EXPECT_THAT(output.err, HasSubstr("interrupted: n")) << words[0];
      fs::remove(path("new/copy"));  // folders for checkpoints may be made, and are empty
      fs::remove(path("new"));
      EXPECT_EQ(names_in(folder_.path()), around) << words[0];
      EXPECT_EQ(names_in(root()), before) << words[0];
    }
  }
}

TEST_F(CheckpointCommands, AReadOnlyFolderCanBeReadAndIsNotChanged) {
  add(10);
  add(20);
  flip(add(30) / "state.json", 3, 1);
  const auto before = names_in(root());
  const fs::path one = root() / "step-00000010";
  for (const fs::path& folder : {one, root()}) ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  EXPECT_EQ(unprivileged({"list", "ckpts"}).code, 0);
  EXPECT_EQ(unprivileged({"show", one.string()}).code, 0);
  EXPECT_EQ(unprivileged({"verify", one.string()}).code, 0);
  for (const Words& words : std::vector<Words>{
           {"pin", one.string()}, {"prune", "ckpts"}, {"convert", one.string(), "ckpts/copy"}}) {
    const Output output = unprivileged(words);
    EXPECT_EQ(output.code, words[0] == "prune" ? 0 : 1) << words[0] << output.out;
  }
  const Output repair = unprivileged({"repair", "ckpts"});
  EXPECT_EQ(repair.code, 1);
  EXPECT_THAT(repair.out, HasSubstr("FAILED: "));
  for (const fs::path& folder : {root(), one}) ::chmod(folder.c_str(), 0755);
  EXPECT_EQ(names_in(root()), before);
}

TEST_F(CheckpointCommands, AProgramStandsForItsCheckpoints) {
  add(10);
  const fs::path newest = add(20);
  {
    auto store = store::Store::open(path(".trainward/trainward.db"));
    if (!store) {
      ASSERT_TRUE(make_folders(path(".trainward")));
      store = store::Store::open(path(".trainward/trainward.db"));
    }
    ASSERT_TRUE(store) << store.error().message();
    ASSERT_TRUE(store->put_program({"run", "EXITED", "done", "", "", 1, 0}));
    ASSERT_TRUE(store->put_checkpoint("run", {newest.string(), 20, 1, 10, "verified", "", 1}));
  }
  const Output output = ckpt({"verify", "run"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("step 10\n"));
  EXPECT_THAT(output.out, HasSubstr("step 20\n"));
  EXPECT_EQ(ckpt({"repair", "run"}).code, 0);
  EXPECT_EQ(ckpt({"show", "nope"}).code, 1);
}

}  // namespace
}  // namespace trainward::e2e
