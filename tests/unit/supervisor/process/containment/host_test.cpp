// Which cgroups a host has, told from what its kernel says.

#include <gtest/gtest.h>

#include "supervisor/process/containment/containment_host.hpp"
#include "supervisor/process/containment/leftovers.hpp"

namespace trainward::containment {
namespace {

constexpr const char* hybrid_mounts =
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "38 31 0:35 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime shared:3 - cgroup cgroup "
    "rw,xattr,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr const char* hybrid_groups =
    "9:name=systemd:/user.slice\n6:freezer:/\n4:memory:/a/b\n0::/user.slice/s.scope\n";

TEST(CgroupHost, Version2Alone) {
  const auto host =
      parse_host("30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
                 "0::/system.slice/trainward.service\n");
  EXPECT_EQ(host.unified, "/sys/fs/cgroup/system.slice/trainward.service");
  EXPECT_TRUE(host.memory.empty() && host.freezer.empty() && host.systemd.empty());
}

TEST(CgroupHost, TheSupervisorsOwnLeafIsNotWhereWorkersGo) {
  const auto host = parse_host("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                               "0::/t.service/trainward.supervisor\n");
  EXPECT_EQ(host.unified, "/sys/fs/cgroup/t.service");
}

TEST(CgroupHost, HybridAndVersion1) {
  const auto host = parse_host(hybrid_mounts, hybrid_groups);
  EXPECT_EQ(host.unified, "/sys/fs/cgroup/unified/user.slice/s.scope");
  EXPECT_EQ(host.memory, "/sys/fs/cgroup/memory/a/b");
  EXPECT_EQ(host.freezer, "/sys/fs/cgroup/freezer");
  EXPECT_EQ(host.systemd, "/sys/fs/cgroup/systemd/user.slice");
  const auto old = restrict_to(host, "cgroup1");
  EXPECT_TRUE(old.unified.empty());
  EXPECT_EQ(old.freezer, host.freezer);
  EXPECT_TRUE(restrict_to(host, "cgroup2").memory.empty());
  EXPECT_EQ(restrict_to(host, "none"), CgroupHost{});
  EXPECT_EQ(restrict_to(host, "auto"), host);
}

TEST(CgroupHost, ContainersAndNamespaces) {
  // Version 1 in a container: the mount shows a part of the tree only.
  const auto inside =
      parse_host("5 1 0:1 /docker/12 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
                 "4:memory:/docker/12\n");
  EXPECT_EQ(inside.memory, "/sys/fs/cgroup/memory");
  // A group outside the namespace cannot be reached, and a mount of another part does not count.
  EXPECT_TRUE(
      parse_host("5 1 0:1 / /cg rw - cgroup2 cgroup2 rw\n", "0::/../other\n").unified.empty());
  EXPECT_TRUE(
      parse_host("5 1 0:1 /x /cg rw - cgroup cgroup rw,memory\n", "4:memory:/y\n").memory.empty());
}

TEST(CgroupHost, NoneAndGarbage) {
  EXPECT_EQ(parse_host("", ""), CgroupHost{});
  EXPECT_EQ(parse_host("\n - \n1 2 3\n - cgroup2 cgroup2 rw", ":::\n0::\n"), CgroupHost{});
  EXPECT_EQ(parse_host("5 1 0:1 / /a\\040b rw - cgroup2 cgroup2 rw\n", "0::/\n").unified, "/a b");
}

TEST(CgroupPrefix, NamesTheStateFolderAndTheProgram) {
  EXPECT_EQ(cgroup_prefix("/var/lib/trainward", "n300"),
            cgroup_prefix("/var/lib/trainward", "n300"));
  EXPECT_NE(cgroup_prefix("/a", "n"), cgroup_prefix("/b", "n"));
  EXPECT_EQ(cgroup_prefix("/a", "x/y").find('/'), std::string::npos);
  EXPECT_TRUE(cgroup_prefix("/a", "n").ends_with(".n."));
}

}  // namespace
}  // namespace trainward::containment
