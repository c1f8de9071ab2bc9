// What a crash leaves of a checkpoint file is found.
#include "supervisor/evidence/foreign/checkpoints/verify.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "common/os/file.hpp"
#include "state_files.hpp"
#include "temporary_folder.hpp"

namespace trainward::foreign {
namespace {

using testing::HasSubstr;

class Verify : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, const std::string& bytes) {
    EXPECT_TRUE(make_folders((folder_.path() / name).parent_path()));
    EXPECT_TRUE(write_file_durably(folder_.path() / name, bytes));
    return folder_.path() / name;
  }
  Folders folders() const { return {folder_.path(), folder_.path() / "state"}; }
  std::string why(const std::string& name, const std::string& bytes) {
    const auto verified = verify_foreign(put(name, bytes), folders());
    return verified ? "" : verified.error().what;
  }
  TemporaryFolder folder_;
};

TEST_F(Verify, WholeFilesOfEveryKind) {
  EXPECT_EQ(why("step1.pt", zip()), "");
  EXPECT_EQ(why("step2.pt", legacy), "");
  EXPECT_EQ(why("step3.safetensors", safetensors()), "");
  EXPECT_EQ(why("step4.msgpack", "anything"), "");
  const auto verified = verify_foreign(folder_.path() / "step3.safetensors", folders());
  ASSERT_TRUE(verified);
  EXPECT_EQ(verified->step, 3);
  EXPECT_EQ(verified->bytes, safetensors().size());
}

TEST_F(Verify, EveryTruncationOfAZipIsFound) {
  for (std::size_t length = 1; length < zip().size(); ++length) {
    EXPECT_NE(why("step1.pt", zip().substr(0, length)), "") << length;
  }
  std::string moved = zip();
  moved[30] = 'P';  // where the directory begins
  moved.insert(34, "1234");
  EXPECT_THAT(why("step1.pt", moved), HasSubstr("no directory where its end says"));
}

TEST_F(Verify, EveryTruncationOfSafetensorsIsFound) {
  for (std::size_t length = 1; length < safetensors().size(); ++length) {
    EXPECT_NE(why("step1.safetensors", safetensors().substr(0, length)), "") << length;
  }
  EXPECT_THAT(why("step1.safetensors", safetensors() + "y"), HasSubstr("promises 8 bytes"));
  EXPECT_NE(why("step1.safetensors", std::string(8, '\xff') + "{}"), "");
}

TEST_F(Verify, WhatIsNoCheckpointAtAll) {
  EXPECT_THAT(why("step1.pt", ""), HasSubstr("is empty"));
  EXPECT_THAT(why("step1.pt", std::string(4096, '\0')), HasSubstr("neither a zip"));
  EXPECT_THAT(why("step1.pth", "<html>"), HasSubstr("neither a zip"));
  ASSERT_EQ(::mkfifo((folder_.path() / "step5.pt").c_str(), 0600), 0);
  EXPECT_THAT(verify_foreign(folder_.path() / "step5.pt", folders()).error().what,
              HasSubstr("is a pipe, not a file"));
  EXPECT_FALSE(verify_foreign(folder_.path() / "step6.pt", folders()));
  EXPECT_THAT(verify_foreign("/etc/hostname", folders()).error().what, HasSubstr("outside"));
}

// As Hugging Face's Trainer leaves them.
class VerifyFolder : public Verify {
 protected:
  std::string why_folder(const std::string& name, Writer writer = Writer::gone) {
    const auto verified = verify_foreign(folder_.path() / name, folders(), writer);
    return verified ? "" : verified.error().what;
  }
  void put_checkpoint(const std::string& name) {
    put(name + "/model.safetensors", safetensors());
    put(name + "/optimizer.pt", zip());
    put(name + "/training_args.bin", zip());
    put(name + "/trainer_state.json", R"({"global_step": 7})");
  }
};

TEST_F(VerifyFolder, AWholeOne) {
  put_checkpoint("checkpoint-500");
  const auto verified = verify_foreign(folder_.path() / "checkpoint-500", folders());
  ASSERT_TRUE(verified) << verified.error().message();
  EXPECT_EQ(verified->step, 500);
  EXPECT_GT(verified->bytes, safetensors().size());
}

TEST_F(VerifyFolder, WhateverACrashLeavesOfItIsNotTaken) {
  put_checkpoint("checkpoint-400");
  put_checkpoint("checkpoint-500");
  // It was written in some order, and ended after any byte of any file.
  for (const char* part :
       {"model.safetensors", "optimizer.pt", "training_args.bin", "trainer_state.json"}) {
    const auto file = folder_.path() / "checkpoint-500" / part;
    const std::string whole = read_file(file, 1'000'000).value();
    ASSERT_TRUE(std::filesystem::remove(file));
    EXPECT_NE(why_folder("checkpoint-500"), "") << "without " << part;
    if (!file.string().ends_with(".json")) {
      for (std::size_t length = 0; length < whole.size(); ++length) {
        put("checkpoint-500/" + std::string(part), whole.substr(0, length));
        EXPECT_NE(why_folder("checkpoint-500"), "") << part << " " << length;
      }
    }
    put("checkpoint-500/" + std::string(part), whole);
  }
  EXPECT_EQ(why_folder("checkpoint-500"), "");
}

