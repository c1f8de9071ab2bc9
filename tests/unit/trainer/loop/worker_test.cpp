#include "trainer/loop/worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpoint.hpp"
#include "fake_trainable.hpp"
#include "trainer/loop/reporting/training_progress.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/model/training/step_flops.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WorkerTest : public testing::Test {
 protected:
  int run() {
    return bench_.run([this](const TrainingSpec&) -> Result<std::unique_ptr<Trainable>> {
      return std::make_unique<FakeTrainable>(record_);
    });
  }
  [[nodiscard]] std::string digest(std::int64_t step) const {
    auto digest = checkpoint::digest(bench_.checkpoint(step));
    return digest ? *digest : digest.error().message();
  }

  WorkerBench bench_;
  FakeRecord record_;
};

TEST_F(WorkerTest, TellsItsCourse) {
  bench_.training()["steps"] = 5;
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_THAT(
      bench_.said.course(),
      ElementsAre("PHASE=load", "RESUMED_STEP=0", "PHASE=compile", "PHASE=train", "STEP=1",
                  "STEP=2", "STEP=3", "STEP=4", "PHASE=save", "CHECKPOINT_STEP=4", "PHASE=train",
                  "STEP=5", "PHASE=save", "CHECKPOINT_STEP=5", "PHASE=train"));
  EXPECT_EQ(bench_.said.all("CHECKPOINT").back(), bench_.checkpoint(5).string());
  EXPECT_THAT(bench_.said.all("TOKENS"), ElementsAre("64", "128", "192", "256", "320"));
  // 64 tokens every 5 ms of the test's clock
  EXPECT_EQ(bench_.said.all("TOKENS_PER_SECOND").back(), "12800.0");
  EXPECT_EQ(bench_.said.err, "");
}

// Steps of 5 ms of the test's clock.
TEST_F(WorkerTest, TellsHowWellAStepUsedItsDevice) {
  bench_.training()["steps"] = 3;
  record_.memory = DeviceMemory{9'000, 12'000};
  record_.communication_us = 500;
  double flops = 0;
  const auto make = [&](const TrainingSpec& spec) -> Result<std::unique_ptr<Trainable>> {
    flops = step_flops(spec).value();
    record_.peak_flops = flops * 400;  // 400 steps a second, of which 200 are done
    return std::make_unique<FakeTrainable>(record_);
  };
  EXPECT_EQ(bench_.run(make), exit_code::done) << bench_.said.err;
  EXPECT_GT(flops, 0);
  EXPECT_THAT(bench_.said.all("MFU"), ElementsAre("0.5000", "0.5000", "0.5000"));
  EXPECT_EQ(bench_.said.all("COMMUNICATION").back(), "0.1000");
  EXPECT_EQ(bench_.said.all("DEVICE_MEMORY").back(), "9000");
  EXPECT_EQ(bench_.said.all("DEVICE_MEMORY_LIMIT").back(), "12000");
  // What is not known is not told.
  record_ = {};
  std::filesystem::remove_all(bench_.checkpoints());
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  for (const char* key : {"MFU", "COMMUNICATION", "DEVICE_MEMORY", "DEVICE_MEMORY_LIMIT"}) {
    EXPECT_TRUE(bench_.said.all(key).empty()) << key;
  }
}

