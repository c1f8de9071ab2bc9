// Every format on lines such as its program prints, written anew after its documentation.
#include <gmock/gmock.h>

#include "recognized.hpp"

namespace trainward::foreign {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Formats, HuggingFacesLossesAreGivenTheStepsOfItsBar) {
  const std::string log =
      bar("Map: ", 451, 1000) + bar("", 0, 60) + bar("", 1, 60) + bar("", 5, 60) +
      "\n{'loss': 2.4512, 'grad_norm': 0.91, 'learning_rate': 4.9e-05, 'epoch': 0.05}\n" +
      bar("", 5, 60) + bar("", 9, 60) + bar("", 10, 60) +
      // newer versions put the numbers in quotes
      "\n{'loss': '2.25', 'grad_norm': '0.8', 'learning_rate': '4.8e-05', 'epoch': '0.1'}\n" +
      bar("", 10, 60) + bar("", 14, 60) + bar("", 15, 60) +
      "\n{'loss': 2.125, 'grad_norm': 0.7, 'learning_rate': 4.7e-05, 'num_tokens': 20480.0, "
      "'epoch': 0.15}\n" +
      bar("", 15, 60) + "\n{'eval_loss': 2.0625, 'eval_runtime': 1.2, 'epoch': 0.15}\n" +
      bar("", 60, 60) + "\n{'train_runtime': 81.2, 'train_loss': 1.1, 'epoch': 1.0}\n";
  EXPECT_THAT(
      recognized(log),
      ElementsAre("noticed: recognised the output of Hugging Face Trainer: step, loss, gradient "
                  "norm, learning rate; steps come from the progress bar",
                  "step 1 - -", "step 5 2.4512 -", "step 9 - -", "step 10 - -", "step 14 2.25 -",
                  "step 15 2.125 -", "evaluated 15 2.0625", "step 60 - -", "phase save"))
      << "from the third line on it is known which step a loss is of";
}

TEST(Formats, TheTwoStreamsOfHuggingFaceMayComeInEitherOrder) {
  Heard heard;
  heard.feed(bar("", 0, 40) + bar("", 9, 40));
  const auto line = [](double loss, double epoch) {
    return fmt::format("{{'loss': {}, 'learning_rate': 1e-05, 'epoch': {}}}\n", loss, epoch);
  };
  heard.feed("\n" + line(3, 0.25)).feed(bar("", 10, 40));
  EXPECT_THAT(heard.words(), Contains("step 9 3 -"));
  heard.feed(bar("", 19, 40) + "\n" + line(2, 0.5)).feed(bar("", 20, 40) + bar("", 29, 40));
  heard.feed("\n" + line(1, 0.75)).feed(bar("", 30, 40));
  EXPECT_THAT(heard.words(), AllOf(Contains("step 20 2 -"), Contains("step 30 1 -")));
}

// Its losses are kept back until the end, and then come before the bar's last drawings.
TEST(Formats, HuggingFacesBarMayBeReadAfterTheLineThatSaysItIsOver) {
  std::string log = bar("", 10, 400);
  for (const int step : {100, 200, 390}) {
    log += bar("", step, 400) + "\n{'loss': 2.5, 'grad_norm': 0.5, 'epoch': 0.5}\n";
  }
  log += "{'loss': 2.25, 'epoch': 1.0}\n{'train_runtime': 12.5, 'train_loss': 2.5, 'epoch': 1.0}\n";
  const std::string late = bar("", 395, 400) + bar("", 400, 400);
  const auto told = recognized(log + late);
  EXPECT_THAT(told, AllOf(Contains(testing::StartsWith("step 390 ")),
                          Contains(testing::StartsWith("step 395 ")),
                          Contains(testing::StartsWith("step 400 "))));
  EXPECT_EQ(told.back(), "phase save") << "as it was before they came";
  // The next one begins with the step after.
  std::string next;
  for (const int step : {0, 10, 20}) next += bar("", step, 400) + "\n{'loss': 2.0, 'epoch': 0.1}\n";
  EXPECT_THAT(recognized(log + late + next + bar("", 30, 400)),
              Contains(testing::StartsWith("step 430 ")));
}

TEST(Formats, HuggingFaceWithoutItsBarTellsLossesOfUnknownSteps) {
  EXPECT_THAT(recognized("{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n"
                         "{'loss': 2.4, 'learning_rate': 1e-05, 'epoch': 0.2}\n"
                         "{'loss': 2.3, 'learning_rate': 1e-05, 'epoch': 0.3}\n"),
              ElementsAre("noticed: the output of Hugging Face Trainer tells of losses, but not of "
                          "which step they are: its progress bar is off (disable_tqdm). They are "
                          "known from its first checkpoint on that watch.checkpoints finds"));
}

