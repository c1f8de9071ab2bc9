// Lines in the style of real kernels, and what they mean for a run.
#include "supervisor/evidence/host/kernel_fact.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <random>
#include <string>

#include "supervisor/evidence/host/bus_id.hpp"
#include "supervisor/evidence/host/kernel_record.hpp"

namespace trainward::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Line {
  const char* text;
  const char* cause;
  pid_t pid = 0;
  const char* bus_id = "";
  int own = 45;
  int other = 0;
};

const Line telling[] = {
    // memory of the host
    {"Out of memory: Killed process 81234 (python3) total-vm:98213420kB, anon-rss:64213312kB, "
     "file-rss:1024kB, shmem-rss:0kB, UID:1000 pgtables:126112kB oom_score_adj:0",
     "host_oom", 81234, "", 80, 30},
    {"Memory cgroup out of memory: Killed process 4711 (trainward-worke) total-vm:8213420kB, "
     "anon-rss:4213312kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:8400kB oom_score_adj:500",
     "host_oom", 4711, "", 80, 0},
    {"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
     "task_memcg=/user.slice/user-1000.slice,task=python3,pid=81234,uid=1000",
     "host_oom", 81234, "", 80, 30},
    {"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job,mems_allowed=0-1,"
     "oom_memcg=/slurm/job_7,task_memcg=/slurm/job_7/step_0,task=x,pid=1,y,pid=52,uid=0",
     "host_oom", 52, "", 80, 0},
    {"Out of memory: Kill process 812 (python) score 905 or sacrifice child", "host_oom", 812, "",
     80, 30},
    {"Out of memory (oom_kill_allocating_task): Killed process 9 (sh) total-vm:10kB", "host_oom", 9,
     "", 80, 30},
    // how a process fell
    {"python3[123]: segfault at 7f3a00000000 ip 00007f3b1c2a51f0 sp 00007ffd2e6c3a58 error 4 in "
     "libtorch_cpu.so[7f3b18000000+a000000] likely on CPU 3 (core 3, socket 0)",
     "crash", 123},
    {"pt_main_thread[77]: segfault at 0 ip 0000000000000000 sp 00007ffc5 error 14", "crash", 77},
    {"traps: x[12] general protection fault ip:55d0c2a4f1c9 sp:7ffee2b3a1d0 error:0 in x[55d0]",
     "crash", 12},
    {"traps: worker[5521] trap invalid opcode ip:401136 sp:7ffc0 error:0 in worker[401000+1000]",
     "crash", 5521},
    {"Memory failure: 0x84a3c2: Sending SIGBUS to python:3310 due to hardware memory corruption",
     "unknown", 3310, "", 80, 30},
    // standing still
    {"INFO: task python:123 blocked for more than 120 seconds.", "hang", 123, "", 30, 30},
    {"INFO: task kworker/u64:3:2042 blocked for more than 241 seconds.", "hang", 2042, "", 30, 30},
    {"watchdog: BUG: soft lockup - CPU#12 stuck for 26s! [python3:9012]", "hang", 9012, "", 30, 30},
    {"rcu: INFO: rcu_preempt self-detected stall on CPU", "hang", 0, "", 30, 30},
    // the host's own hardware
    {"mce: [Hardware Error]: CPU 4: Machine Check Exception: 5 Bank 7: be00000000800400", "unknown",
     0, "", 30, 30},
    {"{1}[Hardware Error]: event severity: fatal", "unknown", 0, "", 30, 30},
    {"EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)",
     "unknown", 0, "", 30, 30},
    // the bus
    {"pcieport 0000:c0:01.1: AER: Uncorrected (Fatal) error message received from 0000:c1:00.0",
     "device_lost", 0, "0000:c0:01.1"},
    {"tenstorrent 0000:c1:00.0: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction "
     "Layer, (Receiver ID)",
     "device_lost", 0, "0000:c1:00.0"},
    {"pcieport 0000:c0:01.1: pciehp: Slot(4): Link Down", "device_lost", 0, "0000:c0:01.1"},
    {"pcieport 0000:c0:01.1: AER: device recovery failed", "device_lost", 0, "0000:c0:01.1"},
    {"pcieport 0000:c0:01.1: DPC: containment event, status:0x1f01 source:0x0000", "device_lost", 0,
     "0000:c0:01.1"},
    // boards
    {"tenstorrent 0000:c1:00.0: Device is unresponsive, cannot reset.", "device_lost", 0,
     "0000:c1:00.0"},
    {"tenstorrent 0000:c1:00.0: Watchdog is disabled and device is unresponsive, cannot reset.",
     "device_lost", 0, "0000:c1:00.0"},
    {"tenstorrent 0000:03:00.0: Timeout waiting for ARC response", "device_lost", 0,
     "0000:03:00.0"},
    {"tenstorrent 0000:03:00.0: ARC queue WPTR read returned all-1s; device gone?", "device_lost",
     0, "0000:03:00.0"},
    {"tenstorrent 0000:03:00.0: pin_user_pages_longterm failed: -12", "host_oom", 0,
     "0000:03:00.0"},
    {"NVRM: Xid (PCI:0000:C1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
     "device_lost", 0, "0000:c1:00.0"},
    {"NVRM: Xid (PCI:0000:c1:00): 31, pid=4242, name=python, Ch 00000008, intr 10000000. MMU Fault",
     "unknown", 4242, "0000:c1:00.0"},
    {"NVRM: Xid (PCI:0000:c1:00): 109, pid=4242, name=python, Ch 00000018, errorString CTX SWITCH "
     "TIMEOUT",
     "hang", 4242, "0000:c1:00.0"},
    {"NVRM: GPU at PCI:0000:c1:00: GPU-1234 has fallen off the bus.", "device_lost", 0,
     "0000:c1:00.0"},
    {"amdgpu 0000:43:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=120, emitted seq=122",
     "hang", 0, "0000:43:00.0"},
    {"[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=9", "hang"},
    {"amdgpu 0000:43:00.0: amdgpu: GPU reset begin!", "device_lost", 0, "0000:43:00.0"},
    // disks and file systems
    {"blk_update_request: I/O error, dev sda, sector 39281664 op 0x1:(WRITE) flags 0x800", "disk",
     0, "", 30, 30},
    {"I/O error, dev nvme0n1, sector 1953522816 op 0x0:(READ) flags 0x80700 phys_seg 1", "disk", 0,
     "", 30, 30},
    {"Buffer I/O error on dev sdb1, logical block 60817, lost async page write", "disk", 0, "", 30,
     30},
    {"nvme nvme0: I/O 512 (I/O Cmd) QID 3 timeout, aborting", "disk", 0, "", 30, 30},
    {"nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff", "disk", 0,
     "", 30, 30},
    {"EXT4-fs error (device sda1): ext4_find_entry:1658: inode #2: comm python: reading directory",
     "disk", 0, "", 30, 30},
    {"EXT4-fs (sda1): Remounting filesystem read-only", "disk", 0, "", 30, 30},
    {"XFS (nvme0n1p1): Metadata corruption detected at xfs_agi_verify+0x11d/0x160", "disk", 0, "",
     30, 30},
    {"XFS (dm-0): log I/O error -5", "disk", 0, "", 30, 30},
    {"XFS (dm-0): Filesystem has been shut down due to log error (0x2).", "disk", 0, "", 30, 30},
    // the network
    {"nfs: server nas01 not responding, still trying", "network", 0, "", 30, 30},
    {"NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out", "network", 0, "", 30, 30},
    // heat
    {"CPU3: Core temperature above threshold, cpu clock throttled (total events = 12)", "unknown",
     0, "", 15, 15},
    {"thermal thermal_zone0: critical temperature reached, shutting down", "unknown", 0, "", 30,
     30},
};