TEST_F(VerifyFolder, ALivingWriterMayStillWriteWhatIsMissing) {
  put_checkpoint("checkpoint-500");
  std::filesystem::remove(folder_.path() / "checkpoint-500/trainer_state.json");
  const auto alive = verify_foreign(folder_.path() / "checkpoint-500", folders(), Writer::alive);
  EXPECT_EQ(alive.error().kind, ErrorKind::transient);
  const auto gone = verify_foreign(folder_.path() / "checkpoint-500", folders(), Writer::gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(gone.error().what, HasSubstr("trainer_state.json"));
}

TEST_F(VerifyFolder, WhatTheOneBeforeHasMustBeThere) {
  put("step_1/weights.msgpack", "x");
  put("step_1/rng_0.pkl", "x");
  put("step_2/weights.msgpack", "x");
  EXPECT_THAT(why_folder("step_2"), HasSubstr("nothing like 'rng_0.pkl' of step_1"));
  EXPECT_EQ(why_folder("step_1"), "");
  put("step_2/rng_7.pkl", "x");
  EXPECT_EQ(why_folder("step_2"), "") << "numbers may differ";
  put("step_3/weights.msgpack", "x");
  put("step_4/weights.msgpack", "x");
  EXPECT_EQ(why_folder("step_4"), "") << "it saves less now";
}

TEST_F(VerifyFolder, DistributedOnesEndWithTheirMetadata) {
  put("step_1/__0_0.distcp", "anything");
  EXPECT_THAT(why_folder("step_1"), HasSubstr("lacks '.metadata'"));
  put("step_1/.metadata", "x");
  EXPECT_EQ(why_folder("step_1"), "");
}

TEST_F(VerifyFolder, EveryShardOfAnIndex) {
  const std::string index =
      R"({"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})";
  put("checkpoint-1/model.safetensors.index.json", index);
  put("checkpoint-1/model-00001-of-00002.safetensors", safetensors());
  EXPECT_THAT(why_folder("checkpoint-1"), HasSubstr("lacks 'model-00002-of-00002.safetensors'"));
  EXPECT_THAT(why("checkpoint-1/model.safetensors.index.json", index), HasSubstr("lacks 'model-"));
  put("checkpoint-1/model-00002-of-00002.safetensors", safetensors().substr(0, 30));
  EXPECT_THAT(why_folder("checkpoint-1"), HasSubstr("safetensors"));
  put("checkpoint-1/model-00002-of-00002.safetensors", safetensors());
  EXPECT_EQ(why_folder("checkpoint-1"), "");
  for (const char* bad : {"", "[]", "{}", R"({"weight_map":{"a":1}})",
                          R"({"weight_map":{"a":"../../etc/hostname"}})"}) {
    EXPECT_NE(why("checkpoint-1/model.safetensors.index.json", bad), "") << bad;
  }
}

TEST_F(VerifyFolder, WhatIsNoCheckpointAtAll) {
  std::filesystem::create_directories(folder_.path() / "step_1");
  EXPECT_THAT(why_folder("step_1"), HasSubstr("no file with anything"));
  put("step_2/weights.pt.tmp", "x");
  EXPECT_THAT(why_folder("step_2"), HasSubstr("not finished"));
  put("step_3/config.json", "{}");
  std::filesystem::create_symlink("/etc/hostname", folder_.path() / "step_3/weights.pt");
  EXPECT_THAT(why_folder("step_3"), HasSubstr("leads out"));
  put("step_4/config.json", "{}");
  ASSERT_EQ(::mkfifo((folder_.path() / "step_4/weights.pt").c_str(), 0600), 0);
  EXPECT_THAT(why_folder("step_4"), HasSubstr("neither a file nor a folder"));
}

TEST_F(Verify, TheNewestThatHoldsIsTaken) {
  put("step10.pt", zip());
  put("step20.pt", zip());
  put("step30.pt", zip().substr(0, 20));
  put("step40.pt", "");
  WatchSpec spec;
  spec.checkpoints = {"*.pt"};
  const auto found = find_checkpoints(spec, folders()).candidates;
  const Selection newest = select_foreign(found, folders(), 0).value();
  ASSERT_TRUE(newest.chosen);
  EXPECT_EQ(newest.chosen->step, 20);
  ASSERT_EQ(newest.skipped.size(), 2U);
  EXPECT_EQ(newest.skipped[0].candidate.step, 40);
  EXPECT_THAT(newest.skipped[1].reason, HasSubstr("cut off"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "step40.pt")) << "not ours to move";

  const Selection older = select_foreign(found, folders(), 20).value();
  ASSERT_TRUE(older.chosen);
  EXPECT_EQ(older.chosen->step, 10);
  EXPECT_FALSE(select_foreign(found, folders(), 10)->chosen);
}

}  // namespace
}  // namespace trainward::foreign