TEST(Formats, Lightning) {
  const std::string log =
      bar("Sanity Checking DataLoader 0: ", 2, 2) + bar("Epoch 0: ", 0, 90, "v_num=3") +
      bar("Epoch 0: ", 10, 90, "v_num=3, train_loss=2.125") +
      bar("Epoch 0: ", 90, 90, "v_num=3, train_loss=1.5") + bar("Validation DataLoader 0: ", 1, 9) +
      bar("Epoch 0: ", 90, 90, "v_num=3, train_loss=1.5, val_loss=1.25") +
      bar("Epoch 1: ", 10, 90, "v_num=3, train_loss=1.0, val_loss=1.25");
  EXPECT_THAT(recognized(log),
              ElementsAre("noticed: recognised the output of Lightning: step, loss",
                          "step 10 2.125 -", "step 90 1.5 -", "evaluated 90 1.25", "step 100 1 -"));
  EXPECT_THAT(recognized(bar("Epoch 5: ", 10, 90, "loss=2, v_num=0") +
                         bar("Epoch 5: ", 20, 90, "loss=1.5, v_num=0")),
              Contains("step 460 2 -"))
      << "a resumed run begins at its step";
}

TEST(Formats, Keras) {
  const std::string log =
      "Epoch 1/2\n  1/900 [......] - ETA: 2:05 - loss: 2.25 - accuracy: 0.1\b\b\b\b\r"
      "100/900 [==>...] - ETA: 5s - loss: 0.5 - accuracy: 0.8\r"
      "900/900 [======] - 6s 6ms/step - loss: 0.375 - val_loss: 0.25 - val_accuracy: 0.9\n"
      "Epoch 2/2\n"
      "\x1b[1m 50/900\x1b[0m \x1b[32m━━\x1b[0m\x1b[37m━━\x1b[0m \x1b[1m5s\x1b[0m 6ms/step - "
      "accuracy: 0.8 - loss: 0.25\r"
      "313/313 [======] - 0s 1ms/step - loss: 0.19 - accuracy: 0.9\n";
  EXPECT_THAT(recognized(log), ElementsAre("noticed: recognised the output of Keras: step, loss",
                                           "step 1 2.25 -", "step 100 0.5 -", "step 900 0.375 -",
                                           "evaluated 900 0.25", "step 950 0.25 -"));
  EXPECT_THAT(recognized("Epoch 4/9\n900/900 - 3s - loss: 0.5\nEpoch 5/9\n900/900 - 3s - loss: "
                         "0.25\n"),
              AllOf(Contains("step 3600 0.5 -"), Contains("step 4500 0.25 -")));
}

TEST(Formats, NanoGpt) {
  EXPECT_THAT(
      recognized("step 0: train loss 10.5, val loss 10.75\n"
                 "iter 0: loss 10.5, time 58341.22ms, mfu -100.00%\n"
                 "iter 10: loss 9.5, time 311.72ms, mfu 41.22%\n"
                 "iter 20: loss 8.75, time 310.91ms, mfu 41.24%\n"
                 "step 250: train loss 8.0, val loss 8.25\n"),
      ElementsAre("noticed: recognised the output of nanoGPT: step, loss, MFU",
                  "step 10 9.5 - mfu 0.4122", "step 20 8.75 - mfu 0.4124", "evaluated 250 8.25"));
}

// A figure that has its unit in its name needs no format of its own.
TEST(Formats, AFigureIsReadByItsName) {
  Recognizer recognizer;
  Events events;
  for (int step = 1; step <= 4; ++step) {
    recognizer.take(fmt::format("step: {} loss: 2.5 input_wait_ms: 1{}.25", step, step), events);
  }
  const auto* told = std::get_if<core::StepDone>(&events.back());
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->figures, (StepFigures{.loss = 2.5, .input_wait_ms = 14.25}));
}

