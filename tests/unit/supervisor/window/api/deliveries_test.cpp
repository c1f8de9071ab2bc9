// /v1/deliveries: what the courier has on record, and what only the daemon knows of it.
#include <gtest/gtest.h>

#include "routes_fixture.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::api {
namespace {

class Deliveries : public Routes {};

TEST_F(Deliveries, BeforeAnyCourierThereIsNothingInIt) {
  const json::value answer = document("/v1/deliveries");
  EXPECT_EQ(answer.at("courier"), (json::object{{"needed", false}, {"trouble", ""}}));
  for (const char* table : {"jobs", "channels", "deliveries", "uploads", "tracked"}) {
    EXPECT_TRUE(answer.at(table).as_array().empty()) << table;
  }
}

TEST_F(Deliveries, RowsAreToldAsTheyStand) {
  auto db =
      store::Connection::open(folder_.path() / "courier.db", store::Connection::Mode::read_write);
  ASSERT_TRUE(db.has_value()) << db.error().message();
  ASSERT_TRUE((*db)->script(
      "pragma journal_mode = wal;"
      "create table jobs (name text primary key, state text, since_ms integer, error text,"
      " next_ms integer);"
      "insert into jobs values ('channel night', 'failing', 1000, 'no connection', 2000);"
      "create table uploads (id integer primary key, state text, bytes integer);"
      "insert into uploads values (1, 'done', 5), (2, 'sending', 7);"));
  const json::value answer = document("/v1/deliveries");
  EXPECT_EQ(answer.at("jobs"), json::value(json::array{json::object{{"name", "channel night"},
                                                                    {"state", "failing"},
                                                                    {"since_ms", 1000},
                                                                    {"error", "no connection"},
                                                                    {"next_ms", 2000}}}));
  ASSERT_EQ(answer.at("uploads").as_array().size(), 2U);
  EXPECT_EQ(answer.at("uploads").as_array()[0].at("id"), 2) << "the newest first";
}

TEST_F(Deliveries, ADamagedRecordIsSaidSo) {
  folder_.write("courier.db", std::string(4096, 'x'));
  EXPECT_EQ(ask("GET", "/v1/deliveries").status, 500);
}

}  // namespace
}  // namespace trainward::api
