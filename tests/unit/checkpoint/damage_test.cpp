// Damage: every flipped byte, every cut, every file that is not what it was is found and named.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "checkpoint/checkpoint.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::flip;
using ::testing::HasSubstr;
using testing::Medium;
using testing::names_in;
using testing::read_bytes;
using testing::Sample;
using testing::ScratchFolder;
using testing::write_bytes;

class Damage : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = save(scratch_.path(), Sample(1).contents());
    ASSERT_TRUE(folder) << folder.error().message();
    folder_ = *folder;
  }
  // The error of verify(); an empty one when it is satisfied.
  Error problem() {
    auto summary = verify(folder_);
    return summary ? Error{} : summary.error();
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path folder_;
};

TEST_F(Damage, EveryFlippedByteIsFound) {
  constexpr std::uint64_t seed = 4711;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (const std::string& name : names_in(folder_)) {
    const fs::path file = folder_ / name;
    for (std::uint64_t at = 0; at < fs::file_size(file); ++at) {
      const auto mask = static_cast<unsigned char>(1 + random() % 255);
      flip(file, at, mask);
      const Error error = problem();
      EXPECT_EQ(error.kind, ErrorKind::corrupt);
      EXPECT_EQ(error.where, file.string()) << "byte " << at << " mask " << int{mask};
      flip(file, at, mask);
    }
  }
  EXPECT_EQ(problem().message(), "");
}

TEST_F(Damage, EveryCutIsFound) {
  for (const std::string& name : names_in(folder_)) {
    const fs::path file = folder_ / name;
    const std::string whole = read_bytes(file);
    for (std::uint64_t size = whole.size(); size-- > 0;) {
      fs::resize_file(file, size);
      ASSERT_EQ(problem().where, file.string()) << "cut at byte " << size;
    }
    write_bytes(file, whole);
  }
  EXPECT_EQ(problem().message(), "");
}

TEST_F(Damage, FilesThatGrewAreFound) {
  for (const std::string& name : names_in(folder_)) {
    const fs::path file = folder_ / name;
    const std::string whole = read_bytes(file);
    write_bytes(file, whole + " ");
    EXPECT_EQ(problem().where, file.string());
    EXPECT_EQ(problem().kind, ErrorKind::corrupt);
    write_bytes(file, whole);
  }
}

TEST_F(Damage, MessagesNameTheFileThePlaceAndTheNextStep) {
  flip(folder_ / "optimizer.safetensors", 5000, 1);
  const Error error = problem();
  EXPECT_THAT(error.message(), HasSubstr("optimizer.safetensors: is damaged between bytes 0 and"));
  EXPECT_THAT(error.hint, HasSubstr("older checkpoint"));
  fs::resize_file(folder_ / "model.safetensors", 100);
  EXPECT_THAT(problem().message(), HasSubstr("cut short at byte 100"));
}

TEST_F(Damage, MissingFilesAreFoundAndUnknownOnesIgnored) {
  write_bytes(folder_ / "notes.txt", "mine");
  EXPECT_EQ(problem().message(), "");
  for (const char* name :
       {"MANIFEST.json", "model.safetensors", "optimizer.safetensors", "state.json"}) {
    fs::rename(folder_ / name, folder_ / "elsewhere");
    EXPECT_EQ(problem().kind, ErrorKind::corrupt);
    EXPECT_THAT(problem().message(), HasSubstr(std::string(name) + ": is missing"));
    fs::rename(folder_ / "elsewhere", folder_ / name);
  }
  EXPECT_EQ(problem().message(), "");
}

TEST_F(Damage, NothingButRegularFilesIsOpened) {
  for (const std::string& name : names_in(folder_)) {
    const fs::path file = folder_ / name;
    const fs::path real = scratch_.path() / "real";
    fs::rename(file, real);

    fs::create_symlink(real, file);
    EXPECT_EQ(problem().kind, ErrorKind::corrupt);
    EXPECT_THAT(problem().message(), HasSubstr(name + ": is a symbolic link"));
    fs::remove(file);

    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);  // opening it would wait for a writer for ever
    EXPECT_THAT(problem().message(), HasSubstr(name + ": is a pipe, not a file"));
    fs::remove(file);

    fs::create_directory(file);
    EXPECT_THAT(problem().message(), HasSubstr(name + ": is a folder, not a file"));
    fs::remove(file);

    fs::rename(real, file);
  }
  EXPECT_EQ(problem().message(), "");
}

TEST_F(Damage, FilesOfAnotherStepAreFound) {
  auto other = save(scratch_.path(), Sample(2).contents());
  ASSERT_TRUE(other);
  // All four, so that every checksum is right, but the folder's name is another.
  fs::rename(*other, scratch_.path() / "step-00000003");
  folder_ = scratch_.path() / "step-00000003";
  EXPECT_THAT(problem().message(), HasSubstr("holds a checkpoint of step 2"));
  EXPECT_THAT(problem().hint, HasSubstr("step-00000002"));
  // Under a name that claims nothing it is fine.
  fs::rename(folder_, scratch_.path() / "backup");
  folder_ = scratch_.path() / "backup";
  EXPECT_EQ(problem().message(), "");
}

TEST_F(Damage, AHugeManifestIsNotRead) {
  fs::resize_file(folder_ / "MANIFEST.json", 1ULL << 40U);
  EXPECT_EQ(problem().kind, ErrorKind::corrupt);
  EXPECT_THAT(problem().message(), HasSubstr("more than the"));
}

}  // namespace
}  // namespace trainward::checkpoint
