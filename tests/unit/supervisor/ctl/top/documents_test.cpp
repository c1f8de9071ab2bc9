// The API's documents as the screen's model.
#include <gmock/gmock.h>

#include <cmath>

#include "supervisor/ctl/top/silence.hpp"
#include "supervisor/ctl/top/top_documents.hpp"

namespace trainward::ctl::top {
namespace {

json::object object(const char* text) { return parse_json(text, "test").value().as_object(); }
json::array array(const char* text) { return parse_json(text, "test").value().as_array(); }

std::string time_text(std::int64_t ms) { return "t" + std::to_string(ms); }

constexpr const char* curve_text = R"({"program": "run", "metric": "loss", "from": 1, "to": 100,
  "first_step": 1, "newest_step": 100, "bucket_steps": 64,
  "columns": {"step": [64, 0], "min": [2.0, 3], "max": [2.5, 9.5], "mean": [2.25, null],
              "count": [36, 63], "nan": [0, 1], "attempt": [2, 1], "at_ms": [2000, 1000],
              "tokens": [1, 2]},
  "lost": [{"attempt": 1, "from": 60, "to": 70, "step": [60, 65], "mean": [3.1, null]}],
  "attempts": [{"attempt": 2, "first_step": 60, "last_step": 100, "cause": "", "ended_ms": 0},
               {"attempt": 1, "first_step": 1, "last_step": 70, "cause": "hang", "ended_ms": 5}],
  "evaluations": {"step": [50], "loss": [2.75], "attempt": [1]},
  "checkpoints": [{"step": 60, "state": "verified", "at_ms": 1}, {"step": 40, "state": "pruned"}]})";

TEST(DocumentsTest, ACurveIsRead) {
  const Curve curve = curve_of(object(curve_text));
  EXPECT_EQ(curve.newest_step, 100);
  ASSERT_EQ(curve.points.size(), 2U);
  EXPECT_EQ(curve.points[0].step, 0) << "by step, whatever the order";
  EXPECT_TRUE(std::isnan(curve.points[0].mean));
  EXPECT_EQ(curve.points[0].not_numbers, 1);
  EXPECT_EQ(curve.points[1].mean, 2.25);
  EXPECT_EQ(curve.points[1].at_ms, 2000);
  ASSERT_EQ(curve.attempts.size(), 2U);
  EXPECT_EQ(curve.attempts[0].cause, "hang");
  EXPECT_TRUE(curve.attempts[0].over);
  EXPECT_FALSE(curve.attempts[1].over);
  EXPECT_EQ(curve.lost.size(), 2U);
  EXPECT_EQ(curve.evaluations[0].loss, 2.75);
  EXPECT_THAT(curve.checkpoints, testing::ElementsAre(60));
}

TEST(DocumentsTest, WhatIsMissingOrMistypedIsLeftOut) {
  EXPECT_TRUE(curve_of({}).points.empty());
  const Curve curve = curve_of(object(
      R"({"columns": {"step": [1, 2, "x", 1e300], "mean": [2]}, "attempts": [1, {}], "lost": 3,
          "evaluations": [], "checkpoints": null, "bucket_steps": -4})"));
  EXPECT_EQ(curve.points.size(), 4U);
  EXPECT_EQ(curve.bucket_steps, 1);
  Documents documents;
  documents.programs = array(R"([3, {}, {"name": 4, "state": "NEW"}, {"name": "a\u001b[2J"}])");
  documents.boards = array(R"([{}, {"verdict": "OK", "temperature_c": "hot"}])");
  documents.events = array(R"([{}, {"at": "yesterday"}])");
  documents.ledgers = {{"run", object(R"({"phases": [{}]})")}};
  const Snapshot snapshot = snapshot_of(documents, time_text);
  EXPECT_EQ(snapshot.programs.size(), 3U);
  EXPECT_EQ(snapshot.boards.size(), 2U);
  EXPECT_FALSE(snapshot.boards[1].celsius);
  EXPECT_EQ(snapshot.events[1].when, "yesterday");
}

TEST(DocumentsTest, ASnapshotHasWordsForPeople) {
  Documents documents;
  documents.now_ms = 1'000'000;
  documents.origin = Origin::daemon;
  documents.selected = "run";
  documents.programs = array(R"([
    {"name": "run", "state": "RUNNING", "started_ms": 400000, "attempts": 1, "attempt": 1,
     "last_step": 1200, "loss": 2.5},
    {"name": "bad", "state": "FATAL", "reason": "the disk is full", "changed_ms": 1}])");
  documents.boards = array(R"([
    {"serial": "B", "verdict": "OK", "temperature_c": 50, "sampled_ms": 999000},
    {"serial": "A", "verdict": "FAILED", "reason": "no heartbeat"}])");
  documents.events = array(
      R"([{"id": 7, "at": "1970-01-01T00:00:05.000Z", "kind": "restart", "text": "x", "by": "uid 1"}])");
  const Snapshot snapshot = snapshot_of(documents, time_text);
  ASSERT_EQ(snapshot.programs.size(), 2U);
  EXPECT_EQ(snapshot.programs[0].name, "bad") << "who needs somebody comes first";
  EXPECT_TRUE(snapshot.programs[0].urgent);
  EXPECT_THAT(snapshot.programs[0].todo, testing::HasSubstr("trainwardctl start bad"));
  EXPECT_THAT(snapshot.programs[1].sentence, testing::HasSubstr("step 1,200, loss 2.500"));
  EXPECT_EQ(snapshot.boards[0].serial, "A");
  EXPECT_EQ(snapshot.events[0].when, "t5000");
  EXPECT_EQ(snapshot.events[0].by, "uid 1");
  EXPECT_EQ(snapshot.clock, "t1000000");
}

Curve told_every(std::int64_t gap_ms, int times) {
  Curve curve;
  for (int i = 0; i < times; ++i) {
    CurvePoint point;
    point.step = i;
    point.attempt = 1;
    point.at_ms = 1'000'000 + i * gap_ms;
    curve.points.push_back(point);
  }
  return curve;
}

TEST(SilenceTest, IsWhatIsLongerThanTheRunItselfExplains) {
  const Curve quick = told_every(100, 20);
  const std::int64_t last = quick.points.back().at_ms;
  EXPECT_FALSE(silence_of(quick, last + 30'000));
  ASSERT_TRUE(silence_of(quick, last + 30'001));
  EXPECT_EQ(silence_of(quick, last + 40'000)->since_ms, 40'000);
  EXPECT_EQ(silence_of(quick, last + 40'000)->usual_ms, 100);

  const Curve slow = told_every(60'000, 20);
  EXPECT_FALSE(silence_of(slow, slow.points.back().at_ms + 600'000));
  EXPECT_TRUE(silence_of(slow, slow.points.back().at_ms + 600'001));

  Curve saving = told_every(100, 20);
  for (std::size_t i = 10; i < saving.points.size(); ++i) saving.points[i].at_ms += 50'000;
  EXPECT_FALSE(silence_of(saving, saving.points.back().at_ms + 100'000)) << "a save takes so long";
  EXPECT_TRUE(silence_of(saving, saving.points.back().at_ms + 101'000));

  EXPECT_FALSE(silence_of(told_every(100, 3), 1 << 30)) << "too little is known";
  EXPECT_FALSE(silence_of({}, 1 << 30));
  Curve begun = told_every(100, 20);
  begun.points.back().attempt = 2;
  EXPECT_FALSE(silence_of(begun, 1 << 30)) << "the new attempt has not told of enough";
}

}  // namespace
}  // namespace trainward::ctl::top
