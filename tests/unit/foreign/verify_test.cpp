// What a crash leaves of a checkpoint file is found.
#include "supervisor/foreign/verify.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "common/os/file.hpp"
#include "temporary_folder.hpp"

namespace trainward::foreign {
namespace {

using testing::HasSubstr;

std::string number(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// An archive of one empty member, as torch.save writes many of.
std::string zip() {
  const std::string local = "PK\x03\x04" + std::string(26, '\0') + "data";
  const std::string directory = "PK\x01\x02" + std::string(42, '\0');
  return local + directory + "PK\x05\x06" + number(0, 8) + number(directory.size(), 4) +
         number(local.size(), 4) + number(0, 2);
}

std::string safetensors() {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  return number(header.size(), 8) + header + std::string(8, 'x');
}

const std::string legacy =
    "\x80\x02\x8a\nl\xfc\x9c"
    "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.";

class Verify : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name, const std::string& bytes) {
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

TEST_F(Verify, TheNewestThatHoldsIsTaken) {
  put("step10.pt", zip());
  put("step20.pt", zip());
  put("step30.pt", zip().substr(0, 20));
  put("step40.pt", "");
  WatchSpec spec;
  spec.checkpoints = {"*.pt"};
  const Selection newest = select_foreign(spec, folders(), 0).value();
  ASSERT_TRUE(newest.chosen);
  EXPECT_EQ(newest.chosen->step, 20);
  ASSERT_EQ(newest.skipped.size(), 2U);
  EXPECT_EQ(newest.skipped[0].file.step, 40);
  EXPECT_THAT(newest.skipped[1].reason, HasSubstr("cut off"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "step40.pt")) << "not ours to move";

  const Selection older = select_foreign(spec, folders(), 20).value();
  ASSERT_TRUE(older.chosen);
  EXPECT_EQ(older.chosen->step, 10);
  EXPECT_FALSE(select_foreign(spec, folders(), 10)->chosen);
}

}  // namespace
}  // namespace trainward::foreign
