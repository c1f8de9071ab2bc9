// Disks that are full or do not answer: the worker trains on, and nothing is lost silently.

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include <cstring>

#include "common/wire/notifier.hpp"
#include "shim_fixture.hpp"

namespace trainward {
namespace {

class Disk : public Shim {
 protected:
  void TearDown() override {
    if (mounted_) ::umount2(mount_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] std::filesystem::path folder() const override { return mount_; }
  bool make_mount_point() {
    mount_ = folder_.path() / "disk";
    return std::filesystem::create_directory(mount_);
  }
  std::filesystem::path mount_;
  bool mounted_ = false;
};

class FullDisk : public Disk {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_mount_point());
    mounted_ = ::mount("test", mount_.c_str(), "tmpfs", 0, "size=1m") == 0;
    if (!mounted_) GTEST_SKIP() << "cannot mount a small tmpfs: " << std::strerror(errno);
  }
  void fill() {
    const Fd file = open_file(mount_ / "filler", O_WRONLY | O_CREAT).value();
    const std::string block(4096, 'f');
    while (write_all(file.get(), block, "filler")) {
    }
  }
};

TEST_F(FullDisk, DropsWholeLinesSaysSoAndTrainsOn) {
  // One line of output needs what the filler has taken; the worker waits between for the test.
  ASSERT_EQ(::mkfifo((mount_ / "go").c_str(), 0600), 0);
  start_script(
      "exec 3<>go; echo before; read x <&3; seq 1 40000; read x <&3; n=0;"
      "until grep -q after stdout.log; do echo after; n=$((n+1)); done; echo $n > n; exit 9");
  const auto file = mount_ / attempt_files::standard_output;
  until([&] { return log(attempt_files::standard_output) == "before\n"; });
  fill();
  const Fd go = open_file(mount_ / "go", O_RDWR).value();
  ASSERT_TRUE(write_all(go.get(), "1\n", "go").has_value());
  await("dropped");
  std::filesystem::remove(mount_ / "filler");
  ASSERT_TRUE(write_all(go.get(), "2\n", "go").has_value());
  EXPECT_EQ(wait(), 0);

  EXPECT_EQ(records().back().fields.at("code").as_int64(), 9);
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  for (const JournalRecord& record : records()) {
    if (record.type != "dropped") continue;
    bytes += record.fields.at("log_bytes").as_int64();
    lines += record.fields.at("log_lines").as_int64();
  }
  // Every line is there whole, or counted; and the log says where it is not.
  std::string whole = "before\n";
  for (int i = 1; i <= 40000; ++i) whole += std::to_string(i) + "\n";
  const std::string text = log(attempt_files::standard_output);
  std::string kept;
  int notices = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    if (line.starts_with("trainward: ")) {
      ++notices;
      EXPECT_NE(line.find("No space left on device"), std::string::npos);
    } else {
      EXPECT_TRUE(whole.find("\n" + line) != std::string::npos || line == "before\n" ||
                  line == "after\n")
          << line;
      kept += line;
    }
  }
  const int after = std::stoi(read_file(mount_ / "n", 100).value());
  for (int i = 0; i < after; ++i) whole += "after\n";
  EXPECT_GE(notices, 1);
  EXPECT_TRUE(text.ends_with("after\n"));
  EXPECT_GT(lines, 0);
  EXPECT_EQ(kept.size() + static_cast<std::size_t>(bytes), whole.size());
}

TEST_F(FullDisk, TheExitStatusIsNotLost) {
  ASSERT_EQ(::mkfifo((mount_ / "go").c_str(), 0600), 0);
  start_script("exec 3<>go; read x <&3; exit 9");
  await("started");
  fill();
  // More heartbeats than were set aside for: the newest of each kind waits in memory.
  ::setenv(env::socket, (mount_ / "worker.sock").c_str(), 1);
  const Notifier worker = Notifier::from_environment();
  ::unsetenv(env::socket);
  ASSERT_TRUE(worker.connected());
  worker.send({{"PHASE", "train"}, {"STATUS", std::string(2000, 's')}});
  for (int step = 1; step <= 2000; ++step) {
    worker.send({{"STEP", std::to_string(step)}, {"STATUS", std::string(100, 's')}});
    if (step % 5 == 0) ::poll(nullptr, 0, 1);
  }
  const Fd go = open_file(mount_ / "go", O_RDWR).value();
  ASSERT_TRUE(write_all(go.get(), "1\n", "go").has_value());
  for (int look = 0; look < 100 && records().back().type != "exited"; ++look) ::poll(nullptr, 0, 2);
  std::filesystem::remove(mount_ / "filler");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().type, "exited");
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 9);
}

class FrozenDisk : public Disk {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_mount_point());
    const std::string image = (folder_.path() / "image").string();
    const std::string make = "truncate -s 64M " + image + " && mkfs.ext4 -q " + image +
                             " 2>/dev/null && mount -o loop " + image + " " + mount_.string() +
                             " 2>/dev/null";
    mounted_ = ::geteuid() == 0 && std::system(make.c_str()) == 0;
    if (!mounted_) GTEST_SKIP() << "cannot mount a small ext4: needs root, loop and mkfs.ext4";
    disk_ = open_file(mount_, O_RDONLY | O_DIRECTORY).value();
  }
  void TearDown() override {
    if (disk_) ::ioctl(disk_.get(), FITHAW, 0);
    disk_.reset();
    Disk::TearDown();
  }
  Fd disk_;
};

TEST_F(FrozenDisk, TheWorkerIsNotHeldUp) {
  const auto outside = folder_.path() / "finished";
  ASSERT_EQ(::mkfifo((folder_.path() / "go").c_str(), 0600), 0);
  start_script("echo before; read x < " + (folder_.path() / "go").string() +
               "; seq 1 2000000; echo yes > " + outside.string() + "; exit 4");
  until([this] { return log(attempt_files::standard_output) == "before\n"; });
  ASSERT_EQ(::ioctl(disk_.get(), FIFREEZE, 0), 0) << std::strerror(errno);
  ASSERT_TRUE(
      write_all(open_file(folder_.path() / "go", O_WRONLY)->get(), "1\n", "go").has_value());
  // 14 MB of output, 3 MB of memory, no disk: and the worker comes to its end.
  until([&] { return std::filesystem::exists(outside); });
  ASSERT_EQ(::ioctl(disk_.get(), FITHAW, 0), 0);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 4);
  EXPECT_NE(log(attempt_files::standard_output).find("dropped here: the disk stalled\n"),
            std::string::npos);
}

}  // namespace
}  // namespace trainward
