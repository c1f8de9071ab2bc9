// What a worker can still get: the least of the machine and every cgroup above it.
#include "common/os/processes/host_memory.hpp"
#include "fake_host.hpp"

namespace trainward::host {
namespace {

class AvailableMemoryTest : public FakeHost {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal: 900 kB\nMemAvailable:    800 kB\nSwapFree: 5000 kB\n");
    unified_.unified.top = root() / "v2";
    unified_.unified.folder = root() / "v2/a/b";
    version_1_.memory.top = root() / "v1";
    version_1_.memory.folder = root() / "v1/a";
  }
  [[nodiscard]] std::int64_t bytes(const Cgroups& cgroups) const {
    const auto memory = available_memory(root(), cgroups);
    return memory ? memory->bytes : -1;
  }
  Cgroups unified_;
  Cgroups version_1_;
};

TEST_F(AvailableMemoryTest, TheMachineWithoutItsSwap) {
  EXPECT_EQ(bytes({}), 800 * 1024);
  EXPECT_EQ(available_memory(root(), {})->bound, "the machine");
  EXPECT_EQ(bytes(unified_), 800 * 1024) << "a cgroup without files limits nothing";
}

TEST_F(AvailableMemoryTest, TheTightestAncestorBinds) {
  write("v2/a/b/memory.max", "max\n");
  write("v2/a/b/memory.current", "100\n");
  write("v2/a/memory.max", "100000\n");
  write("v2/a/memory.current", "30000\n");
  const auto memory = available_memory(root(), unified_);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->bytes, 70000);
  EXPECT_EQ(memory->bound, "cgroup /a");
  // Above memory.high it would stand still.
  write("v2/a/memory.high", "50000\n");
  EXPECT_EQ(bytes(unified_), 20000);
  write("v2/a/memory.stat",
        "anon 5\nactive_file 4000\ninactive_file 7000\nfile_dirty 900\n"
        "file_writeback 100\n");
  EXPECT_EQ(bytes(unified_), 30000) << "clean pages of files go by themselves";
  write("v2/memory.max", "10");
  write("v2/memory.current", "70000");
  EXPECT_EQ(bytes(unified_), 0) << "above its limit";
}

TEST_F(AvailableMemoryTest, VersionOne) {
  write("v1/a/memory.limit_in_bytes", "9223372036854771712\n");
  write("v1/a/memory.usage_in_bytes", "5\n");
  EXPECT_EQ(bytes(version_1_), 800 * 1024) << "this number means no limit";
  write("v1/a/memory.limit_in_bytes", "1000\n");
  write("v1/a/memory.stat",
        "active_file 1\ntotal_active_file 4\ntotal_inactive_file 2\n"
        "total_dirty 3\ntotal_writeback 0\n");
  EXPECT_EQ(bytes(version_1_), 998);
  write("v1/memory.limit_in_bytes", "10\n");
  write("v1/memory.usage_in_bytes", "5\n");
  EXPECT_EQ(bytes(version_1_), 5);
  write("v1/a/memory.use_hierarchy", "0\n");
  EXPECT_EQ(bytes(version_1_), 998) << "the parent's limit does not hold";
}

TEST_F(AvailableMemoryTest, RubbishLimitsNothing) {
  for (const char* text : {"", "-5", "nan", "\xff\xff\xff\xff", "18446744073709551615", "12 13"}) {
    write("v2/a/memory.max", text);
    write("v2/a/memory.current", text);
    EXPECT_EQ(bytes(unified_), 800 * 1024) << text;
  }
  write("proc/meminfo", "MemAvailable: 99999999999999999999 kB\n");
  EXPECT_EQ(bytes({}), INT64_MAX / 1024 * 1024);
  for (const char* text : {"", "MemAvailable:", "MemAvailable: lots kB", "MemFree: 5 kB"}) {
    write("proc/meminfo", text);
    EXPECT_EQ(bytes({}), -1) << text;
  }
}

TEST(RealMemory, ThisMachineHasSome) {
  const auto memory = available_memory("/", cgroups_of("/", ::getpid()));
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->bytes, 1 << 20);
  EXPECT_FALSE(memory->bound.empty());
}

}  // namespace
}  // namespace trainward::host
