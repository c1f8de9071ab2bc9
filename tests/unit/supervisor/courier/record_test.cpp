#include "supervisor/record/outbox/record.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "supervisor/courier/base/courier_journal.hpp"
#include "supervisor/courier/base/courier_table.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/courier/jobs/uploads/upload_rows.hpp"
#include "supervisor/record/uploads/uploads.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {
namespace {

TEST(Record, NoFileIsNothing) {
  const TemporaryFolder folder;
  const auto document = recorded(folder.path());
  ASSERT_TRUE(document.has_value()) << document.error().message();
  for (const char* table : {"jobs", "channels", "deliveries", "uploads", "tracked"}) {
    EXPECT_TRUE(document->at(table).as_array().empty()) << table;
  }
}

TEST(Record, HasTheRowsAsTheyAre) {
  const TemporaryFolder folder;
  auto journal = Journal::open(folder.path() / journal_name, courier_tables());
  ASSERT_TRUE(journal.has_value());
  ASSERT_TRUE(put_job(**journal, {"channel night", true, 1000, "no connection", 2000}));
  // The state lasts: so does the time since when.
  ASSERT_TRUE(put_job(**journal, {"channel night", true, 1500, "too slow", 3000}));
  ASSERT_TRUE(put_job(**journal, {"upload a/hub", false, 1200, "", 0}));
  auto document = recorded(folder.path());
  ASSERT_TRUE(document.has_value()) << document.error().message();
  EXPECT_EQ(document->at("jobs"),
            parse_json(R"([{"name":"channel night","state":"failing","since_ms":1000,
                            "error":"too slow","next_ms":3000},
                           {"name":"upload a/hub","state":"working","since_ms":1200,
                            "error":"","next_ms":0}])",
                       "expected")
                .value());
  ASSERT_TRUE(keep_jobs(**journal, {"upload a/hub"}));
  EXPECT_EQ(recorded(folder.path())->at("jobs").as_array().size(), 1U);
}

TEST(Record, IsBoundedTheNewestFirst) {
  const TemporaryFolder folder;
  auto journal = Journal::open(
      folder.path() / journal_name,
      {"create table if not exists deliveries (id integer primary key, state text) strict"});
  ASSERT_TRUE(journal.has_value());
  ASSERT_TRUE((*journal)->transact([](store::Connection& db) {
    return db.run(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000) "
        "insert into deliveries select i, 'sent' from n");
  }));
  const auto document = recorded(folder.path());
  ASSERT_TRUE(document.has_value());
  const json::array& rows = document->at("deliveries").as_array();
  ASSERT_EQ(rows.size(), std::size_t{most_recorded_rows});
  EXPECT_EQ(rows[0].at("id"), 1000);
}

TEST(Record, WhatIsHeldUntilLaterDoesNotWaitYet) {
  const TemporaryFolder folder;
  auto journal = Journal::open(folder.path() / journal_name, channel_tables());
  ASSERT_TRUE(journal.has_value());
  ASSERT_TRUE((*journal)->transact([](store::Connection& db) {
    return db.run(
        "insert into deliveries (channel, message, state, due_ms, next_ms, at_ms) values "
        "('day', 1, 'waiting', 500, 9000, 1), ('day', 2, 'waiting', 2000, 2000, 1), "
        "('day', 3, 'sent', 2000, 2000, 1), ('night', 1, 'waiting', 2000, 2000, 1)");
  }));
  using Rows = std::vector<std::tuple<std::string, std::string, std::int64_t>>;
  const auto at = [&](std::int64_t now_ms) {
    const auto counts = counted(folder.path(), now_ms);
    EXPECT_TRUE(counts.has_value());
    Rows rows;
    for (const auto& [channel, state, count] : counts->messages) {
      rows.emplace_back(channel, state, count);
    }
    return rows;
  };
  EXPECT_EQ(at(1000), (Rows{{"day", "sent", 1}, {"day", "waiting", 1}, {"night", "waiting", 0}}));
  EXPECT_EQ(at(2000), (Rows{{"day", "sent", 1}, {"day", "waiting", 2}, {"night", "waiting", 1}}));
}

