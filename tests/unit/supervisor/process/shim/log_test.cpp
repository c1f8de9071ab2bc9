// Output through the real shim: whole, in order, in files of bounded size.

#include <fcntl.h>
#include <sys/stat.h>

#include "shim_fixture.hpp"

namespace trainward {
namespace {

TEST_F(Shim, AFloodOf200MegabytesIsWholeAndInOrder) {
  constexpr int lines = 24'000'000;  // 205 MB
  spec_.log_max_bytes = 8 << 20;
  spec_.log_keep = 100;
  start_script("exec seq 1 " + std::to_string(lines));
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 0);

  const auto current = folder() / attempt_files::standard_output;
  int files = 1;
  while (std::filesystem::exists(rotated_log(current, files))) ++files;
  EXPECT_GT(files, 20);
  std::string expected;
  int number = 1;
  for (int file = files - 1; file >= 0; --file) {
    const std::string bytes =
        read_file(file == 0 ? current : rotated_log(current, file), 9 << 20).value();
    EXPECT_LT(bytes.size(), (8U << 20) + 10);
    ASSERT_TRUE(bytes.ends_with('\n')) << "a line is cut at the end of file " << file;
    expected.clear();
    while (expected.size() < bytes.size()) expected += std::to_string(number++) + "\n";
    ASSERT_TRUE(bytes == expected) << "lines are missing or out of order in file " << file;
  }
  EXPECT_EQ(number - 1, lines);
}

TEST_F(Shim, OffsetsHoldAcrossRotationsAndOnlyTheNewestFilesStay) {
  spec_.log_max_bytes = 1000;
  spec_.log_keep = 3;
  start_script("exec seq 1 2000");
  EXPECT_EQ(wait(), 0);
  std::string whole;
  for (int i = 1; i <= 2000; ++i) whole += std::to_string(i) + "\n";
  const auto file = folder() / attempt_files::standard_output;
  EXPECT_FALSE(std::filesystem::exists(rotated_log(file, 4)));
  const LogRange range = read_log(file, 0, 1 << 20).value();
  EXPECT_EQ(range.end, static_cast<std::int64_t>(whole.size()));
  EXPECT_GT(range.first, 0);
  EXPECT_EQ(range.bytes, whole.substr(static_cast<std::size_t>(range.first)));
  EXPECT_EQ(read_log(file, -10, 100)->bytes, "1999\n2000\n");
  EXPECT_EQ(read_log(file, range.end - 5, 3)->bytes, "200");
}

TEST_F(Shim, AStalledReaderDoesNotHoldTheWorkerUp) {
  spec_.log_max_bytes = 1 << 20;
  start_script("echo ready; read go < fifo; exec seq 1 2000000");
  ASSERT_EQ(::mkfifo((folder() / "fifo").c_str(), 0600), 0);
  until([this] { return log(attempt_files::standard_output) == "ready\n"; });
  // A reader that is as far as the first line, and stands still there.
  const pid_t reader = ::fork();
  if (reader == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDOUT_FILENO);
    ::execlp("tail", "tail", "-f", (folder() / attempt_files::standard_output).c_str(), nullptr);
    ::_exit(127);
  }
  ::kill(reader, SIGSTOP);
  ASSERT_TRUE(write_all(open_file(folder() / "fifo", O_WRONLY)->get(), "go\n", "fifo").has_value());
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 0);
  ::kill(reader, SIGKILL);
  ::waitpid(reader, nullptr, 0);
}

}  // namespace
}  // namespace trainward
