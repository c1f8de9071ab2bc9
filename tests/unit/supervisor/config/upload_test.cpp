// Where a program's checkpoints go to, and when.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <variant>

#include "fixture.hpp"

namespace trainward::config {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigUpload : public ConfigTest {
 protected:
  Program program(const std::string& upload) const {
    const auto config = load_text("programs:\n  a:\n    upload: " + upload + "\n");
    EXPECT_TRUE(config) << config.error().front().text();
    return config ? config->programs.at(0) : Program{};
  }
  std::vector<std::string> refused(const std::string& upload) const {
    return wrong("upload: " + upload);
  }
};

TEST_F(ConfigUpload, EveryKindOfPlace) {
  const orders::Upload upload =
      program(
          "{every: 30min, bandwidth: 10MiB, window: \"22:00-07:00\", restore: true, targets: {"
          "nas: {folder: /mnt/nas/run}, "
          "bucket: {s3: {endpoint: \"https://s3.example.com/\", bucket: b, prefix: runs/a, "
          "region: eu-1, credentials_file: keys/s3}, every_steps: 500}, "
          "hub: {hub: {repo: me/run, private: false, token_file: hf, history: squash, "
          "form: safetensors}, milestones: true}}}")
          .upload;
  EXPECT_EQ(upload.bytes_per_second, 10 << 20);
  EXPECT_EQ(upload.window, (orders::Window{22 * 60, 7 * 60}));
  EXPECT_TRUE(upload.restore);
  ASSERT_EQ(upload.targets.size(), 3U);
  EXPECT_EQ(std::get<orders::FolderPlace>(upload.targets[0].place).folder, "/mnt/nas/run");
  EXPECT_EQ(upload.targets[0].cadence.every_ms, 1'800'000) << "as for all";
  const auto& s3 = std::get<orders::S3Place>(upload.targets[1].place);
  EXPECT_EQ(s3.endpoint, "https://s3.example.com");
  EXPECT_EQ(s3.prefix, "runs/a");
  EXPECT_EQ(s3.credentials_file, (folder_ / "keys/s3").string());
  EXPECT_EQ(upload.targets[1].cadence, (orders::Cadence{0, 500, false})) << "its own";
  const auto& hub = std::get<orders::HubPlace>(upload.targets[2].place);
  EXPECT_EQ(hub.repo, "me/run");
  EXPECT_FALSE(hub.is_private);
  EXPECT_EQ(hub.history, "squash");
  EXPECT_TRUE(upload.targets[2].cadence.milestones);

  const auto again = orders::upload_from_json(orders::to_json(upload));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, upload) << "as the courier is told";
}

TEST_F(ConfigUpload, WhatIsRestoredNeedsATargetThatHasAllOfIt) {
  const std::string hub = "{restore: true, targets: {hub: {hub: {repo: me/run, form: pytorch}}";
  EXPECT_THAT(refused(hub + "}}"), ElementsAre(HasSubstr("can be resumed from")));
  EXPECT_EQ(std::get<orders::HubPlace>(
                program(hub + ", nas: {folder: /mnt/nas}}}").upload.targets[0].place)
                .form,
            "pytorch");
  const auto config = load_text(
      "programs:\n  a:\n    command: [x]\n    watch: {checkpoints: ['out/*.pt']}\n"
      "    upload: " +
      hub + "}}\n");
  ASSERT_TRUE(config) << "what a command saves always goes as it is";
  const orders::UploadOrder order = upload_order_of(config->programs[0], "/c");
  EXPECT_THAT(order.source.patterns, ElementsAre("out/*.pt"));
  const auto again = orders::upload_order_from_json(orders::to_json(order));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, order);
}

TEST_F(ConfigUpload, IsNoPartOfTheWork) {
  const std::string without = load_text("programs:\n  a: {}\n")->programs[0].digest;
  EXPECT_EQ(program("{targets: {nas: {folder: /mnt/nas}}}").digest, without)
      << "an attempt must not end because checkpoints go elsewhere";
}

