// What the tests of buckets share: a target that sends parts of 1 MiB to a fake of the server, and
// a checkpoint with a file of three.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "fake_s3.hpp"
#include "fixture.hpp"
#include "supervisor/courier/upload/plain_target.hpp"
#include "supervisor/courier/upload/s3/s3_store.hpp"

namespace trainward::upload {

inline constexpr const char* prefix = "runs/a b+ü";

struct S3 : testing::Test {
  TemporaryFolder folder;
  TestMemory memory;
  std::string keys =
      folder
          .write("keys", std::string("[default]\naws_access_key_id = ") + test::FakeS3::key_id +
                             "\naws_secret_access_key = " + test::FakeS3::secret + "\n")
          .string();
  S3() {
    std::filesystem::permissions(
        keys, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }

  std::unique_ptr<PlainTarget> target(const test::FakeS3& server, TargetOptions options = {}) {
    return target(server, std::move(options), memory);
  }
  std::unique_ptr<PlainTarget> target(const test::FakeS3& server, TargetOptions options,
                                      Memory& kept) const {
    const orders::S3Place place{server.endpoint(), "bucket", prefix, "eu-test-1", keys};
    // Parts of 1 MiB, so that a small file has several.
    return std::make_unique<PlainTarget>(
        std::make_unique<s3::S3Store>(place, kept, options, 1 << 20), kept);
  }

  Package package() const {
    std::string large(2'500'000, 'a');
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i / 7 % 26);
    return make_package(
        folder, "step-5", 5,
        {{"model.safetensors", large}, {"empty", ""}, {"MANIFEST.json", "{\"a\"}"}});
  }

  // Every request, by an implementation that shares nothing with ours.
  void expect_signed(const test::FakeS3& server) const {
    folder.write("requests", server.recorded());
    const std::string command = std::string("python3 ") + SOURCE_DIR +
                                "/verify_signatures.py AKIDTEST '" + test::FakeS3::secret +
                                "' eu-test-1 < " + (folder.path() / "requests").string() +
                                " > /dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  static std::string at(const std::string& key) { return std::string(prefix) + "/" + key; }

  // All of it is there, and nothing was made twice.
  void expect_published(const test::FakeS3& server, const Package& what) {
    const auto objects = server.objects();
    for (const File& file : what.files) {
      const std::string key = at("gpt/step-5/" + file.name);
      ASSERT_TRUE(objects.contains(key)) << key;
      EXPECT_EQ(sha256_hex(objects.at(key)), file.sha256);
    }
    EXPECT_EQ(objects.size(), what.files.size() + 2) << "a record and latest.json besides";
    EXPECT_EQ(server.times_made(at("gpt/published/000000000005.step-5.json")), 1);
    EXPECT_EQ(server.open_uploads(), 0U);
  }
};

}  // namespace trainward::upload
