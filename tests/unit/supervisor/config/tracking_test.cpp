// tracking: of a program, of the file, and in other trainers' words.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fixture.hpp"
#include "supervisor/config/reading/secrets.hpp"
#include "supervisor/config/tracked.hpp"

namespace trainward::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrackingSection : public ConfigTest {
 protected:
  Program program(const std::string& text) const {
    auto loaded = load_text(text);
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().front().text());
    return loaded ? loaded->programs.front() : Program();
  }
};

TEST_F(TrackingSection, AProgramSaysMoreThanTheFile) {
  const std::string top =
      "tracking: {tensorboard: runs, every: 10, mlflow: {url: 'https://m.example/x/', "
      "token_file: t}}\n";
  orders::Tracking as_the_file = program(top + "programs: {a: {}}\n").tracking;
  EXPECT_EQ(as_the_file.tensorboard, (folder_ / "runs").string());
  EXPECT_EQ(as_the_file.every, 10);
  ASSERT_TRUE(as_the_file.mlflow);
  EXPECT_EQ(as_the_file.mlflow->url, "https://m.example/x");
  EXPECT_EQ(as_the_file.mlflow->experiment, "trainward");
  EXPECT_EQ(as_the_file.mlflow->token_file, (folder_ / "t").string());

  const auto its_own =
      program(top +
              "programs: {a: {command: [/bin/true], tracking: {tensorboard: /b, mlflow: "
              "{experiment: night}, every: 2}}}\n");
  EXPECT_EQ(its_own.tracking.tensorboard, "/b");
  EXPECT_EQ(its_own.tracking.mlflow->url, "https://m.example/x");
  EXPECT_EQ(its_own.tracking.mlflow->experiment, "night");
  EXPECT_EQ(its_own.tracking.every, 2);
  EXPECT_TRUE(program(top + "programs: {a: {tracking: false}}\n").tracking.empty());
  const auto files_only = program(top + "programs: {a: {tracking: {mlflow: false}}}\n").tracking;
  EXPECT_FALSE(files_only.mlflow);
  EXPECT_FALSE(files_only.tensorboard.empty());
}

TEST_F(TrackingSection, AChangeEndsNoAttempt) {
  EXPECT_EQ(program("programs: {a: {tracking: {tensorboard: b}}}\n").digest,
            program("programs: {a: {}}\n").digest);
}

TEST_F(TrackingSection, WhatIsWrongIsSaid) {
  EXPECT_THAT(wrong("tracking: {mlflow: {experiment: x}}"), ElementsAre(HasSubstr("url")));
  EXPECT_THAT(wrong("tracking: {mlflow: 'host:5000'}"), ElementsAre(HasSubstr("the address of")));
  const auto secret = wrong("tracking: {mlflow: 'https://me:hunter2@host/'}");
  EXPECT_THAT(secret, ElementsAre(HasSubstr("token_file")));
  EXPECT_THAT(secret.front(), testing::Not(HasSubstr("hunter2")));
  EXPECT_THAT(wrong("tracking: {every: 0}"), ElementsAre(HasSubstr("every")));
  EXPECT_THAT(wrong("tracking: {tensorbord: x}"), ElementsAre(HasSubstr("tensorboard")));
}

TEST_F(TrackingSection, OtherTrainersWords) {
  const auto folder = [&](const std::string& members) {
    return program("programs: {a: {training_config: {" + members + "}}}\n").tracking.tensorboard;
  };
  EXPECT_EQ(folder("report_to: [tensorboard]"), (folder_ / "runs").string());
  EXPECT_EQ(folder("report_to: none"), "");
  EXPECT_EQ(folder("report_to: all, logging_dir: /x"), "/x");
  const auto loaded =
      load_text("programs: {a: {logging_config: {mlflow: 'http://h:5000', use_wandb: true}}}\n");
  ASSERT_TRUE(loaded) << loaded.error().front().text();
  EXPECT_EQ(loaded->programs.front().tracking.mlflow->url, "http://h:5000");
  ASSERT_EQ(loaded->notes.size(), 1U);
  EXPECT_THAT(loaded->notes.front().text(),
              HasSubstr("`wandb sync " + (folder_ / "runs" / "a").string() + "`"));
  const auto beside = load_text(
      "tracking: {tensorboard: /all}\nprograms: {a: {training_config: {use_wandb: true}}}\n");
  ASSERT_TRUE(beside);
  EXPECT_THAT(beside->notes.front().text(), HasSubstr("wandb sync /all/a"));
}