TEST(Record, WhatIsCountedNeverBecomesLess) {
  const TemporaryFolder folder;
  std::vector<std::string> tables = channel_tables();
  for (const std::string& sql : upload::upload_tables()) tables.push_back(sql);
  auto journal = Journal::open(folder.path() / journal_name, tables);
  ASSERT_TRUE(journal.has_value());
  UploadRows rows(**journal, "trainer", "hub");
  const upload::Candidate step{"/checkpoints/step-10", "step-10", 10};
  const auto uploads = [&] {
    const auto counts = counted(folder.path(), 1000);
    EXPECT_TRUE(counts.has_value());
    EXPECT_EQ(counts->uploads.size(), 1U);
    return std::pair(counts->uploads.at(0).sent_bytes, counts->uploads.at(0).failed);
  };
  ASSERT_TRUE(rows.begin({step, "sending", 1}));
  EXPECT_EQ(uploads(), std::pair(0L, 0L));
  ASSERT_TRUE(rows.progress(step, 100, 60, 0));
  ASSERT_TRUE(rows.not_done(step, "waiting", "no connection", 1, 2, 0));
  EXPECT_EQ(uploads(), std::pair(60L, 1L));
  ASSERT_TRUE(rows.progress(step, 100, 100, 0));
  ASSERT_TRUE(rows.not_done(step, "failed", "the token has expired", 2, 2, 3));
  ASSERT_TRUE(rows.retry());
  EXPECT_EQ(uploads(), std::pair(100L, 2L));
  ASSERT_TRUE(rows.done(step, "hub/step-10", 4));
  ASSERT_TRUE(rows.begin({step, "sending", 5}));
  ASSERT_TRUE(rows.not_done(step, "held", "", 0, 6, 0));
  EXPECT_EQ(uploads(), std::pair(100L, 2L));
  ASSERT_TRUE(rows.progress(step, 100, 30, 0));
  EXPECT_EQ(uploads(), std::pair(130L, 2L));

  const Queue queue("night");
  const auto messages = [&](const std::string& state) {
    std::int64_t sum = 0;
    const auto counts = counted(folder.path(), 1000);
    EXPECT_TRUE(counts.has_value());
    for (const auto& row : counts->messages) {
      if (row.channel == "night" && row.state == state) sum += row.count;
    }
    return sum;
  };
  for (std::int64_t round = 0; round < 2; ++round) {
    ASSERT_TRUE((*journal)->transact([&](store::Connection& db) {
      return db.run(
          "insert into deliveries (channel, message, state, at_ms) values ('night', ?1 + 1, "
          "'sent', 1), ('night', ?1 + 2, 'failed', 1), ('night', ?1 + 3, 'waiting', 1)",
          round * 10);
    }));
    ASSERT_TRUE((*journal)->transact([&](store::Connection& db) { return queue.prune(db, 100); }));
    EXPECT_EQ(messages("sent"), round + 1);
    EXPECT_EQ(messages("failed"), round + 1);
    EXPECT_EQ(messages("waiting"), round + 1);
  }
}

TEST(Record, ReadsBesideAWriterWithoutWaiting) {
  const TemporaryFolder folder;
  auto journal = Journal::open(folder.path() / journal_name, courier_tables());
  ASSERT_TRUE(journal.has_value());
  ASSERT_TRUE(put_job(**journal, {"a", false, 1, "", 0}));
  ASSERT_TRUE((*journal)->transact([&](store::Connection& db) -> Status {
    if (auto put = db.run("delete from jobs"); !put) return put;
    const auto document = recorded(folder.path());
    EXPECT_TRUE(document.has_value());
    EXPECT_EQ(document->at("jobs").as_array().size(), 1U) << "what is committed";
    return {};
  }));
}

TEST(Record, APipeInItsPlaceHoldsNobodyUp) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / journal_name).c_str(), 0600), 0);
  EXPECT_TRUE(recorded(folder.path()).has_value());
}

}  // namespace
}  // namespace trainward::courier
