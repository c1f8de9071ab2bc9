// Where a process's cgroups are, and how often something was killed in them.
#include "common/os/processes/cgroup.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/os/fd.hpp"
#include "fake_host.hpp"
#include "supervisor/evidence/host/priority_poll.hpp"

namespace trainward::host {
namespace {

using CgroupPaths = FakeHost;

TEST_F(CgroupPaths, BothVersionsSideBySide) {
  write("proc/self/mountinfo",
        "23 1 0:20 / /proc rw - proc proc rw\n"
        "38 31 0:35 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup "
        "rw,cpu,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("proc/7/cgroup", "9:name=systemd:/x\n4:memory:/a/b\n2:cpu,cpuacct:/\n0::/u:v\n");
  write("sys/fs/cgroup/memory/a/b/memory.stat", "");
  write("sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", "1");
  write("sys/fs/cgroup/unified/u:v/cpu.stat", "");
  const Cgroups found = cgroups_of(root(), 7);
  EXPECT_EQ(found.unified.folder, root() / "sys/fs/cgroup/unified/u:v");
  EXPECT_EQ(found.unified.name, "/u:v");
  EXPECT_EQ(found.memory.folder, root() / "sys/fs/cgroup/memory/a/b");
  EXPECT_EQ(found.cpu_time.folder, root() / "sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(chain_of(found.memory).size(), 3U);
  EXPECT_EQ(chain_of(found.cpu_time).size(), 1U);
  EXPECT_TRUE(chain_of(Cgroup{}).empty());
}

TEST_F(CgroupPaths, AContainerSeesItsPartOfTheTree) {
  write("proc/self/mountinfo", "41 31 0:38 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write("proc/7/cgroup", "0::/docker/ab/job\n");
  write("sys/fs/cgroup/job/cpu.stat", "");
  EXPECT_EQ(cgroups_of(root(), 7).unified.folder, root() / "sys/fs/cgroup/job");
  write("proc/7/cgroup", "0::/../../elsewhere\n");
  EXPECT_TRUE(cgroups_of(root(), 7).unified.folder.empty());
  // Beside that part, although a folder of this name is there.
  write("proc/7/cgroup", "0::/job\n");
  EXPECT_TRUE(cgroups_of(root(), 7).unified.folder.empty());
  write("proc/7/cgroup", "0::/docker/abjob\n");
  EXPECT_TRUE(cgroups_of(root(), 7).unified.folder.empty());
}

TEST_F(CgroupPaths, MayHoldSpaces) {
  write("proc/self/mountinfo", "41 31 0:38 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n");
  write("proc/7/cgroup", "0::/a b\n");
  write("sys/my groups/a b/cpu.stat", "");
  EXPECT_EQ(cgroups_of(root(), 7).unified.folder, root() / "sys/my groups/a b");
}

TEST_F(CgroupPaths, RubbishIsNoCgroup) {
  EXPECT_TRUE(cgroups_of(root(), 7).unified.folder.empty());
  write("proc/7/cgroup", "0\n0:\n::\n0::\n0::relative\n\xff\xff:\xff:/\n");
  write("proc/self/mountinfo", "- - - - -\n1 2 3 / x - cgroup2\n - cgroup2\n\xff\xff\n");
  const Cgroups found = cgroups_of(root(), 7);
  EXPECT_TRUE(found.unified.folder.empty() && found.memory.folder.empty());
}

TEST(RealCgroups, ThisProcessIsInOne) {
  if (!std::filesystem::exists("/sys/fs/cgroup")) GTEST_SKIP() << "no cgroups are mounted here";
  const Cgroups found = cgroups_of("/", ::getpid());
  if (found.unified.folder.empty() && found.memory.folder.empty()) {
    GTEST_SKIP() << "the cgroup of this process cannot be seen from here";
  }
  EXPECT_GE(chain_of(found.unified).size() + chain_of(found.memory).size(), 1U);
}

bool readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

// Urgent data of a TCP connection is announced as POLLPRI, as the kernel's files announce changes.
TEST(PriorityPoll, IsReadableOnlyAfterAnAnnouncement) {
  const Fd server(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(server.get(), any, size) != 0 || ::listen(server.get(), 1) != 0 ||
      ::getsockname(server.get(), any, &size) != 0) {
    GTEST_SKIP() << "no network, not even to itself";
  }
  const Fd client(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(client.get(), any, size), 0);
  const Fd accepted(::accept(server.get(), nullptr, nullptr));
  const auto poll = PriorityPoll::of(accepted.get());
  ASSERT_TRUE(poll);
  ASSERT_EQ(::send(client.get(), "x", 1, 0), 1);
  pollfd ordinary{accepted.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&ordinary, 1, 20'000), 1);
  EXPECT_FALSE(readable(poll->fd())) << "readable at any time, like the kernel's files";
  ASSERT_EQ(::send(client.get(), "!", 1, MSG_OOB), 1);
  pollfd urgent{poll->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&urgent, 1, 20'000), 1);
  poll->settle();
}

}  // namespace
}  // namespace trainward::host
