// Following the kernel's log: from a file, a pipe, and the real one where it may be read. Nothing
// is ever written to the real one.
#include "supervisor/evidence/host/kernel_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>

#include "fake_host.hpp"

namespace trainward::host {
namespace {

TEST(KernelRecordsTest, OneWithFurtherLines) {
  KernelRecords records;
  EXPECT_TRUE(records
                  .take("3,17,5000000,-;tenstorrent 0000:c1:00.0: gone; really\n"
                        " SUBSYSTEM=pci\n DEVICE=+pci:0000:c1:00.0\n")
                  .empty());
  const auto record = records.finish();
  ASSERT_TRUE(record);
  EXPECT_EQ(*record, (KernelRecord{3, 17, 5000000, "tenstorrent 0000:c1:00.0: gone; really",
                                   "0000:c1:00.0"}));
  EXPECT_FALSE(records.finish());
}

TEST(KernelRecordsTest, PiecesEndAnywhere) {
  const std::string text = "6,1,10,-;first\n A=b\n6,2,20,c,caller=T1;second\n6,3,30;third\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    KernelRecords records;
    auto all = records.take(text.substr(0, cut));
    for (auto& record : records.take(text.substr(cut))) all.push_back(std::move(record));
    ASSERT_EQ(all.size(), 2U) << cut;
    EXPECT_EQ(all[0].text, "first");
    EXPECT_EQ(all[1].text, "second");
    EXPECT_EQ(records.finish()->text, "third");
  }
}

TEST(KernelRecordsTest, RubbishAndEndlessLinesAreDropped) {
  KernelRecords records;
  EXPECT_TRUE(
      records.take("x\n;\n,,,;\n6,1;\n-6,1,2,-;t\n6,-1,2,-;t\n6,1,-2,-;t\n6,1,2\n \n\n").empty());
  EXPECT_TRUE(records.take("99999999999999999999,1,2,-;t\n").empty());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(records.take(std::string(8000, 'y')).empty());
  EXPECT_TRUE(records.take("\n6,1,2,-;good\n").empty());
  EXPECT_EQ(records.finish()->text, "good");
}

class KernelLogFile : public FakeHost {
 protected:
  static std::int64_t now_usec() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
  }
  static std::string line(int priority, std::int64_t usec, const std::string& text) {
    return fmt::format("{},1,{},-;{}\n", priority, usec, text);
  }
  void append(const std::string& text) const {
    std::ofstream(root() / "dev/kmsg", std::ios::app) << text;
  }
  static constexpr const char* oom = "Out of memory: Killed process 7 (python) total-vm:1kB";
};

TEST_F(KernelLogFile, OnlyWhatIsNew) {
  write("dev/kmsg", line(6, now_usec(), oom));
  auto log = KernelLog::open(root());
  ASSERT_TRUE(log) << log.error().message();
  EXPECT_TRUE(log->take().facts.empty());
  append(line(3, now_usec(), "EXT4-fs (sda1): Remounting filesystem read-only"));
  append(line(6, now_usec(), "nothing of interest"));
  const KernelNews news = log->take();
  ASSERT_EQ(news.facts.size(), 1U);
  EXPECT_EQ(news.facts[0].cause, core::Cause::disk);
  EXPECT_FALSE(news.more);
  EXPECT_TRUE(log->take().facts.empty());
}

TEST_F(KernelLogFile, WhatHappenedSinceTheWorkerBegan) {
  write("dev/kmsg", line(6, now_usec() - 60'000'000, oom) + line(6, now_usec() - 1'000'000, oom));
  auto log = KernelLog::open(root(), 30'000);
  ASSERT_TRUE(log);
  EXPECT_EQ(log->take().facts.size(), 1U);
  EXPECT_EQ(KernelLog::open(root(), INT64_MAX)->take().facts.size(), 2U);
  EXPECT_EQ(KernelLog::open(root(), -5)->take().facts.size(), 0U);
}

TEST_F(KernelLogFile, WhatProgramsWroteIsNotBelieved) {
  // Facility 1 (user): what /dev/kmsg makes of anything written to it.
  write("dev/kmsg", line(8 + 6, now_usec(), oom) + line(3 * 8 + 3, now_usec(), oom));
  EXPECT_TRUE(KernelLog::open(root(), 60'000)->take().facts.empty());
}

TEST_F(KernelLogFile, TheDriversDeviceCounts) {
  write("dev/kmsg",
        line(3, now_usec(), "device lost") + " SUBSYSTEM=pci\n DEVICE=+pci:0000:c1:00.0\n");
  const KernelNews news = KernelLog::open(root(), 60'000)->take();
  ASSERT_EQ(news.facts.size(), 1U);
  EXPECT_EQ(news.facts[0].bus_ids, std::vector<std::string>{"0000:c1:00.0"});
}

TEST_F(KernelLogFile, AStormIsReadInParts) {
  std::string storm;
  while (storm.size() < std::size_t{8192} * 400)
    storm += line(3, now_usec(), std::string(500, 'x'));
  write("dev/kmsg", storm);
  auto log = KernelLog::open(root(), 60'000);
  ASSERT_TRUE(log);
  EXPECT_TRUE(log->take().more);
  EXPECT_FALSE(log->take().more);
}

TEST_F(KernelLogFile, APipeIsNotWaitedFor) {
  std::filesystem::create_directories(root() / "dev");
  ASSERT_EQ(::mkfifo((root() / "dev/kmsg").c_str(), 0600), 0);
  auto log = KernelLog::open(root());
  ASSERT_TRUE(log);
  EXPECT_TRUE(log->take().facts.empty());
  const Fd writer(::open((root() / "dev/kmsg").c_str(), O_WRONLY | O_NONBLOCK));
  ASSERT_TRUE(writer);
  const std::string text = line(6, now_usec(), oom);
  ASSERT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  pollfd watched{log->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 0), 1);
  EXPECT_EQ(log->take().facts.size(), 1U);
}

TEST_F(KernelLogFile, AbsentWithAReason) {
  const auto log = KernelLog::open(root());
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message().find("CAP_SYSLOG"), std::string::npos);
}

TEST(RealKernelLog, CanBeFollowed) {
  auto log = KernelLog::open("/");
  if (!log) GTEST_SKIP() << log.error().message();
  EXPECT_FALSE(log->take().more);
  auto whole = KernelLog::open("/", INT64_MAX);
  ASSERT_TRUE(whole);
  int parts = 1;
  while (whole->take().more && parts < 10'000) ++parts;
  EXPECT_LT(parts, 10'000);
}

}  // namespace
}  // namespace trainward::host