TEST(Formats, Megatron) {
  EXPECT_THAT(
      recognized(" [2026-03-03 16:38:36] iteration      100/  500000 | consumed samples:        "
                 "25600 | elapsed time per iteration (ms): 1234.5 | learning rate: 1.500E-04 | "
                 "global batch size:   256 | lm loss: 6.500000E+00 | loss scale: 1.0 | grad norm: "
                 "1.234 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
                 " iteration      200/  500000 | consumed samples:        51200 | elapsed time per "
                 "iteration (ms): 1230.1 | learning rate: 1.500E-04 | lm loss: 6.25E+00 |\n"
                 " validation loss at iteration 200 | lm loss value: 6.125E+00 | lm loss PPL: "
                 "4.57E+02 | \n"),
      ElementsAre("noticed: recognised the output of Megatron-LM: step, loss, gradient norm, "
                  "learning rate",
                  "step 100 6.5 -", "step 200 6.25 -", "evaluated 200 6.125"));
}

TEST(Formats, TorchtitanWithItsColours) {
  EXPECT_THAT(
      recognized("[rank0]:[titan] 2026-01-02 10:00:00,123 - root - INFO - \x1b[31mstep: 10  "
                 "\x1b[32mloss:  7.1250  \x1b[38;2;180;60;0mgrad_norm:  1.2  \x1b[36mmemory:  "
                 "4.21GiB(4.44%)  \x1b[34mtps: 12,345  tflops: 5.6  mfu: 41.67%\x1b(B\x1b[m\n"
                 "step: 20  loss:  7.0  grad_norm:  1.2  memory:  4.2GiB(4%)  tps: 12,000\n"),
      ElementsAre("noticed: recognised the output of torchtitan: step, loss, gradient norm, tokens "
                  "a second, MFU, device memory",
                  "step 10 7.125 - mfu 0.4167 memory 4.21 GiB", "step 20 7 - memory 4.20 GiB"));
}

TEST(Formats, Torchtune) {
  EXPECT_THAT(recognized(bar("1|10|Loss: 2.25: ", 10, 90) + bar("1|11|Loss: 2.125: ", 11, 90) +
                         bar("2|91|Loss: 2.0: ", 1, 90)),
              ElementsAre("noticed: recognised the output of torchtune: step, loss",
                          "step 10 2.25 -", "step 11 2.125 -", "step 91 2 -"));
  EXPECT_THAT(recognized("Step 10 | loss:2.5 lr:2e-05 tokens_per_second_per_gpu:1234.5 "
                         "grad_norm:1.5\n",
                         "torchtune"),
              Contains("step 10 2.5 -"));
}

TEST(Formats, DeepSpeed) {
  const std::string prefix = "[2026-01-01 12:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] ";
  EXPECT_THAT(recognized(prefix + "step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]\n" + prefix +
                         "step=20, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]\n" +
                         "steps: 30 loss: 2.5000 iter time (s): 1.234 samples/sec: 12.3\n"),
              ElementsAre("noticed: recognised the output of DeepSpeed: step, learning rate",
                          "step 10 - -", "step 20 - -", "step 30 2.5 -"));
}

TEST(Formats, Tenstorrents) {
  EXPECT_THAT(recognized("2026-11-20 10:00:00 | INFO | Step 25 | train/loss: 1.2500\n"
                         "2026-11-20 10:01:00 | INFO | Step 50 | train/loss: 1.1250\n"
                         "2026-11-20 10:01:30 | INFO | Step 50 | val/loss: 1.3750\n"),
              ElementsAre("noticed: recognised the output of tt-blacksmith: step, loss",
                          "step 25 1.25 -", "step 50 1.125 -", "evaluated 50 1.375"));
  EXPECT_THAT(recognized("Step: 1, Loss: 4.5\nFull step time 123.1 ms, cache entries: 45\n"
                         "[Rank 0] Step: 2, Loss: 4.25\n"),
              ElementsAre("noticed: recognised the output of tt-train: step, loss", "step 1 4.5 -",
                          "step 2 4.25 -"));
}

TEST(Formats, BarsWithALoss) {
  EXPECT_THAT(recognized(bar("Steps: ", 5, 500, "lr=1e-5, step_loss=0.25") +
                         bar("Steps: ", 6, 500, "lr=1e-5, step_loss=0.125")),
              ElementsAre("noticed: recognised a progress bar with a loss: step, loss, learning "
                          "rate",
                          "step 5 0.25 -", "step 6 0.125 -"));
  EXPECT_THAT(recognized("59it [00:12,  4.90it/s, loss=2.25]\r60it [00:12,  1.20s/it, loss=2]\r"),
              AllOf(Contains("step 59 2.25 -"), Contains("step 60 2 -")));
  EXPECT_THAT(recognized(bar("Epoch 1/3: ", 90, 100) + bar("Epoch 1/3: ", 100, 100) +
                         bar("Epoch 2/3: ", 10, 100)),
              Contains("step 110 - -"));
}

