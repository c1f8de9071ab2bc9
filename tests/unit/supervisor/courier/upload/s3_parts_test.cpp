// A large file on its way to a bucket: parts two at a time, signed with digests that are taken on
// the way, or were kept by another process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <future>
#include <map>
#include <set>

#include "s3_fixture.hpp"
#include "supervisor/courier/upload/package.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::upload {
namespace {

using test::FakeS3;
using Fault = FakeS3::Fault;

struct S3PartsOfAFile : S3 {
  std::string bytes = std::string(2'500'000, 'a');
  std::string path;

  S3PartsOfAFile() {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>('a' + i / 7 % 26);
    path = folder.write("checkpoints/step-5/model.safetensors", bytes).string();
  }

  // As the courier opens it, digests of parts and all.
  Result<OpenedPackage> open(const Target& to) {
    const orders::Source source{"gpt", (folder.path() / "checkpoints").string(),
                                (folder.path() / "work").string()};
    const std::string checkpoint = (folder.path() / "checkpoints/step-5").string();
    return open_package(source, {checkpoint, "step-5", 5, 77, false}, memory, {},
                        [&](std::int64_t size) { return to.part_bytes(size); });
  }

  // The same, when its digests are taken.
  Result<OpenedPackage> open_settled(const Target& to) {
    auto opened = open(to);
    if (!opened) return opened;
    for (const File& file : opened->package.files) {
      if (auto ok = settle(file, memory); !ok) return propagate(ok);
    }
    return opened;
  }

  // In a process of its own, as far as the target can tell.
  Result<Published> send(const FakeS3& server, TargetOptions options = {}) {
    auto to = target(server, std::move(options));
    auto opened = open(*to);
    if (!opened) return propagate(opened);
    return to->publish(opened->package, {});
  }

  // How often each part was sent, by its number.
  static std::map<std::string, int> parts_sent(FakeS3& server) {
    std::map<std::string, int> out;
    for (const auto& request : server.server().requests()) {
      const auto at = request.target.find("partNumber=");
      if (at != std::string::npos) ++out[request.target.substr(at + 11, 1)];
    }
    return out;
  }

  // The digests of the parts that are kept.
  std::string& kept() {
    for (auto& [key, value] : memory.values) {
      if (key.starts_with("digest/") && value.size() == 3 * 64) return value;
    }
    ADD_FAILURE() << "none are kept";
    return memory.values["none"];
  }

  // Written over in its middle, with the time that it had: only its bytes tell.
  void change_silently() const {
    struct stat before {};
    ASSERT_EQ(::stat(path.c_str(), &before), 0);
    std::fstream(path, std::ios::in | std::ios::out).seekp(1'500'000) << "CHANGED";
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
};

TEST_F(S3PartsOfAFile, AreSignedWithTheDigestsThatWereTaken) {
  FakeS3 server;
  const auto published = send(server);
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_EQ(server.objects().at(at("gpt/step-5/model.safetensors")), bytes);
  std::string announced;
  for (const char* part : {"partNumber=1", "partNumber=2", "partNumber=3"}) {
    for (const auto& request : server.server().requests()) {
      if (request.target.find(part) == std::string::npos) continue;
      EXPECT_EQ(request.header("x-amz-content-sha256"), sha256_hex(request.body));
      announced += request.header("x-amz-content-sha256");
    }
  }
  EXPECT_EQ(announced, kept());
  expect_signed(server);
}

TEST_F(S3PartsOfAFile, TheSecondIsOnItsWayWhileTheFirstIsNotAnswered) {
  FakeS3 server;
  const auto gate = std::make_shared<test::HttpGate>();
  server.hold("partNumber=1", gate);
  auto published = std::async(std::launch::async, [&] { return send(server); });
  // Whose run is there, whether it is published, what lies there, where parts go, and two of them.
  EXPECT_TRUE(server.server().wait_for(6));
  EXPECT_EQ(parts_sent(server).at("2"), 1);
  gate->open();
  const auto result = published.get();
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(server.objects().at(at("gpt/step-5/model.safetensors")), bytes);
}

// A process that is killed while a slow part is on its way has lost that one alone.
TEST_F(S3PartsOfAFile, WhatHasArrivedIsOnRecordWhileAnotherIsNotAnswered) {
  class Told : public TestMemory {
   public:
    explicit Told(std::shared_ptr<test::HttpGate> gate) : gate_(std::move(gate)) {}
    Status put(const std::string& key, const std::string& value) override {
      if (key.ends_with("#3")) gate_->open();
      return TestMemory::put(key, value);
    }

   private:
    std::shared_ptr<test::HttpGate> gate_;
  };
  FakeS3 server;
  const auto gate = std::make_shared<test::HttpGate>();
  server.hold("partNumber=1", gate);
  Told told(gate);
  const auto to = target(server, {}, told);
  auto opened = open(*to);
  ASSERT_TRUE(opened);
  const auto published = to->publish(opened->package, {});  // for ever, were the first waited for
  ASSERT_TRUE(published) << published.error().message();
}

TEST_F(S3PartsOfAFile, ALimitIsOfOneConnection) {
  FakeS3 server;
  TargetOptions options;
  options.bytes_per_second = 1 << 30;
  ASSERT_TRUE(send(server, options));
  std::set<std::size_t> connections;
  for (const auto& request : server.server().requests()) {
    if (request.method == "PUT" && request.target.find("partNumber=") != std::string::npos) {
      connections.insert(request.connection);
    }
  }
  EXPECT_EQ(connections.size(), 1U);
}

// What was under way beside one that failed has arrived, and is not sent again by another process,
// which takes no digest again either.
TEST_F(S3PartsOfAFile, ARestartGoesOn) {
  bool refuses = true;
  FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    const bool first = request.target.find("partNumber=1") != std::string::npos;
    return first && refuses ? Fault::slow_down_503 : Fault::none;
  });
  auto to = target(server);
  auto opened = open_settled(*to);
  ASSERT_TRUE(opened) << opened.error().message();
  const auto failed = to->publish(opened->package, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::transient);
  EXPECT_GE(to->wait_ms().value_or(0), 7'000) << "whatever the other one was answered";
  EXPECT_EQ(parts_sent(server).at("2"), 1);
  refuses = false;
  // Of the part that has arrived no digest is wanted any more: a wrong one would be refused.
  kept().replace(64, 64, std::string(64, '0'));
  const auto published = send(server);
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_EQ(parts_sent(server), (std::map<std::string, int>{{"1", 2}, {"2", 1}, {"3", 1}}));
  EXPECT_EQ(server.objects().at(at("gpt/step-5/model.safetensors")), bytes);
}

// One that an older version has begun in parts of the size that it thought right.
TEST_F(S3PartsOfAFile, PartsOfAnotherSizeGoOn) {
  bool refuses = true;
  FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    const bool second = request.target.find("partNumber=2") != std::string::npos;
    return second && refuses ? Fault::refuse_500 : Fault::none;
  });
  const orders::S3Place place{server.endpoint(), "bucket", prefix, "eu-test-1", keys};
  PlainTarget older(std::make_unique<s3::S3Store>(place, memory, TargetOptions{}, 900'000), memory);
  auto opened = open(older);
  ASSERT_TRUE(opened);
  ASSERT_FALSE(older.publish(opened->package, {}));
  refuses = false;
  const auto published = send(server);
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_EQ(parts_sent(server), (std::map<std::string, int>{{"1", 1}, {"2", 2}, {"3", 1}}));
  EXPECT_EQ(server.objects().at(at("gpt/step-5/model.safetensors")), bytes);
}

// Ended in the middle, before all of its digests were taken: the parts that have arrived are not
// sent again, and the record that is published is of the bytes.
TEST_F(S3PartsOfAFile, AnotherProcessTakesTheDigestsThatNobodyKept) {
  bool refuses = true;
  FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    const bool third = request.target.find("partNumber=3") != std::string::npos;
    return third && refuses ? Fault::refuse_500 : Fault::none;
  });
  ASSERT_FALSE(send(server));
  refuses = false;
  ASSERT_TRUE(forget_digests(memory));
  const auto published = send(server);
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_EQ(parts_sent(server), (std::map<std::string, int>{{"1", 1}, {"2", 1}, {"3", 2}}));
  EXPECT_EQ(server.objects().at(at("gpt/step-5/model.safetensors")), bytes);
  EXPECT_NE(
      server.objects().at(at("gpt/published/000000000005.step-5.json")).find(sha256_hex(bytes)),
      std::string::npos);
}