TEST(KernelLines, ThatTell) {
  for (const Line& line : telling) {
    const auto fact = judge_kernel_line(line.text);
    ASSERT_TRUE(fact) << line.text;
    EXPECT_EQ(to_string(fact->cause), line.cause) << line.text;
    EXPECT_EQ(fact->pid, line.pid) << line.text;
    EXPECT_EQ(fact->bus_ids.empty() ? "" : fact->bus_ids[0], line.bus_id) << line.text;
    EXPECT_EQ(fact->own, line.own) << line.text;
    EXPECT_EQ(fact->other, line.other) << line.text;
    EXPECT_EQ(fact->text, std::string(line.text)) << line.text;
  }
}

TEST(KernelLines, ThatMeanNothing) {
  for (const char* line :
       {"",
        " ",
        "python",
        "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:00:1c.0",
        "pcieport 0000:00:1c.0: AER: Multiple Corrected error received: 0000:02:00.0",
        "tenstorrent 0000:c1:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
        "mce: [Hardware Error]: Machine check events logged",
        "{2}[Hardware Error]: event severity: corrected",
        "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#0_DIMM#1",
        "EXT4-fs (vda): mounted filesystem 0000-00 r/w without journal. Quota mode: none.",
        "XFS (nvme0n1p1): Ending clean mount",
        "nfs: server nas01 OK",
        "CPU3: Core temperature/speed normal",
        "tenstorrent 0000:c1:00.0: Found a Tenstorrent "
        "Wormhole device",
        "tenstorrent: Loading Tenstorrent AI driver module v2.7.0",
        "NVRM: Xid (PCI:0000:c1:00): 63, pid=1, Row Remapper: New row marked for remapping",
        "NVRM: Xid (PCI:",
        "NVRM: Xid (PCI:0000:c1:00): ",
        "oom_reaper: reaped process 123 (python), "
        "now anon-rss:0kB",
        "amdgpu 0000:43:00.0: amdgpu: GPU reset(2) succeeded!",
        "amdgpu 0000:43:00.0: amdgpu: ring gfx_0.0.0 timeout, but soft recovered",
        "blk_update_request: I/O error, dev sr0, sector 0 op 0x0:(READ)",
        "I/O error, dev fd0, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1",
        "python (123): drop_caches: 3",
        "eth0: NIC Link is Up 10 Gbps",
        "device eth0 entered "
        "promiscuous mode",
        "perf: interrupt took too long (2503 > 2500)"}) {
    EXPECT_FALSE(judge_kernel_line(line)) << line;
  }
}

