// What boards measured: written, read back, thinned by age.
#include <gmock/gmock.h>

#include "fixture.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {
namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t hour_ms = 60 * minute_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;

class BoardSamples : public StoreTest {
 protected:
  static BoardSampleRow sample(std::int64_t at_ms, double temperature) {
    BoardSampleRow row;
    row.serial = "0000000000000001";
    row.at_ms = at_ms;
    row.program = "trainer";
    row.attempt = 3;
    row.temperature_c = temperature;
    row.limit_c = 75;
    row.clock_mhz = 1000;
    row.aer_correctable = 2;
    return row;
  }
  json::array samples(const Store& store, std::int64_t after, int limit) const {
    return must(store.board_samples_json("0000000000000001", after, limit));
  }
};

TEST_F(BoardSamples, AreReadBackOldestFirstWithNullsForWhatIsUnknown) {
  Store store = open();
  fill(store);
  EXPECT_TRUE(samples(store, -1, 10).empty());
  for (int i = 0; i < 5; ++i) must(store.add_board_sample(sample(epoch_ms + i, 50 + i)));
  must(store.add_board_sample(sample(epoch_ms + 4, 60)));  // the same moment again
  const auto newest = samples(store, -1, 2);
  ASSERT_EQ(newest.size(), 2U);
  EXPECT_EQ(newest[0].at("temperature_c").as_double(), 53);
  EXPECT_EQ(newest[1].at("temperature_c").as_double(), 60);
  EXPECT_EQ(newest[1].at("at_ms").as_int64(), epoch_ms + 4);
  EXPECT_EQ(newest[1].at("at").as_string(), "2025-11-20T21:43:20.004Z");
  EXPECT_EQ(newest[1].at("program").as_string(), "trainer");
  EXPECT_TRUE(newest[1].at("heartbeat").is_null());
  const auto after = samples(store, epoch_ms, 3);
  ASSERT_EQ(after.size(), 3U);
  EXPECT_EQ(after[0].at("at_ms").as_int64(), epoch_ms + 1);
  const auto unknown = store.board_samples_json("ff", -1, 10);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, ErrorKind::usage);
}

TEST_F(BoardSamples, TheNewestStandsBesideTheBoardAndTheHottestInTheReport) {
  Store store = open();
  fill(store);
  must(store.add_board_sample(sample(epoch_ms, 71)));
  must(store.add_board_sample(sample(epoch_ms + 10'000, 55)));
  const auto boards = must(store.boards_json());
  ASSERT_EQ(boards.size(), 2U);
  EXPECT_EQ(boards[0].at("temperature_c").as_double(), 55);
  EXPECT_EQ(boards[0].at("sampled_ms").as_int64(), epoch_ms + 10'000);
  EXPECT_EQ(boards[0].at("verdict").as_string(), "OK");
  EXPECT_EQ(boards[0].at("attempts").as_int64(), 3);
  EXPECT_TRUE(boards[1].at("temperature_c").is_null());
  EXPECT_EQ(must(store.report_json("trainer")).at("boards").at(0).at("hottest_c").as_double(), 71);
  EXPECT_EQ(must(store.board_bus_id("0000000000000001")), "0000:c1:00.0");
  EXPECT_EQ(must(store.board_bus_id("ff")), "");
}

TEST_F(BoardSamples, AQuarantineStandsBesideTheBoard) {
  Store store = open();
  fill(store);
  must(store.put_board_record("0000000000000001",
                              R"({"quarantined_until_wall_ms":17,"reason":"hang: silent"})", 1));
  const auto boards = must(store.boards_json());
  EXPECT_EQ(boards[0].at("quarantined_until_ms").as_int64(), 17);
  EXPECT_EQ(boards[0].at("fault").as_string(), "hang: silent");
  EXPECT_EQ(boards[1].at("quarantined_until_ms").as_int64(), 0);
  must(store.put_board_record("0000000000000001", "{damaged", 1));
  EXPECT_EQ(must(store.boards_json())[0].at("fault").as_string(), "");
}

TEST_F(BoardSamples, AgeThinsThemAndTheHottestOfAnIntervalStays) {
  Store store = open();
  const std::int64_t now = epoch_ms / day_ms * day_ms + 500 * day_ms;
  {
    auto transaction = must(store.begin());
    // Every minute of three hours each: today, ten days ago, forty days ago, too long ago.
    for (const std::int64_t age : {std::int64_t{0}, 10 * day_ms, 40 * day_ms, 401 * day_ms}) {
      for (std::int64_t i = 1; i <= 180; ++i) {
        must(store.add_board_sample(
            sample(now - age - i * minute_ms, static_cast<double>(40 + i % 7))));
      }
    }
    // Another board's are its own.
    BoardSampleRow other = sample(now - 401 * day_ms, 40);
    other.serial = "0000000000000002";
    must(store.add_board_sample(other));
    must(transaction.commit());
  }
  must(store.thin_board_samples("0000000000000001", now));
  const auto kept = samples(store, -1, 10'000);
  const auto within = [&](std::int64_t from, std::int64_t to) {
    return std::count_if(kept.begin(), kept.end(), [&](const json::value& row) {
      const std::int64_t age = now - row.at("at_ms").as_int64();
      return age > from && age <= to;
    });
  };
  EXPECT_EQ(within(0, day_ms), 180);
  EXPECT_EQ(within(day_ms, 30 * day_ms), 36);
  EXPECT_EQ(within(30 * day_ms, 400 * day_ms), 3);
  EXPECT_EQ(kept.size(), 219U);
  for (const json::value& row : kept) {
    if (now - row.at("at_ms").as_int64() > 30 * day_ms) {
      EXPECT_EQ(row.at("temperature_c").as_double(), 46);
    }
  }
  must(store.thin_board_samples("0000000000000001", now));
  EXPECT_EQ(samples(store, -1, 10'000).size(), 219U) << "once is enough";
  EXPECT_EQ(must(store.board_samples_json("0000000000000002", -1, 10)).size(), 1U);
}

TEST_F(BoardSamples, TheViewIsForEverybody) {
  {
    Store store = open();
    must(store.add_board_sample(sample(epoch_ms, 57)));
  }
  auto connection = must(Connection::open(file_, Connection::Mode::read_only));
  int rows = 0;
  must(connection->each(
      "select serial, at, temperature_c, clock_mhz, aer_fatal from v_board_samples",
      [&](const Row& row) {
        ++rows;
        EXPECT_EQ(row.text(0), "0000000000000001");
        EXPECT_EQ(row.real(2), 57);
        EXPECT_TRUE(row.is_null(4));
      }));
  EXPECT_EQ(rows, 1);
}

}  // namespace
}  // namespace trainward::store