TEST_F(TrackingSection, HparamsHoldNoSecret) {
  const auto own = hparams_of(program("programs: {a: {}}\n"));
  EXPECT_EQ(own.at("training_config.learning_rate"), json::value(0.003));
  const auto foreign = hparams_of(
      program("programs: {a: {command: [/bin/true, --lr, '3e-4', --steps=7, --api-token, hunter2, "
              "--warmup, '-1', --bias, '-5e-1', --fast]}}\n"));
  EXPECT_EQ(foreign.at("lr"), json::value(3e-4));
  EXPECT_EQ(foreign.at("warmup"), json::value(-1));
  EXPECT_EQ(foreign.at("bias"), json::value(-0.5));
  EXPECT_FALSE(foreign.contains("1"));
  EXPECT_EQ(foreign.at("steps"), json::value(7));
  EXPECT_EQ(foreign.at("fast"), json::value(true));
  EXPECT_THAT(json::serialize(foreign), testing::Not(HasSubstr("hunter2")));
}

TEST_F(TrackingSection, HparamsHoldNoSecretOfScriptsSettingsAndHeaders) {
  for (const char* words : {
           "wandb.key=hunter2",
           "'smtp.pass=hunter2'",
           "accessKey=hunter2",
           "'https://me:hunter2@host/?a=b'",
           "-c, 'cd /x && exec python t.py --hub-token hunter2 --lr 3'",
           "-c, 'export A=1; python t.py --lr=3 --hub-token=hunter2'",
           "-c, 'export HF_TOKEN=\"hunter2 hunter2\"; python t.py --lr 3'",
           "-c, 'git clone https://me:hunter2@host/x; python t.py --lr 3'",
           "-c, 'curl -H \"X-Api-Key: hunter2 hunter2\" host; python t.py --lr 3'",
           "--header, 'Authorization: Bearer hunter2'",
           "--tokens, hunter2",
       }) {
    const auto hparams =
        hparams_of(program(fmt::format("programs: {{a: {{command: [/bin/true, {}]}}}}\n", words)));
    const std::string text = json::serialize(hparams);
    EXPECT_THAT(text, testing::Not(HasSubstr("hunter2"))) << words;
    EXPECT_THAT(text, HasSubstr("(hidden)")) << words;
    // What is beside it stays.
    if (std::string_view(words).find("--lr") == std::string_view::npos) continue;
    EXPECT_THAT(text, testing::ContainsRegex("--lr[ =]3")) << words;
  }
}

TEST_F(TrackingSection, HparamsKeepTokenizersAndAmountsOfTokens) {
  const auto foreign = hparams_of(
      program("programs: {a: {command: [/bin/true, --tokenizer, gpt2, --max-tokens, '2048', "
              "--tokens-per-step=4e5]}}\n"));
  EXPECT_EQ(foreign.at("tokenizer"), json::value("gpt2"));
  EXPECT_EQ(foreign.at("max-tokens"), json::value(2048));
  EXPECT_EQ(foreign.at("tokens-per-step"), json::value(4e5));
  EXPECT_FALSE(looks_secret("training_config.tokenizer", "/data/tokenizer.json"));
}

TEST_F(TrackingSection, OrdersGoThereAndBack) {
  const auto loaded =
      load_text("programs: {a: {tracking: {tensorboard: b, mlflow: 'http://h'}}, c: {}}\n");
  ASSERT_TRUE(loaded);
  const auto orders = tracking_orders(*loaded);
  ASSERT_EQ(orders.size(), 1U);
  const auto again = orders::tracking_order_from_json(orders::to_json(orders.front()));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, orders.front());
}

}  // namespace
}  // namespace trainward::config