// Any order, any punctuation.
TEST(Formats, PlainLines) {
  const auto third = [](auto&& line) {
    std::string text;
    for (const int step : {10, 20, 30}) text += line(step) + "\n";
    const auto events = recognized(text);
    return events.size() == 4 ? events.back() : fmt::format("{} events", events.size());
  };
  const auto as = [&](fmt::string_view format) {
    return third([format](int step) { return fmt::vformat(format, fmt::make_format_args(step)); });
  };
  EXPECT_EQ(as("step {} loss 2.5"), "step 30 2.5 -");
  EXPECT_EQ(as("loss=2.5 @ step {}"), "step 30 2.5 -");
  EXPECT_EQ(as("[{0}/100] iter: {0}, Loss: 2.5000"), "step 30 2.5 -");
  EXPECT_EQ(as("Iteration {}: train loss = 2.5, val acc 0.9"), "step 30 2.5 -");
  EXPECT_EQ(as("2026-11-20 10:00:07,312 INFO train: it={:06} lr=3e-4 loss=2.5e+00"),
            "step 30 2.5 -");
  EXPECT_EQ(as("Loss at step {}: 2.5"), "step 30 2.5 -");
  EXPECT_EQ(as("Train loss (step {}): 2.5"), "step 30 2.5 -");
  EXPECT_EQ(as("{{\"step\": {}, \"loss\": 2.5, \"tokens\": 4096}}"), "step 30 2.5 4096");
  EXPECT_EQ(as("step {}/1,000 | loss: tensor(2.5, device='cuda:0') | 8,123 tok/s"),
            "step 30 2.5 -");
  EXPECT_EQ(as("global_step={} kl_loss=0.1 loss=2.5 total_steps=900"), "step 30 2.5 -");
  EXPECT_EQ(as("step {} | loss 2.5 (+nanz) | norm 15.2 | lr 4.29e-07 | 168000 tok/s"),
            "step 30 2.5 -");
}

// In the manner of mmengine, timm, torchvision, MaxText, litgpt and of examples of GANs.
TEST(Formats, PlainLinesOfLibraries) {
  const auto third = [](fmt::string_view format) {
    std::string text;
    for (const int step : {10, 20, 30}) {
      text += fmt::vformat(format, fmt::make_format_args(step)) + "\n";
    }
    const auto events = recognized(text);
    return events.size() == 4 ? events.back() : fmt::format("{} events", events.size());
  };
  EXPECT_EQ(
      third("11/20 10:00:00 - mmengine - INFO - Epoch(train)  [1][ {}/312]  lr: 1.0e-02  eta: "
            "0:10:00  time: 0.1  memory: 500  loss: 2.5"),
      "step 30 2.5 -");
  EXPECT_EQ(third("Train: 0 [ {}/1251 (  8%)]  Loss: 2.5 (2.61)  Time: 0.1s, 123.4/s  LR: 1e-05"),
            "step 30 2.5 -");
  EXPECT_EQ(third("Epoch: [0]  [  {}/1000]  eta: 0:10:00  lr: 0.1  img/s: 12.3  loss: 2.5 (2.61)"),
            "step 30 2.5 -");
  EXPECT_EQ(third("Epoch: [0][  {}/5005]\tTime  0.5 ( 0.6)\tLoss 2.5e+00 (7.0e+00)\tAcc@1 0.1"),
            "step 30 2.5 -");
  EXPECT_EQ(
      third("completed step: {}, seconds: 0.5, TFLOP/s/device: 100.1, Tokens/s/device: 1234.5, "
            "total_weights: 8192, loss: 2.5"),
      "step 30 2.5 -");
  EXPECT_EQ(third("Epoch 1 | iter 4321 step {} | loss train: 2.5, val: n/a | iter time: 10.1 ms"),
            "step 30 2.5 -");
  EXPECT_EQ(third("[Epoch 0/200] [Batch {}/938] [D loss: 2.5] [G loss: 0.7]"), "step 30 2.5 -");
  EXPECT_EQ(third("| INFO | valid | epoch 001 | loss 2.5 | num_updates {}"), "0 events");
}

