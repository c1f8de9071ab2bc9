#include "common/os/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "temporary_folder.hpp"

namespace trainward {
namespace {

TEST(File, DurableWriteReplacesAndLeavesNoTemporary) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "latest";
  ASSERT_TRUE(write_file_durably(file, "one").has_value());
  ASSERT_TRUE(write_file_durably(file, "two", 0600).has_value());
  EXPECT_EQ(read_file(file, 100).value(), "two");
  struct stat info {};
  ::stat(file.c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST(File, AFailedWriteKeepsTheOldFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "gone" / "latest";
  auto written = write_file_durably(file, "x");
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message().find(folder.path().string()), std::string::npos);
}

TEST(File, ReadRefusesWhatIsTooLongOrNoFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "big";
  ASSERT_TRUE(write_file_durably(file, std::string(101, 'x')).has_value());
  EXPECT_EQ(read_file(file, 100).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(read_file(folder.path(), 100).error().kind, ErrorKind::usage);
  EXPECT_EQ(read_file(folder.path() / "no", 100).error().kind, ErrorKind::permanent);
}

}  // namespace
}  // namespace trainward
