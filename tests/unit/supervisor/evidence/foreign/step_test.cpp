// Of which step a checkpoint is.
#include <gmock/gmock.h>

#include "checkpoint/pytorch/archive/archive_writer.hpp"
#include "common/os/file.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"
#include "supervisor/evidence/foreign/checkpoints/trainer_state.hpp"
#include "temporary_folder.hpp"

namespace trainward::foreign {
namespace {

TEST(CheckpointStep, IsInTheName) {
  EXPECT_EQ(step_in_name("pretrain_step00000123.pt"), 123);
  EXPECT_EQ(step_in_name("step-120-of-500.pt"), 120);
  EXPECT_EQ(step_in_name("steps_7.ckpt"), 7);
  EXPECT_EQ(step_in_name("model_v2_77.pt"), 77);
  EXPECT_EQ(step_in_name("step0.pt"), 0);
  EXPECT_EQ(step_in_name("checkpoint-500"), 500);
  EXPECT_EQ(step_in_name("global_step500"), 500);
  EXPECT_EQ(step_in_name("iter_0000500"), 500);
  EXPECT_EQ(step_in_name("epoch=3-step=400.ckpt"), 400);
  EXPECT_EQ(step_in_name("epoch=3-step=400-val_loss=1.25.ckpt"), 400);
  EXPECT_EQ(step_in_name("ckpt.500"), 500);
  EXPECT_EQ(step_in_name("500"), 500);
}

TEST(CheckpointStep, IsNotWhatElseIsNumbered) {
  for (const char* name :
       {"final.pt", "epoch3.pt", "epoch=3-val_loss=0.25.ckpt", "model_v2.pt", "best_acc_0.91.pt",
        "model-00001-of-00004.safetensors", "rank_3.pt", "step99999999999999999999.pt", ""}) {
    EXPECT_EQ(step_in_name(name), std::nullopt) << name;
  }
}

TEST(CheckpointStep, IsInThePath) {
  const auto step = [](std::vector<std::string> parts, std::vector<std::string> names) {
    return step_in_path(parts, names);
  };
  EXPECT_EQ(step({"out", "checkpoint-*", "model-*.safetensors"},
                 {"out", "checkpoint-500", "model-00001-of-00002.safetensors"}),
            500);
  EXPECT_EQ(step({"global_step*", "mp_rank_*_model_states.pt"},
                 {"global_step70", "mp_rank_00_model_states.pt"}),
            70);
  EXPECT_EQ(step({"run2", "ckpt.pt"}, {"run2", "ckpt.pt"}), std::nullopt) << "nobody matched the 2";
  EXPECT_EQ(step({"iter_*", "model.pt"}, {"iter_0000500", "model.pt"}), 500);
}

class StepInside : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, const std::string& bytes) {
    EXPECT_TRUE(make_folders((folder_.path() / name).parent_path()));
    EXPECT_TRUE(write_file_durably(folder_.path() / name, bytes));
    return folder_.path() / name;
  }
  // A file of torch.save that holds what this pickle says.
  std::filesystem::path saved(const std::string& body) {
    const auto file = folder_.path() / "ckpt.pt";
    EXPECT_TRUE(checkpoint::pytorch::write_zip(file, "\x80\x02" + body + ".", {}));
    return file;
  }
  static std::string text(std::string_view value) {
    return std::string("X") + static_cast<char>(value.size()) + std::string(3, '\0') +
           std::string(value);
  }
  TemporaryFolder folder_;
};

TEST_F(StepInside, OfATrainersState) {
  put("final/trainer_state.json", R"({"epoch": 2.0, "global_step": 1234})");
  EXPECT_EQ(step_inside(folder_.path() / "final"), 1234);
  put("other/trainer_state.json", R"({"global_step": -3})");
  EXPECT_EQ(step_inside(folder_.path() / "other"), std::nullopt);
  put("third/trainer_state.json", "{");
  EXPECT_EQ(step_inside(folder_.path() / "third"), std::nullopt);
  EXPECT_EQ(step_inside(folder_.path() / "nowhere"), std::nullopt);
}

TEST_F(StepInside, ATrainersStateSaysWhatWasLogged) {
  put("a/trainer_state.json",
      R"({"global_step": 20, "logging_steps": 10, "log_history": [
          {"step": 10, "loss": 2.5, "learning_rate": 1e-4, "grad_norm": 1.5},
          {"step": 10, "eval_loss": 2.0}, {"step": "x", "loss": 1}, 7,
          {"step": 20, "loss": 2.25}]})");
  const auto state = read_trainer_state(folder_.path() / "a");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->log.every, 10);
  ASSERT_EQ(state->log.steps.size(), 2U);
  EXPECT_EQ(state->log.steps[0].measures.learning_rate, 1e-4);
  EXPECT_EQ(state->log.steps[1].step, 20);
  EXPECT_EQ(state->log.steps[1].measures.loss, 2.25);
}

TEST_F(StepInside, OfATorchFile) {
  EXPECT_EQ(step_inside(saved("}" + text("iter_num") + "M\xf4\x01s")), 500);
  EXPECT_EQ(step_inside(saved("}(" + text("epoch") + "K\x03" + text("global_step") + "K\x46u")),
            70);
  EXPECT_EQ(step_inside(saved("}" + text("weights") + "}s")), std::nullopt);
  EXPECT_EQ(step_inside(saved("]")), std::nullopt);
  EXPECT_EQ(step_inside(put("ckpt.pt", "no archive")), std::nullopt);
}

// Lightning keeps classes of its own beside the step.
TEST_F(StepInside, BesideObjectsThatNobodyKnows) {
  const std::string object = "clightning.fabric\nAttributeDict\n)\x81}" + text("lr") + "K\x01sb";
  const std::string call = "cnumpy.core.multiarray\nscalar\nK\x01\x85R";
  EXPECT_EQ(step_inside(saved("}(" + text("global_step") + "K\x46" + text("hparams") + object +
                              text("score") + call + "u")),
            70);
}

}  // namespace
}  // namespace trainward::foreign
