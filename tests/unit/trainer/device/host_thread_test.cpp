#include "trainer/device/host_thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace trainward::trainer {
namespace {

TEST(HostThread, RunsJobsInTheirOrderOnOneOtherThread) {
  std::vector<int> order;
  std::vector<std::thread::id> where;
  {
    HostThread host;
    for (int i = 0; i < 100; ++i) {
      host.start([&, i] {
        order.push_back(i);
        where.push_back(std::this_thread::get_id());
      });
    }
    host.run([&] { order.push_back(100); });
    EXPECT_EQ(order.size(), 101U);
  }
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int>(i));
  EXPECT_EQ(std::adjacent_find(where.begin(), where.end(), std::not_equal_to<>()), where.end());
  EXPECT_NE(where.front(), std::this_thread::get_id());
}

TEST(HostThread, WorksBesideWhoeverStartedTheJob) {
  HostThread host;
  std::promise<void> go;
  bool done = false;
  host.start([&] {
    go.get_future().wait();
    done = true;
  });
  EXPECT_FALSE(done);  // it waits for us
  go.set_value();
  host.wait();
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace trainward::trainer