// bf16 where it is fast, f32 and a line about it elsewhere; what was used shows in the digest.
TEST_F(WorkerTest, UsesBf16OnlyWhereItIsFast) {
  bench_.training()["steps"] = 1;
  const std::string line =
      "bf16 was asked for; this processor multiplies f32 faster, measured just now, so f32 is used";
  std::vector<std::string> digests;
  for (const auto& [asked, fast] : {std::pair("f32", true), {"bf16", false}, {"bf16", true}}) {
    SCOPED_TRACE(fmt::format("{} {}", asked, fast));
    std::filesystem::remove_all(bench_.checkpoints());
    bench_.training()["precision"] = asked;
    bench_.bf16_is_fast = fast;
    graph::Precision used{};
    const auto make = [&](const TrainingSpec& spec) -> Result<std::unique_ptr<Trainable>> {
      used = spec.precision;
      return std::make_unique<FakeTrainable>(record_);
    };
    ASSERT_EQ(bench_.run(make), exit_code::done) << bench_.said.err;
    const bool bf16 = std::string_view(asked) == "bf16";
    EXPECT_EQ(used == graph::Precision::bf16, bf16 && fast);
    EXPECT_EQ(std::ranges::count(bench_.said.all("STATUS"), line), bf16 && !fast ? 1 : 0);
    auto reader = checkpoint::Reader::open(bench_.checkpoint(1));
    ASSERT_TRUE(reader);
    digests.push_back(reader->state().config_digest);
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], digests[2]);
}

TEST_F(WorkerTest, SavesWhileItTrainsOn) {
  bench_.training()["checkpoint_async"] = true;
  bench_.training()["checkpoint_every"] = 1;
  bench_.training()["steps"] = 40;
  bench_.training()["checkpoint_shard_mib"] = 1;
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  const auto saved = bench_.said.all("CHECKPOINT_STEP");
  ASSERT_FALSE(saved.empty());
  EXPECT_EQ(saved.back(), "40");
  EXPECT_EQ(bench_.said.err, "");
  for (const std::string& folder : bench_.said.all("CHECKPOINT")) {
    EXPECT_TRUE(checkpoint::verify(folder)) << folder;
  }
  const std::string async = digest(40);
  std::filesystem::remove_all(bench_.checkpoints());
  bench_.training()["checkpoint_async"] = false;
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_EQ(digest(40), async);
}

TEST_F(WorkerTest, WhatACheckpointHoldsBesideTheModelIsCarriedOn) {
  const std::vector<float> head{1, 2, 3};
  const std::vector<float> weights{1, 2, 3, 4};
  checkpoint::Contents imported;
  imported.state.step = 3;
  imported.state.extra["pytorch"] = "kept";
  imported.model = {
      {{"w", checkpoint::DType::f32, {4}}, std::as_bytes(std::span(weights))},
      {{"sat.proj.weight", checkpoint::DType::f32, {3}}, std::as_bytes(std::span(head))}};
  imported.optimizer = {
      {{"w.exp_avg", checkpoint::DType::f32, {4}}, std::as_bytes(std::span(weights))}};
  auto from = checkpoint::save(bench_.folder() / "imported", imported);
  ASSERT_TRUE(from) << from.error().message();
  bench_.environment.resume_from = from->string();
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_THAT(record_.restored, ElementsAre(3));
  auto last = checkpoint::load(bench_.checkpoint(12));
  ASSERT_TRUE(last) << last.error().message();
  EXPECT_EQ(string_or(last->state().extra, "pytorch", ""), "kept");
  ASSERT_EQ(last->model().size(), 2U);
  EXPECT_EQ(last->model()[0].info.name, "sat.proj.weight");
  EXPECT_EQ(std::memcmp(last->model()[0].bytes.data(), head.data(), sizeof(float) * 3), 0);
}

TEST_F(WorkerTest, StateHoldsWhatAResumeNeeds) {
  EXPECT_EQ(run(), exit_code::done);
  auto loaded = checkpoint::load(bench_.checkpoint(8));
  ASSERT_TRUE(loaded) << loaded.error().message();
  const checkpoint::TrainingState& state = loaded->state();
  EXPECT_EQ(state.step, 8);
  EXPECT_EQ(state.tokens, 8 * 64);
  EXPECT_EQ(state.run, "test");
  EXPECT_EQ(state.parent, "");
  EXPECT_EQ(get_int(state.extra, "optimizer_steps").value(), 8);
  EXPECT_EQ(get_int(state.extra, "threads").value(), 1);
  auto progress = progress_of(state);
  ASSERT_TRUE(progress);
  EXPECT_EQ(get_int(state.extra, "epoch").value(), progress->cursor.epoch);
}

