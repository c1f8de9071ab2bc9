#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

Report sample() {
  Board board;
  board.serial = "0100014511708037";
  board.type = "n300";
  board.bus_id = "0000:c1:00.0";
  board.verdict = Verdict::remote_lost;
  board.chips = {{"L", Verdict::ok, "full", 57.5, {}},
                 {"R", Verdict::remote_lost, "described", 0, {{"lost", "reset"}}}};
  board.links = {{"L:8", "R:0", false, 7}};
  board.evidence = {{"both links are down", ""}};
  board.simulate = {{"dram_bytes", 5}};
  return {"described", {board}, {{"host", "advice"}}};
}

std::string error_for(std::string_view key, json::value value) {
  json::object report = to_json(sample());
  report["boards"].as_array()[0].as_object()[json::string_view(key.data(), key.size())] =
      std::move(value);
  const auto read = report_from_json(report);
  return read ? "" : read.error().what;
}

TEST(ReportJson, RoundTrip) {
  const json::object written = to_json(sample());
  const auto text = json::serialize(written);
  const auto parsed = parse_json(text, "test");
  ASSERT_TRUE(parsed);
  const auto report = report_from_json(*parsed);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(to_json(*report), written);
}

TEST(ReportJson, EveryVerdictHasAWordThatReadsBack) {
  for (int i = 0; i <= static_cast<int>(Verdict::absent); ++i) {
    Report report = sample();
    report.boards[0].verdict = static_cast<Verdict>(i);
    const auto read = report_from_json(to_json(report));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->boards[0].verdict, static_cast<Verdict>(i));
  }
}

TEST(ReportJson, RefusesWhatIsNotAReport) {
  EXPECT_FALSE(report_from_json(5));
  EXPECT_FALSE(report_from_json(json::object{}));
  EXPECT_FALSE(report_from_json(json::object{{"source", "x"}, {"boards", 5}}));
  EXPECT_THAT(error_for("verdict", "GREAT"), HasSubstr("unknown verdict 'GREAT'"));
  EXPECT_THAT(error_for("serial", nullptr), HasSubstr("'serial'"));
  EXPECT_THAT(error_for("serial", json::string(5000, 'x')), HasSubstr("longer than"));
  EXPECT_THAT(error_for("chips", json::array{1}), HasSubstr("not an object"));
  EXPECT_THAT(error_for("links", json::array(1000, json::object{})), HasSubstr("more than 64"));
}

TEST(ReportJson, HoldersAreKeptAndWhatIsNoPidIsLeftOut) {
  Report report{"sysfs", {Board{}}, {}};
  report.boards[0].holders = {4711, 12};
  json::object value = to_json(report);
  EXPECT_EQ(report_from_json(value)->boards[0].holders, (std::vector<std::int64_t>{4711, 12}));
  json::object& board = value["boards"].as_array()[0].as_object();
  board["holders"] = json::array{"init", 1.5, nullptr, 7};
  EXPECT_EQ(report_from_json(value)->boards[0].holders, (std::vector<std::int64_t>{7}));
  board["holders"] = json::array(1000, 1);
  EXPECT_LE(report_from_json(value)->boards[0].holders.size(), 64U);
  board.erase("holders");
  EXPECT_TRUE(report_from_json(value)->boards[0].holders.empty()) << "an older probe's report";
}

}  // namespace
}  // namespace trainward::hwprobe
