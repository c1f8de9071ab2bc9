// Where the time went in a window, with the span that is still open.
#include "fixture.hpp"

namespace trainward::store {
namespace {

class LedgerTest : public StoreTest {
 protected:
  static std::string phases(const json::object& ledger) {
    std::string text;
    for (const json::value& row : ledger.at("phases").as_array()) {
      text +=
          fmt::format("{} {} {:g}; ", std::string_view(row.at("phase").as_string()),
                      std::string_view(row.at("cause").as_string()), row.at("seconds").as_double());
    }
    return text;
  }
  static Time at(std::int64_t ms) { return Time{WallTime{epoch_ms + ms}, {}}; }
};

TEST_F(LedgerTest, OfTheWholeRunIsThatOfTheReport) {
  Store store = open();
  fill(store);
  const auto ledger = must(store.ledger_json("trainer", {}, at(500'000)));
  EXPECT_EQ(phases(ledger),
            "stepping  60; loading  20; probing  10; down hang 5; replaying device_oom 5; ");
  const auto report = must(store.report_json("trainer"));
  EXPECT_EQ(ledger.at("total_seconds"), report.at("total_seconds"));
  EXPECT_EQ(ledger.at("effective_share"), report.at("effective_share"));
  EXPECT_EQ(ledger.at("from_ms"), epoch_ms);
  EXPECT_EQ(ledger.at("to_ms"), epoch_ms + 100'000);
  EXPECT_EQ(store.ledger_json("nobody", {}, at(0)).error().kind, ErrorKind::usage);
  EXPECT_EQ(phases(must(store.ledger_json("idle", {}, at(0)))), "");
}

TEST_F(LedgerTest, OfAWindowHasTheParts) {
  Store store = open();
  fill(store);
  // The last 30 s of the first 100: 10 s of stepping, 5 of replaying, 10 of stepping, 5 down.
  const auto ledger = must(store.ledger_json("trainer", 30, at(100'000)));
  EXPECT_EQ(phases(ledger), "stepping  20; down hang 5; replaying device_oom 5; ");
  EXPECT_EQ(ledger.at("from_ms"), epoch_ms + 70'000);
  EXPECT_DOUBLE_EQ(ledger.at("effective_share").as_double(), 20.0 / 30.0);
  EXPECT_EQ(phases(must(store.ledger_json("trainer", 30, at(10'000'000)))), "");
  EXPECT_EQ(phases(must(store.ledger_json("trainer", std::numeric_limits<std::int64_t>::max(),
                                          at(100'000)))),
            phases(must(store.ledger_json("trainer", {}, at(100'000)))));
}

TEST_F(LedgerTest, TheOpenSpanCountsUntilNow) {
  Store store = open();
  fill(store);
  const json::object state{
      {"span", json::object{{"attempt", 3},
                            {"phase", "saving"},
                            {"cause", ""},
                            {"since", json::object{{"wall_ms", epoch_ms + 100'000}}}}}};
  must(store.put_program(
      {"trainer", "RUNNING", "", "d1", json::serialize(state), epoch_ms + 300'000, 300}));
  EXPECT_EQ(phases(must(store.ledger_json("trainer", 30, at(107'000)))),
            "stepping  13; saving  7; down hang 5; replaying device_oom 5; ");
  const auto all = must(store.ledger_json("trainer", {}, at(107'000)));
  EXPECT_EQ(all.at("to_ms"), epoch_ms + 107'000);
  EXPECT_DOUBLE_EQ(all.at("total_seconds").as_double(), 107.0);
}

TEST_F(LedgerTest, AMarkChangesWithWhateverIsWritten) {
  Store store = open();
  fill(store);
  const Store reader = must(Store::open_read_only(file_));
  for (const Store* one : {static_cast<const Store*>(&store), &reader}) {
    const auto before = must(one->mark());
    EXPECT_EQ(must(one->mark()), before);
    must(store.add_event({0, epoch_ms, "trainer", 3, "kill", "stopped", "uid 1000"}));
    const auto after = must(one->mark());
    EXPECT_NE(after, before);
    EXPECT_EQ(must(one->mark()), after);
  }
  EXPECT_NE(must(store.mark()), must(reader.mark()));
}

TEST_F(LedgerTest, AnEventSaysWhoAskedForIt) {
  Store store = open();
  fill(store);
  must(store.add_event({0, epoch_ms, "trainer", 3, "kill", "stopped", "uid 1000"}));
  const auto events = must(store.events_json("trainer", -1, 2));
  EXPECT_EQ(events[0].at("by"), "");
  EXPECT_EQ(events[1].at("by"), "uid 1000");
}

}  // namespace
}  // namespace trainward::store
