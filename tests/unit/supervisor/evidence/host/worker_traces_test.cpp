// Which facts of the machine are evidence about a worker, and how heavy.
#include "supervisor/evidence/host/worker_traces.hpp"

#include "fake_host.hpp"
#include "supervisor/evidence/host/bus_id.hpp"

namespace trainward::host {
namespace {

class Traces : public FakeHost {
 protected:
  void SetUp() override {
    write_process({.pid = 10, .children = "11"});
    write_process({.pid = 11, .parent = 10});
    write_thread(10, 15, "loader", 'S');
    std::filesystem::create_directories(root() / "proc/self/ns");
    std::filesystem::create_symlink("pid:[4026531836]", root() / "proc/self/ns/pid");
    std::filesystem::create_directories(root() / "sys/bus/pci/devices");
    std::filesystem::create_symlink("../../../devices/pci0000:c0/0000:c0:01.1/0000:c1:00.0",
                                    root() / "sys/bus/pci/devices/0000:c1:00.0");
  }
  [[nodiscard]] WorkerTraces traces() const {
    WorkerTraces made(root(), "/slurm/job_7", with_ports_above(root(), "0000:c1:00.0"));
    made.look(10);
    return made;
  }
  // 0: it is of no concern.
  static int weight(WorkerTraces traces, const std::string& line) {
    const auto fact = judge_kernel_line(line);
    EXPECT_TRUE(fact) << line;
    const auto evidence = fact ? traces.weigh(*fact, {0, 1000}) : std::nullopt;
    return evidence ? evidence->weight : 0;
  }
};

TEST_F(Traces, TheDead) {
  auto known = traces();
  std::filesystem::remove_all(root() / "proc/11");
  EXPECT_EQ(weight(known, "Out of memory: Killed process 11 (python) total-vm:1kB"), 80);
  EXPECT_EQ(weight(known, "Out of memory: Killed process 99 (chrome) total-vm:1kB"), 30);
  EXPECT_EQ(weight(known, "Memory cgroup out of memory: Killed process 11 (python)"), 80);
  EXPECT_EQ(weight(known, "Memory cgroup out of memory: Killed process 99 (mysqld)"), 0);
}

TEST_F(Traces, ThreadsBelongToTheirProcess) {
  EXPECT_EQ(weight(traces(), "loader[15]: segfault at 0 ip 0 sp 0 error 4"), 45);
  EXPECT_EQ(weight(traces(), "loader[16]: segfault at 0 ip 0 sp 0 error 4"), 0);
  // One that began after the last look.
  write("proc/16/status", "Name:\tloader\nTgid:\t11\nPid:\t16\n");
  EXPECT_EQ(weight(traces(), "loader[16]: segfault at 0 ip 0 sp 0 error 4"), 45);
}

TEST_F(Traces, ItsCgroup) {
  const std::string head = "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/slurm,task_memcg=";
  EXPECT_EQ(weight(traces(), head + "/slurm/job_7/step_0,task=sh,pid=999,uid=0"), 80);
  EXPECT_EQ(weight(traces(), head + "/slurm/job_7,task=sh,pid=999,uid=0"), 80);
  EXPECT_EQ(weight(traces(), head + "/slurm/job_77,task=sh,pid=999,uid=0"), 0);
  EXPECT_EQ(weight(WorkerTraces(root(), "/", {}), head + "/slurm/x,task=sh,pid=999,uid=0"), 0);
}

TEST_F(Traces, ItsBoardAndThePortsAboveIt) {
  EXPECT_EQ(weight(traces(), "tenstorrent 0000:c1:00.0: Timeout waiting for ARC response"), 45);
  EXPECT_EQ(weight(traces(), "tenstorrent 0000:03:00.0: Timeout waiting for ARC response"), 0);
  EXPECT_EQ(weight(traces(), "pcieport 0000:c0:01.1: pciehp: Slot(4): Link Down"), 45);
  EXPECT_EQ(weight(traces(), "pcieport 0000:00:01.1: pciehp: Slot(1): Link Down"), 0);
  EXPECT_EQ(weight(traces(), "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, x"),
            30);
  // A worker without boards of ours may use any of them.
  EXPECT_EQ(
      weight(WorkerTraces(root(), "", {}), "tenstorrent 0000:03:00.0: Device is unresponsive"), 30);
}

TEST_F(Traces, TheMachineInGeneral) {
  EXPECT_EQ(weight(traces(), "I/O error, dev sda, sector 1"), 30);
  EXPECT_EQ(weight(traces(), "INFO: task python:10 blocked for more than 120 seconds."), 30);
  EXPECT_EQ(weight(traces(), "CPU3: Core temperature above threshold, cpu clock throttled"), 15);
}

TEST_F(Traces, NumbersOfAnotherPidNamespaceAreNotCompared) {
  std::filesystem::remove(root() / "proc/self/ns/pid");
  std::filesystem::create_symlink("pid:[4026532001]", root() / "proc/self/ns/pid");
  EXPECT_EQ(weight(traces(), "Out of memory: Killed process 11 (python) total-vm:1kB"), 30);
}

TEST_F(Traces, AStormIsCountedAndOursStillPasses) {
  auto known = traces();
  const auto storm = judge_kernel_line("Out of memory: Killed process 99 (chrome) total-vm:1kB");
  int passed = 0;
  for (int i = 0; i < 1000; ++i) passed += known.weigh(*storm, {0, 1000}) ? 1 : 0;
  EXPECT_EQ(passed, 3);
  const auto ours = judge_kernel_line("Out of memory: Killed process 11 (python) total-vm:1kB");
  EXPECT_TRUE(known.weigh(*ours, {0, 1000}));
  const auto later = known.weigh(*storm, {0, 1000 + 600'000});
  ASSERT_TRUE(later);
  EXPECT_EQ(later->source, "kernel log");
  EXPECT_NE(later->text.find("(997 more of this kind before)"), std::string::npos) << later->text;
}

TEST_F(Traces, ABoardThatIsNone) {
  EXPECT_TRUE(with_ports_above(root(), "").empty());
  EXPECT_TRUE(with_ports_above(root(), "../../etc").empty());
  EXPECT_EQ(with_ports_above(root(), "0000:09:00.0").size(), 1U);
}

}  // namespace
}  // namespace trainward::host