TEST_F(WorkerTest, AResumedRunEqualsAStraightOne) {
  EXPECT_EQ(run(), exit_code::done);
  const std::string straight = digest(12);
  const double loss = checkpoint::load(bench_.checkpoint(12))->state().loss;
  std::filesystem::remove_all(bench_.checkpoints());

  bench_.requests.stop_at = 5;
  EXPECT_EQ(run(), exit_code::try_again);
  EXPECT_EQ(bench_.said.all("CHECKPOINT_STEP").back(), "5");
  bench_.requests.stop_at = -1;
  bench_.environment.resume_from = bench_.checkpoint(5).string() + "/";
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_THAT(record_.restored, ElementsAre(5));
  EXPECT_THAT(bench_.said.all("RESUMED_STEP"), ElementsAre("5"));
  EXPECT_EQ(bench_.said.all("STEP").front(), "6");
  EXPECT_EQ(digest(12), straight);
  auto last = checkpoint::load(bench_.checkpoint(12));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->state().loss, loss);
  EXPECT_EQ(last->state().tokens, 12 * 64);
  EXPECT_EQ(last->state().parent, "step-00000005");
}

TEST_F(WorkerTest, AFinishedRunHasNothingToDo) {
  EXPECT_EQ(run(), exit_code::done);
  record_.steps = 0;
  bench_.environment.resume_from = bench_.checkpoint(12).string();
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_EQ(record_.steps, 0);
}

TEST_F(WorkerTest, RefusesACheckpointOfAnotherConfigurationAndNamesWhatChanged) {
  bench_.training()["steps"] = 4;
  EXPECT_EQ(run(), exit_code::done);
  const std::string old = checkpoint::load(bench_.checkpoint(4))->state().config_digest;
  bench_.training()["seed"] = 8;
  bench_.environment.resume_from = bench_.checkpoint(4).string();
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("other settings: training_config.seed was 7 and is 8 (to "
                                         "resume, set it back; to start over, give the program"));
  EXPECT_EQ(record_.made, 1);
  // As an older version wrote it.
  auto now = checkpoint::load(bench_.checkpoint(4));
  ASSERT_TRUE(now);
  checkpoint::Contents before{now->state(), now->model(), now->optimizer()};
  before.state.extra.erase(configuration_key);
  auto from = checkpoint::save(bench_.folder() / "before", before);
  ASSERT_TRUE(from);
  bench_.environment.resume_from = from->string();
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr(old.substr(0, 12) + "; an older version wrote it"));
}

TEST_F(WorkerTest, MoreStepsAreTheSameRun) {
  bench_.training()["steps"] = 4;
  EXPECT_EQ(run(), exit_code::done);
  bench_.training()["steps"] = 6;
  bench_.training()["checkpoint_every"] = 1;
  bench_.environment.resume_from = bench_.checkpoint(4).string();
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_THAT(bench_.said.all("CHECKPOINT_STEP"), ElementsAre("5", "6"));
}

// As a version that knew of no editions left it: without a word of one, and with its own digest.
TEST_F(WorkerTest, ARunKeepsTheScheduleThatItBeganWith) {
  bench_.training()["schedule"] = "linear";
  bench_.training()["warmup_steps"] = 2;
  std::vector<bool> from_one;
  const auto make = [&](const TrainingSpec& spec) -> Result<std::unique_ptr<Trainable>> {
    from_one.push_back(spec.schedule.from_one);
    return std::make_unique<FakeTrainable>(record_);
  };
  EXPECT_EQ(bench_.run(make), exit_code::done) << bench_.said.err;
  auto now = checkpoint::load(bench_.checkpoint(8));
  ASSERT_TRUE(now);
  EXPECT_EQ(edition_of(now->state()), current_edition);

  auto config = load_worker_config((bench_.folder() / "config.json").string());
  ASSERT_TRUE(config);
  keep_edition(*config, 1);
  ASSERT_TRUE(fit_to_data(*config, ByteTokenizer().vocabulary(), ByteTokenizer().digest()));
  EXPECT_NE(config->digest, now->state().config_digest);
  checkpoint::Contents before{now->state(), now->model(), now->optimizer()};
  before.state.config_digest = config->digest;
  before.state.extra.erase(edition_key);
  auto from = checkpoint::save(bench_.folder() / "before", before);
  ASSERT_TRUE(from) << from.error().message();
  std::filesystem::remove_all(bench_.checkpoints());
  bench_.environment.resume_from = from->string();
  EXPECT_EQ(bench_.run(make), exit_code::done) << bench_.said.err;
  EXPECT_THAT(from_one, ElementsAre(false, true));
  EXPECT_EQ(edition_of(checkpoint::load(bench_.checkpoint(12))->state()), 1);
}

