// The courier's trackers as jobs.
#include "supervisor/courier/jobs/tracking/tracking_jobs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <thread>

#include "supervisor/courier/jobs/tracking/tracked_table.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {
namespace {

// A disk that hangs is played by a journal that another process holds: it comes after the files.
TEST(TrackingJobs, FilesThatHangDoNotHoldTheRunDatabase) {
  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  const auto database = folder / "trainward.db";
  auto store = store::Store::open(database);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->put_program({"trainer", "RUNNING", "", "d", "{}", 1, 100}));
  store::AttemptRow attempt;
  attempt.program = "trainer";
  attempt.number = 1;
  attempt.nonce = "n";
  attempt.intended_ms = 1'763'675'000'000;
  ASSERT_TRUE(store->put_attempt(attempt));
  store::StepRow row;
  row.step = 1;
  row.attempt = 1;
  row.loss = 2.0;
  ASSERT_TRUE(store->add_step("trainer", row));

  auto journal = Journal::open(folder / journal_name, tracking_tables());
  ASSERT_TRUE(journal);
  auto other = store::Connection::open(folder / journal_name, store::Connection::Mode::read_write);
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->run("begin immediate"));

  orders::TrackingOrder order;
  order.program = "trainer";
  order.tracking.tensorboard = (folder / "logs").string();
  const auto jobs = make_tracking_jobs(order, {});
  ASSERT_EQ(jobs.size(), 1U);
  auto read_only = store::Store::open_read_only(database);
  ASSERT_TRUE(read_only);
  std::jthread working([&] {
    const auto done = jobs[0]->work({*read_only, **journal, attempt.intended_ms, {}});
    EXPECT_TRUE(done) << (done ? "" : done.error().message());
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!std::filesystem::exists(folder / "logs" / "trainer") &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  row.step = 2;
  EXPECT_TRUE(store->add_step("trainer", row));
  auto checkpoint = store::Connection::open(database, store::Connection::Mode::read_write);
  ASSERT_TRUE(checkpoint);
  EXPECT_TRUE((*checkpoint)->run("pragma busy_timeout = 0"));
  std::int64_t busy = -1;
  EXPECT_TRUE((*checkpoint)->each("pragma wal_checkpoint(truncate)", [&](const store::Row& result) {
    busy = result.integer(0);
  }));
  EXPECT_EQ(busy, 0) << "a reader keeps the log of changes from being emptied";
  (*other)->roll_back();
}

}  // namespace
}  // namespace trainward::courier
