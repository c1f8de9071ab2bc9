// What a worker's processes have used: fake trees with every kind of rubbish, and real children.
#include "supervisor/evidence/host/process_usage.hpp"

#include <sys/mman.h>

#include <chrono>

#include "common/os/processes/process_files.hpp"
#include "fake_host.hpp"

namespace trainward::host {
namespace {

class UsageOfFakes : public FakeHost {
 protected:
  void SetUp() override {
    write_process({.pid = 10, .ticks = "100 50 0 0", .children = "11 12 "});
    write_process({.pid = 11, .parent = 10, .name = "a) b (", .ticks = "10 0 200 40"});
    write_process({.pid = 12, .parent = 10, .ticks = "0 0 0 0", .children = "13"});
    write_process({.pid = 13, .parent = 12, .ticks = "1 1 0 0"});
    write("proc/10/status",
          "Name:\tpython\nRssAnon:\t 1000 kB\nRssShmem:\t 24 kB\nVmSwap:\t 0 kB\n");
    write("proc/13/status", "VmRSS:\t 512 kB\nVmSwap:\t 512 kB\n");
  }
  // The clock's ticks on every Linux there is.
  static constexpr std::int64_t tick_ms = 10;
};

TEST_F(UsageOfFakes, TheWholeTreeCounts) {
  EXPECT_EQ(usage_of_tree(root(), 10), (Usage{(150 + 250 + 2) * tick_ms, (1024 + 1024) * 1024, 4}));
  EXPECT_EQ(usage_of_tree(root(), 12)->processes, 2);
}

TEST_F(UsageOfFakes, AProcessThatVanishesIsLeftOut) {
  std::filesystem::remove_all(root() / "proc/11");
  EXPECT_EQ(usage_of_tree(root(), 10)->processes, 3);
  EXPECT_FALSE(usage_of_tree(root(), 77));
}

TEST_F(UsageOfFakes, WithoutListsOfChildrenTheParentsAreAsked) {
  for (const char* pid : {"10", "11", "12", "13"}) {
    std::filesystem::remove(root() / "proc" / pid / "task" / pid / "children");
  }
  write_process({.pid = 14, .parent = 1});
  std::filesystem::remove(root() / "proc/14/task/14/children");
  EXPECT_EQ(usage_of_tree(root(), 10)->processes, 4);
}

TEST_F(UsageOfFakes, ATreeInACircleEnds) {
  write("proc/13/task/13/children", "10 11 12 13 0 -1 99999999999999 x");
  EXPECT_EQ(usage_of_tree(root(), 10)->processes, 4);
}

TEST_F(UsageOfFakes, HugeNumbersStayHuge) {
  const std::string huge = "18446744073709551615";
  write_process({.pid = 11, .ticks = huge + " " + huge + " " + huge + " " + huge});
  write("proc/11/status", "RssAnon: " + huge + " kB\n");
  const auto usage = usage_of_tree(root(), 10);
  ASSERT_TRUE(usage);
  EXPECT_GT(usage->cpu_ms, INT64_MAX / 100);
  EXPECT_EQ(usage->memory_bytes, INT64_MAX);
}

TEST(ParseStat, RubbishIsNothing) {
  for (const char* text : {"", "1", "1 (", "1 (a", "1 )a( S 1", "1 (a) S", "1 (a) SS 1 1 1 1",
                           "\xff\xff\xff\xff", "1 (a) S 1 1 1 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0",
                           "1 (a) S -1 1 1 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 7"}) {
    EXPECT_FALSE(parse_stat(text)) << text;
  }
  const auto stat = parse_stat("1 (x y) (z) D 4 1 1 0 -1 0 0 0 0 0 1 2 -3 4 20 0 1 0 7 8 9");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "x y) (z");
  EXPECT_EQ(stat->state, 'D');
  EXPECT_EQ(stat->parent, 4);
  EXPECT_EQ(stat->own_ticks, 3);
  EXPECT_EQ(stat->children_ticks, 4);
  EXPECT_EQ(stat->start_ticks, 7);
}

TEST_F(UsageOfFakes, TheMeterNeverRunsBackwards) {
  UsageMeter meter(root(), 10);
  EXPECT_EQ(meter.read()->cpu_ms, 402 * tick_ms);
  // A helper ends and its parent ignores it.
  write("proc/10/task/10/children", "12");
  EXPECT_EQ(meter.read()->cpu_ms, 402 * tick_ms);
  // What the others do from here on shows.
  write_process({.pid = 10, .ticks = "130 50 0 0", .children = "12"});
  EXPECT_EQ(meter.read()->cpu_ms, 432 * tick_ms);
}

TEST_F(UsageOfFakes, AReusedNumberIsAnotherProcess) {
  UsageMeter meter(root(), 10);
  ASSERT_TRUE(meter.read());
  write_process({.pid = 10, .start = 101});
  EXPECT_FALSE(meter.read());
  EXPECT_FALSE(UsageMeter(root(), 4711).read());
}

TEST_F(UsageOfFakes, ACgroupOfVersion2) {
  Cgroups own;
  own.unified.folder = own.unified.top = root() / "cg";
  EXPECT_FALSE(usage_of_cgroup(root(), own));
  write("cg/cpu.stat", "usage_usec 7654321\nuser_usec 1\n");
  write("cg/cgroup.procs", "10\n11\nx\n");
  // Without the memory controller the processes are asked.
  EXPECT_EQ(usage_of_cgroup(root(), own), (Usage{7654, 1024 * 1024, 2}));
  write("cg/memory.current", "99999999\n");
  write("cg/memory.stat", "anon 1000\nfile 50000000\nshmem 200\nslab_unreclaimable 30\n");
  write("cg/memory.swap.current", "4\n");
  EXPECT_EQ(UsageMeter(root(), 10, own).read(), (Usage{7654, 1234, 2}));
}

TEST_F(UsageOfFakes, ACgroupOfVersion1) {
  Cgroups own;
  own.cpu_time.folder = own.memory.folder = root() / "cg";
  write("cg/cpuacct.usage", "5000000000\n");
  write("cg/cgroup.procs", "10\n");
  write("cg/memory.stat", "cache 900\nrss 1\ntotal_rss 1000\ntotal_shmem 200\ntotal_swap 34\n");
  EXPECT_EQ(usage_of_cgroup(root(), own), (Usage{5000, 1234, 1}));
}

TEST_F(UsageOfFakes, ACgroupThatIsGoneIsReplacedByTheTree) {
  Cgroups own;
  own.unified.folder = root() / "gone";
  EXPECT_EQ(UsageMeter(root(), 10, own).read()->processes, 4);
}

TEST(UsageOfRealProcesses, SpinningCostsTime) {
  const Child child([] {
    for (volatile bool spin = true; spin;) {
    }
  });
  UsageMeter meter("/", child.pid());
  const auto first = meter.read();
  ASSERT_TRUE(first);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::int64_t grown = 0;
  while (grown < 50 && std::chrono::steady_clock::now() < deadline) {
    const auto usage = meter.read();
    ASSERT_TRUE(usage);
    grown = usage->cpu_ms - first->cpu_ms;
  }
  EXPECT_GE(grown, 50);
}

TEST(UsageOfRealProcesses, TouchedMemoryCountsAndMappedFilesDoNot) {
  constexpr std::size_t bytes = 64 << 20;
  const Child small([] {});
  const Child large([] {
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (std::size_t i = 0; memory != MAP_FAILED && i < bytes; i += 4096) {
      static_cast<volatile char*>(memory)[i] = 1;
    }
  });
  ASSERT_TRUE(small.wait_ready() && large.wait_ready());
  const auto with = usage_of_tree("/", large.pid());
  const auto without = usage_of_tree("/", small.pid());
  ASSERT_TRUE(with && without);
  EXPECT_GE(with->memory_bytes - without->memory_bytes, static_cast<std::int64_t>(bytes * 9 / 10));
}

TEST(UsageOfRealProcesses, GrandchildrenAreFoundAndTheEndIsSeen) {
  Child child([] {
    const pid_t parent = ::getpid();
    if (::fork() == 0) {
      end_with(parent);
      ::pause();
      ::_exit(0);
    }
  });
  ASSERT_TRUE(child.wait_ready());
  UsageMeter meter("/", child.pid());
  EXPECT_EQ(meter.read()->processes, 2);
  child.end();
  EXPECT_FALSE(meter.read());
}

}  // namespace
}  // namespace trainward::host