TEST_F(ConfigUpload, WhatCannotBeIsSaid) {
  EXPECT_THAT(refused("{}"), ElementsAre(HasSubstr("missing key 'targets'")));
  EXPECT_THAT(refused("{targets: {}}"), ElementsAre(HasSubstr("by name")));
  EXPECT_THAT(refused("{targets: {nas: {}}}"), ElementsAre(HasSubstr("a place")));
  EXPECT_THAT(refused("{targets: {nas: {folder: /a, s3: {endpoint: \"https://a\", bucket: b}}}}"),
              ElementsAre(HasSubstr("one place")));
  EXPECT_THAT(refused("{targets: {\"a b\": {folder: /a}}}"), ElementsAre(HasSubstr("name")));
  EXPECT_THAT(refused("{every: 1h, milestones: true, targets: {nas: {folder: /a}}}"),
              ElementsAre(HasSubstr("stands beside 'every'")));
  EXPECT_THAT(refused("{targets: {b: {s3: {bucket: b}}}}"),
              ElementsAre(HasSubstr("missing key 'endpoint'")));
  EXPECT_THAT(refused("{targets: {b: {s3: {endpoint: s3.example.com, bucket: b}}}}"),
              ElementsAre(HasSubstr("https://")));
  EXPECT_THAT(refused("{targets: {b: {s3: {endpoint: \"https://a\", bucket: b, prefix: /a}}}}"),
              ElementsAre(HasSubstr("prefix")));
  EXPECT_THAT(refused("{targets: {b: {hub: {repo: a/b/c}}}}"),
              ElementsAre(HasSubstr("OWNER/NAME")));
  EXPECT_THAT(refused("{targets: {b: {folder: /a, foldr: 1}}}"),
              ElementsAre(HasSubstr("unknown key")));
  for (const char* window : {"22-7", "\"25:00-07:00\"", "\"22:00\"", "[1, 2]", "\"22:60-07:00\""}) {
    EXPECT_THAT(refused(std::string("{targets: {nas: {folder: /a}}, window: ") + window + "}"),
                ElementsAre(HasSubstr("hours of the day")))
        << window;
  }
  EXPECT_THAT(refused("{targets: {nas: {folder: /a}}, window: \"07:00-07:00\"}"),
              ElementsAre(HasSubstr("whole day")));
}

TEST_F(ConfigUpload, WhatIsWrittenInAnotherShapeIsAnsweredWithTheRightLine) {
  EXPECT_THAT(refused("{hub: {repo: me/run}}"),
              ElementsAre(HasSubstr("`targets: {mine: {hub: …}}`")));
  EXPECT_THAT(refused("{targets: {mine: me/run}}"),
              Contains(HasSubstr("such as {hub: {repo: me/my-run}}")));
  EXPECT_THAT(refused("{targets: {mine: {hub: me/run}}}"),
              Contains(HasSubstr("such as {repo: me/my-run}")));
  EXPECT_THAT(refused("{targets: {mine: {s3: \"https://s3.example.com\"}}}"),
              Contains(HasSubstr("bucket: my-runs")));
}

TEST_F(ConfigUpload, AModelsFolderIsMadeOfATrainingThatBeganWithOne) {
  EXPECT_THAT(refused("{targets: {mine: {hub: {repo: me/run, form: folder}}}}"),
              ElementsAre(HasSubstr("base_model")));
}

TEST_F(ConfigUpload, FilesOfSecretsAreLookedAt) {
  const std::string file = (folder_ / "hf").string();
  const auto with = [&] { return "{targets: {b: {hub: {repo: a/b, token_file: " + file + "}}}}"; };
  const auto missing = load_text("programs:\n  a:\n    upload: " + with() + "\n");
  ASSERT_TRUE(missing);
  EXPECT_THAT(missing->notes,
              Contains(testing::Field(&Problem::message, HasSubstr("hf: is not there yet"))));
  std::ofstream(file) << "hf_x";
  fs::permissions(file, fs::perms(0644));
  EXPECT_THAT(refused(with()), ElementsAre(HasSubstr("chmod 600")));
  fs::permissions(file, fs::perms(0600));
  EXPECT_EQ(std::get<orders::HubPlace>(program(with()).upload.targets.at(0).place).token_file,
            file);
}

TEST_F(ConfigUpload, ASecretInTheWrongPlaceIsNotRepeated) {
  const std::string secret = "hf_abcdefghijklmnopqrstuvwxyz012345";
  const auto found = refused("{targets: {b: {hub: {repo: a/b, token_file: " + secret + "}}}}");
  EXPECT_THAT(found, ElementsAre(HasSubstr("looks like the secret itself")));
  EXPECT_EQ(found.front().find(secret), std::string::npos);
}

TEST_F(ConfigUpload, ACommandMustSayWhatItsCheckpointsAre) {
  EXPECT_THAT(problems("programs:\n  a:\n    command: [x]\n    upload: {targets: {nas: {folder: "
                       "/a}}}\n"),
              ElementsAre(HasSubstr("watch.checkpoints")));
  EXPECT_THAT(problems("programs:\n  a:\n    command: [x]\n    watch: {checkpoints: [\"*.pt\"]}\n"
                       "    upload: {targets: {nas: {folder: /a}}}\n"),
              IsEmpty());
}

}  // namespace
}  // namespace trainward::config
