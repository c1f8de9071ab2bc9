// What lies in the place of a file, and is not one, is named and never waited for.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include "common/os/file.hpp"
#include "common/os/path_trust.hpp"
#include "common/wire/journal.hpp"
#include "common/wire/log_files.hpp"
#include "held_folder.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// Where a call waits for ever, the alarm ends the test program.
class Open : public ::testing::Test {
 protected:
  void SetUp() override { ::alarm(30); }
  void TearDown() override { ::alarm(0); }

  [[nodiscard]] fs::path path(const char* name) const { return folder_.path() / name; }
  fs::path pipe(const char* name) const {
    EXPECT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    return path(name);
  }
  static std::string what(const fs::path& path, int flags) {
    auto fd = open_regular(path, flags);
    return fd ? "" : fd.error().what;
  }

  TemporaryFolder folder_;
};

TEST_F(Open, NamesWhatIsNoFile) {
  const auto fifo = pipe("fifo");
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_CREAT | O_TRUNC,
                          O_RDWR | O_CREAT | O_APPEND, O_RDONLY | O_NOFOLLOW}) {
    EXPECT_EQ(what(fifo, flags), "is a pipe, not a file") << flags;
  }
  EXPECT_EQ(what(folder_.path(), O_RDONLY), "is a folder, not a file");
  EXPECT_EQ(what(folder_.path(), O_RDWR), "is a folder, not a file");
  EXPECT_EQ(what("/dev/null", O_RDWR), "is a device, not a file");
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto name = path("socket").string();
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(what(path("socket"), O_RDONLY), "is a socket, not a file");
}

TEST_F(Open, FollowsALinkToAFileUnlessToldNotTo) {
  ASSERT_TRUE(write_file_durably(path("file"), "text"));
  fs::create_symlink(path("file"), path("link"));
  EXPECT_EQ(what(path("link"), O_RDONLY), "");
  EXPECT_EQ(what(path("link"), O_RDONLY | O_NOFOLLOW),
            "is a symbolic link, which is never followed");
  fs::create_symlink(pipe("fifo"), path("other"));
  EXPECT_EQ(what(path("other"), O_RDONLY), "is a pipe, not a file");
}

TEST_F(Open, OpensWhatIsOneAndWhatTheKernelShows) {
  EXPECT_EQ(what(path("new"), O_RDWR | O_CREAT), "");
  EXPECT_THAT(what(path("none"), O_RDONLY), HasSubstr("No such file"));
  EXPECT_THAT(read_file("/proc/self/stat", 4096).value(), HasSubstr("("));
}

TEST_F(Open, JournalAndLogsAreReadAndWrittenOnlyAsFiles) {
  const auto fifo = pipe("journal.ndjson");
  EXPECT_EQ(read_journal(fifo, 0).error().what, "is a pipe, not a file");
  EXPECT_EQ(JournalWriter::open(held(fifo.parent_path()), fifo.filename().string()).error().what,
            "is a pipe, not a file");
  EXPECT_EQ(read_log(pipe("stdout.log"), 0, 10).error().what, "is a pipe, not a file");
  // Without its index a log begins at 0; a rotated log that is not a file ends the search.
  ASSERT_TRUE(write_file_durably(path("stderr.log"), "text"));
  pipe("stderr.log.index");
  pipe("stderr.log.1");
  EXPECT_EQ(read_log(path("stderr.log"), 0, 10).value().bytes, "text");
}

TEST_F(Open, OnlyAStreamIsWaitedFor) {
  const auto fifo = pipe("configuration");
  std::thread writer([&] {
    const Fd fd(::open(fifo.c_str(), O_WRONLY));
    (void)!::write(fd.get(), "programs: {}", 12);
  });
  EXPECT_EQ(read_stream(fifo, 100).value(), "programs: {}");
  writer.join();
  EXPECT_EQ(read_file(fifo, 100).error().what, "is a pipe, not a file");
  EXPECT_EQ(read_stream(folder_.path(), 100).error().what, "is a folder, not a file");
}

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

TEST_F(Open, FoldersAreForUserAndGroupWhateverTheUmask) {
  for (const mode_t mask : {0U, 022U, 027U}) {
    const Umask umask(mask);
    const auto folder = path("a") / std::to_string(mask) / "b/";
    ASSERT_TRUE(make_folders(folder));
    ASSERT_TRUE(make_folders(folder));  // again
    for (const auto& made : {folder.parent_path(), folder.parent_path().parent_path()}) {
      struct stat info {};
      ASSERT_EQ(::stat(made.c_str(), &info), 0);
      EXPECT_EQ(info.st_mode & 07777U, 0750U) << made;
    }
  }
  ASSERT_TRUE(write_file_durably(path("file"), ""));
  const auto refused = make_folders(path("file") / "x" / "y");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, path("file"));  // which is in the way
}

TEST_F(Open, WhatEverybodyMayWriteIsRefusedWithTheCommandThatMendsIt) {
  const auto folder = path("folder");
  ASSERT_TRUE(make_folders(folder));
  ASSERT_TRUE(write_file_durably(folder / "t.yaml", ""));
  const auto refusal = [&](const fs::path& of) {
    auto known = check_known_writers(of);
    return known ? "" : known.error().message();
  };
  EXPECT_EQ(refusal(folder / "t.yaml"), "");
  EXPECT_EQ(refusal(path("none")), "");
  EXPECT_EQ(refusal(pipe("fifo")), "");
  ::chmod((folder / "t.yaml").c_str(), 0666);
  EXPECT_THAT(refusal(folder / "t.yaml"), HasSubstr("`chmod o-w " + folder.string() + "/t.yaml`"));
  ::chmod((folder / "t.yaml").c_str(), 0664);  // a group is no stranger
  EXPECT_EQ(refusal(folder / "t.yaml"), "");
  ::chmod(folder.c_str(), 0777);
  EXPECT_THAT(refusal(folder), HasSubstr("every user"));
  EXPECT_THAT(refusal(folder / "t.yaml"), HasSubstr("`chmod +t " + folder.string()));
  fs::create_symlink(folder / "t.yaml", path("link"));
  EXPECT_THAT(refusal(path("link")), HasSubstr("`chmod +t " + folder.string()));
  ::chmod(folder.c_str(), 01777);  // as /tmp
  EXPECT_EQ(refusal(folder / "t.yaml"), "");
}

}  // namespace
}  // namespace trainward