TEST_F(WorkerTest, ACheckpointOfALaterEditionIsNotMisread) {
  EXPECT_EQ(run(), exit_code::done);
  auto now = checkpoint::load(bench_.checkpoint(8));
  ASSERT_TRUE(now);
  checkpoint::Contents later{now->state(), now->model(), now->optimizer()};
  later.state.extra[edition_key] = current_edition + 1;
  auto from = checkpoint::save(bench_.folder() / "later", later);
  ASSERT_TRUE(from);
  bench_.environment.resume_from = from->string();
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("resume with the version that wrote it"));
}

TEST_F(WorkerTest, GoesOnWithChangedDataAndSaysSo) {
  bench_.training()["steps"] = 4;
  EXPECT_EQ(run(), exit_code::done);
  // Shorter: the saved position no longer exists.
  std::ofstream(bench_.folder() / "data" / "text") << std::string(40, 'x');
  bench_.training()["steps"] = 6;
  bench_.environment.resume_from = bench_.checkpoint(4).string();
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_THAT(bench_.said.err, HasSubstr("changed since the checkpoint was written"));
  EXPECT_EQ(bench_.said.last_step, 6);
}

TEST_F(WorkerTest, MissingDataStopsAFreshStartForGoodButNotAResume) {
  bench_.training()["steps"] = 4;
  EXPECT_EQ(run(), exit_code::done);
  std::filesystem::rename(bench_.folder() / "data", bench_.folder() / "unmounted");
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr((bench_.folder() / "data").string()));
  bench_.environment.resume_from = bench_.checkpoint(4).string();
  EXPECT_EQ(run(), exit_code::failed);
}

TEST_F(WorkerTest, ADamagedCheckpointIsAnErrorThatMayBeRetriedElsewhere) {
  bench_.training()["steps"] = 4;
  EXPECT_EQ(run(), exit_code::done);
  std::fstream file(bench_.checkpoint(4) / "model.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('\x55');
  file.close();
  bench_.environment.resume_from = bench_.checkpoint(4).string();
  EXPECT_EQ(run(), exit_code::failed);
  EXPECT_THAT(bench_.said.err, HasSubstr("model.safetensors"));
}

TEST_F(WorkerTest, StartedByHandItFindsTheNewestButNeverMixesRuns) {
  bench_.environment = {};
  bench_.options.checkpoint_dir = bench_.checkpoints().string();
  bench_.training()["steps"] = 4;
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("--resume auto"));
  bench_.options.resume = "auto";
  bench_.training()["steps"] = 6;
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_THAT(bench_.said.all("RESUMED_STEP"), ElementsAre("4"));
}

TEST_F(WorkerTest, AConfigurationErrorNamesFileAndKey) {
  bench_.training()["batchsize"] = 3;
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_EQ(bench_.said.err,
            fmt::format("trainward-worker: {}: training_config.batchsize: is not a key known here "
                        "(did you mean 'batch_size'?)\n",
                        (bench_.folder() / "config.json").string()));
}

}  // namespace
}  // namespace trainward::trainer