// What is left of losses that are no numbers, after Trainer has left them out of what it tells.
TEST(Formats, HuggingFaceHidesALossThatIsNoNumber) {
  std::string text = bar("", 1, 600) + "{'loss': 2.5, 'grad_norm': 0.9, 'epoch': 0.0}\n" +
                     bar("", 2, 600) + "{'loss': 0.0, 'grad_norm': 0.0, 'epoch': 0.0}\n";
  for (const int step : {3, 4, 5}) {
    text += bar("", step, 600) + "{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.01}\n";
  }
  const auto told = recognized(text + bar("", 6, 600));
  EXPECT_THAT(told.back(), testing::StartsWith("step 6 nan")) << "the third";
  EXPECT_EQ(told.size(), 7);
}

TEST(Formats, MetricWritersOfJaxAndFlax) {
  const std::string begin = "I0518 16:07:39.051123 139871 ";
  EXPECT_THAT(
      recognized(begin + "xla_bridge.py:906] Unable to initialize backend\n" + begin +
                 "logging_writer.py:48] [10] accuracy=0.43, loss=2.5\n" + begin +
                 "logging_writer.py:48] [20] accuracy=0.43, learning_rate=0.0003, loss=2.25\n" +
                 begin + "logging_writer.py:48] [20] eval_accuracy=0.4, eval_loss=2.75\n" + begin +
                 "checkpoint_manager.py:2004] [process=0][step=20] Save Finalize\n"),
      ElementsAre(
          "noticed: recognised the output of CLU's metric writers: step, loss, learning rate",
          testing::StartsWith("step 10 2.5"), testing::StartsWith("step 20 2.25"),
          "evaluated 20 2.75"));
}

// As in the scripts of Accelerate's documentation; of an unknown program it may be any work.
TEST(Formats, ABarWithoutANameIsOneOfStepsWhenSomebodySaysSo) {
  std::string text = bar("Map: ", 100, 1000) + bar("Map: ", 1000, 1000) + "\n";
  for (const int step : {0, 21, 40, 60}) text += bar("", step, 400);
  EXPECT_THAT(
      recognized(text, "accelerate"),
      ElementsAre(testing::StartsWith("noticed: recognised "), testing::StartsWith("step 21 "),
                  testing::StartsWith("step 40 "), testing::StartsWith("step 60 ")));
  EXPECT_THAT(recognized(text), IsEmpty());
}

TEST(Formats, PlainLinesWithEpochs) {
  EXPECT_THAT(recognized("Epoch [1/2], Step [100/300], Loss: 0.5\n"
                         "Epoch [1/2], Step [200/300], Loss: 0.375\n"
                         "Epoch [1/2], Step [300/300], Loss: 0.25\n"
                         "Epoch [2/2], Step [100/300], Loss: 0.125\n"),
              AllOf(SizeIs(5), Contains("step 400 0.125 -")));
  EXPECT_THAT(recognized("Train Epoch: 1 [0/6000 (0%)]\tLoss: 2.5\n"
                         "Train Epoch: 1 [640/6000 (11%)]\tLoss: 2.25\n"
                         "Train Epoch: 1 [1280/6000 (21%)]\tLoss: 2.0\n"
                         "Test set: Average loss: 0.0485, Accuracy: 5843/6000 (97%)\n"
                         "Train Epoch: 2 [640/6000 (11%)]\tLoss: 1.5\n"),
              AllOf(SizeIs(4), Contains("step 6640 1.5 -")));
  EXPECT_THAT(recognized("Epoch: 1, Loss: 0.5\nEpoch: 2, Loss: 0.375\nEpoch: 3, Loss: 0.25\n"),
              ElementsAre("noticed: recognised lines with an epoch and a loss: step, loss; a step "
                          "is an epoch",
                          "step 1 0.5 -", "step 2 0.375 -", "step 3 0.25 -"));
}

TEST(Formats, APresetNeedsNoProofAndReadsNothingElse) {
  EXPECT_THAT(recognized("iter 10: loss 9.5, time 311.72ms, mfu 41.22%\n", "nanogpt"),
              ElementsAre("noticed: recognised the output of nanoGPT: step, loss, MFU",
                          "step 10 9.5 - mfu 0.4122"));
  EXPECT_THAT(recognized("Step: 1, Loss: 4.5\nStep: 2, Loss: 4.25\n", "nanogpt"), IsEmpty());
  for (const std::string_view name : preset_names()) EXPECT_NE(find_format(name), nullptr) << name;
  EXPECT_EQ(find_format("axolotl"), find_format("huggingface"));
  EXPECT_EQ(find_format("auto"), nullptr);
}

}  // namespace
}  // namespace trainward::foreign