// The boot of healthy hosts, word for word as the crash rules are held to.
TEST(KernelLines, OfAHealthyHostMeanNothing) {
  std::ifstream lines(SOURCE_FOLDER "/tests/unit/supervisor/evidence/rules/innocent/kernel.txt");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto fact = judge_kernel_line(line);
    EXPECT_FALSE(fact) << line << ": " << to_string(fact->cause);
  }
  EXPECT_GE(count, 300);
}

TEST(KernelLines, TheCgroupOfTheKilled) {
  EXPECT_EQ(judge_kernel_line("oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/a/b,"
                              "task=x,task=y,pid=7,uid=0")
                ->cgroup,
            "/a/b,task=x");
}

// A process chooses its own name, and may try to pass for another.
TEST(KernelLines, NamesCannotForgeNumbers) {
  EXPECT_EQ(judge_kernel_line("Out of memory: Killed process 5 (Killed process ) total")->pid, 5);
  EXPECT_EQ(judge_kernel_line("a[1]: segfault[7]: segfault at 0 ip 0")->pid, 7);
  EXPECT_EQ(judge_kernel_line("INFO: task a:1 blocked:9 blocked for more than 120 seconds")->pid,
            9);
  EXPECT_EQ(judge_kernel_line("x[99999999999999999999]: segfault at 0")->pid, 0);
  EXPECT_EQ(judge_kernel_line("]: segfault at 0")->pid, 0);
  EXPECT_EQ(judge_kernel_line("Out of memory: Killed process -5 (x)")->pid, 0);
}

TEST(KernelLines, TextIsPrintableAndShort) {
  const auto fact = judge_kernel_line("I/O error, dev \x1b[31m\xff" + std::string(100'000, 'x'));
  ASSERT_TRUE(fact);
  EXPECT_EQ(fact->text.substr(0, 24), "I/O error, dev ?[31m?xxx");
  EXPECT_EQ(fact->text.size(), 400U);
}

TEST(BusIds, AreFoundAndMadeAlike) {
  EXPECT_THAT(bus_ids_in("0000:C1:00 and 10000:e1:00.3, 0000:c1:00.0"),
              ElementsAre("0000:c1:00.0", "10000:e1:00.3"));
  for (const char* text : {"", "c1:00.0", "000:c1:00.0", "0000:c1:0", "00:11:22:33:44:55",
                           "0000:c1", "0000:g1:00.0", "000000000:c1:00.0", "ffffffffffffffff"}) {
    EXPECT_THAT(bus_ids_in(text), IsEmpty()) << text;
  }
  EXPECT_EQ(bus_ids_in("0000:00:00.0 0000:00:01.0 0000:00:02.0", 2).size(), 2U);
}

// Ten thousand lines of rubbish, half of them made of pieces of real ones.
TEST(KernelLines, RandomBytesNeverHurt) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::cout << "seed " << seed << '\n';
  std::mt19937 random(seed);
  const auto below = [&](std::size_t end) { return random() % end; };
  KernelRecords records;
  for (int i = 0; i < 10'000; ++i) {
    std::string line;
    if (i % 2 == 0) {
      for (std::size_t n = below(300); n > 0; --n) line += static_cast<char>(random());
    } else {
      while (line.size() < 200) {
        const std::string_view whole = telling[below(std::size(telling))].text;
        const std::size_t begin = below(whole.size());
        line += whole.substr(begin, below(40));
      }
    }
    const auto fact = judge_kernel_line(line);
    if (fact) {
      EXPECT_LE(fact->text.size(), 400U);
      EXPECT_GE(fact->pid, 0);
      EXPECT_LE(fact->bus_ids.size(), 4U);
    }
    bus_ids_in(line);
    for (const KernelRecord& record : records.take("6,1,2,-;" + line)) {
      EXPECT_LE(record.text.size(), 8192U);
    }
  }
}

}  // namespace
}  // namespace trainward::host
