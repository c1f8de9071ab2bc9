#include "supervisor/courier/upload/target/publication.hpp"

#include <gtest/gtest.h>

namespace trainward::upload {
namespace {

const std::string digest(64, 'a');

Remote example() {
  return {"step-00000007",
          7,
          {{"model.safetensors", 12, digest}, {"a/b.json", 0, digest}},
          "{checkpoint_dir}/step-00000007",
          1234,
          "",
          "a1b2"};
}

TEST(Publication, RecordReadsBack) {
  const Remote remote = example();
  const auto read = parse_manifest(manifest_text("gpt", remote), "here");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_TRUE(same_content(*read, remote));
  EXPECT_EQ(read->origin, remote.origin);
  EXPECT_EQ(read->saved_ms, 1234);
  EXPECT_EQ(read->run, "a1b2");
  EXPECT_EQ(read->files[1].name, "a/b.json");
}

TEST(Publication, NamesThatLeaveTheirFolderAreRefused) {
  for (const char* name :
       {"", "/etc/passwd", "../x", "a/../b", "a//b", "a/", ".", "a\\b", "a\nb", "a/./b"}) {
    EXPECT_FALSE(is_safe_name(name)) << name;
    Remote remote = example();
    remote.files[0].name = name;
    const auto read = parse_manifest(manifest_text("gpt", remote), "here");
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
  }
  for (const char* name : {"a", "a/b", "..a", "a..b/c.pt", ".metadata"}) {
    EXPECT_TRUE(is_safe_name(name)) << name;
  }
}

TEST(Publication, WhatIsNoRecordIsRefused) {
  Remote remote = example();
  remote.files.push_back(remote.files[0]);
  EXPECT_FALSE(parse_manifest(manifest_text("gpt", remote), "here")) << "twice";
  remote = example();
  remote.files[0].sha256 = "abc";
  EXPECT_FALSE(parse_manifest(manifest_text("gpt", remote), "here"));
  remote = example();
  remote.files[0].size = INT64_MAX;
  EXPECT_FALSE(parse_manifest(manifest_text("gpt", remote), "here")) << "no sum of such sizes";
  remote = example();
  remote.name = "a/b";
  EXPECT_FALSE(parse_manifest(manifest_text("gpt", remote), "here"));
  for (const char* text : {"", "{}", "[]", "{\"format\":\"trainward-upload\",\"version\":1}"}) {
    EXPECT_FALSE(parse_manifest(text, "here")) << text;
  }
  const auto newer = parse_manifest("{\"format\":\"trainward-upload\",\"version\":2}", "here");
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().kind, ErrorKind::permanent) << "not damaged: nothing may replace it";
}

TEST(Publication, KeysAreInTheOrderOfSteps) {
  EXPECT_LT(manifest_key("gpt", 9, "step-9"), manifest_key("gpt", 10, "step-10"));
  EXPECT_EQ(step_of_key(manifest_key("gpt", 1234, "step-1234")), 1234);
  EXPECT_EQ(step_of_key("gpt/published/notes.txt"), -1);
  EXPECT_EQ(step_of_key("gpt/published/12.x.json"), -1);
}

TEST(Publication, TheOneSavedLaterIsNewer) {
  Remote before = example();
  Remote after = example();
  before.step = 500;
  after.step = 450;  // the run was taken back in between
  after.saved_ms = before.saved_ms + 1;
  EXPECT_TRUE(is_newer(after, before));
  after.saved_ms = 0;
  EXPECT_TRUE(is_newer(before, after));
}

}  // namespace
}  // namespace trainward::upload