// A record of courier.db of a version that knew all digests before it began.
TEST_F(S3PartsOfAFile, AnUploadOnRecordByItsDigestGoesOn) {
  bool refuses = true;
  FakeS3 server([&](std::size_t, const test::HttpRequest& request) {
    const bool third = request.target.find("partNumber=3") != std::string::npos;
    return third && refuses ? Fault::refuse_500 : Fault::none;
  });
  auto to = target(server);
  ASSERT_TRUE(open_settled(*to));
  ASSERT_FALSE(send(server)) << "with digests that were kept";
  std::string& record = memory.values.at("multipart/gpt/step-5/model.safetensors");
  ASSERT_NE(record.find(sha256_hex(bytes)), std::string::npos) << record;
  refuses = false;
  ASSERT_TRUE(forget_digests(memory));
  ASSERT_TRUE(send(server));
  EXPECT_EQ(parts_sent(server), (std::map<std::string, int>{{"1", 1}, {"2", 1}, {"3", 2}}));
}

// Between its digests and its bytes; the server refuses what does not fit, and nothing is
// published.
TEST_F(S3PartsOfAFile, AChangedFileIsNotSent) {
  FakeS3 server;
  auto to = target(server);
  auto opened = open_settled(*to);
  ASSERT_TRUE(opened);
  change_silently();
  const auto changed = to->publish(opened->package, {});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(server.objects().empty());
  // Once its digests are taken anew it is another file, which goes up from its beginning.
  ASSERT_TRUE(forget_digests(memory));
  const auto published = send(server);
  ASSERT_TRUE(published) << published.error().message();
  EXPECT_EQ(server.objects().at(at("gpt/step-5/model.safetensors")).substr(1'500'000, 7),
            "CHANGED");
  EXPECT_EQ(server.open_uploads(), 0U);
}

TEST_F(S3PartsOfAFile, AFileThatIsWrittenToIsCalledThat) {
  FakeS3 server;
  auto to = target(server);
  auto opened = open(*to);
  ASSERT_TRUE(opened);
  std::fstream(path, std::ios::in | std::ios::out).seekp(1'500'000) << "CHANGED";
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  const timespec times[] = {info.st_atim, {info.st_mtim.tv_sec + 1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const auto changed = to->publish(opened->package, {});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::corrupt);
  EXPECT_NE(changed.error().message().find("was written while it was sent"), std::string::npos);
}

TEST_F(S3PartsOfAFile, ASmallFileThatChangesIsNotSent) {
  FakeS3 server;
  auto to = target(server);
  std::ofstream(path, std::ios::trunc) << "small";
  auto opened = open(*to);
  ASSERT_TRUE(opened);
  struct stat before {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  std::ofstream(path, std::ios::trunc) << "SMALL";
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const auto changed = to->publish(opened->package, {});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(server.objects().empty());
}

}  // namespace
}  // namespace trainward::upload
