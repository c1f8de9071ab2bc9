// A journal that stays bounded and mends itself, read by somebody who is there all the time, now
// and then, or only at the end.

#include "supervisor/process/shim/disk/attempt_journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>

#include "held_folder.hpp"
#include "supervisor/process/shim/disk/journal_fold.hpp"
#include "temporary_folder.hpp"

namespace trainward::shim {
namespace {

namespace fs = std::filesystem;

class JournalOfAnAttempt : public ::testing::Test {
 protected:
  void begin(JournalLimits limits = {}) {
    journal_.emplace(JournalWriter::open(held(folder_.path()), "journal.ndjson").value(), limits);
    put("started", JsonText().add("nonce", "n").add("pid", 7).add("boot_id", "b"), "");
  }
  void put(const std::string& type, const JsonText& fields, const std::string& kind) {
    ++time_;
    const auto ok = journal_->append({type, fields, {time_, time_}, false, kind});
    ASSERT_TRUE(ok.has_value()) << ok.error().message();
  }
  void say(const std::string& key, const std::string& value) {
    put("message", JsonText().add_json("fields", JsonText().add(key, value).object()),
        kind_of({{key, value}}));
  }
  void step() { say("STEP", std::to_string(++step_)); }

  // All that a reader at `offset` gets to see, piece by piece.
  std::vector<JournalRecord> read(std::int64_t& offset, std::size_t piece = 4'096) {
    std::vector<JournalRecord> all;
    for (bool more = true; more;) {
      auto batch = read_journal(file_, offset, piece);
      EXPECT_TRUE(batch.has_value()) << batch.error().message();
      if (!batch) return all;
      EXPECT_EQ(batch->bad_lines, 0);
      EXPECT_GE(batch->next_offset, offset);
      std::move(batch->records.begin(), batch->records.end(), std::back_inserter(all));
      offset = batch->next_offset;
      more = batch->more;
    }
    return all;
  }
  static std::vector<std::string> values(const std::vector<JournalRecord>& records,
                                         const char* key) {
    std::vector<std::string> found;
    for (const JournalRecord& record : records) {
      const auto fields = get_object(record.fields, "fields");
      if (fields && (*fields)->contains(key)) found.push_back(string_or(**fields, key, ""));
    }
    return found;
  }
  std::uintmax_t bytes_on_disk() const {
    std::uintmax_t sum = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) sum += entry.file_size();
    return sum;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "journal.ndjson";
  std::optional<AttemptJournal> journal_;
  std::int64_t time_ = 0;
  std::int64_t step_ = 0;
};

TEST_F(JournalOfAnAttempt, AReaderThatKeepsUpSeesEachRecordOnceAcrossRotations) {
  begin({8'192, 16'384});
  std::int64_t offset = 0;
  std::vector<std::string> seen;
  for (int i = 0; i < 5'000; ++i) {
    step();
    if (i % 7 != 0) continue;
    for (std::string& value : values(read(offset), "STEP")) seen.push_back(std::move(value));
  }
  for (std::string& value : values(read(offset), "STEP")) seen.push_back(std::move(value));
  ASSERT_EQ(seen.size(), 5'000U);
  for (int i = 0; i < 5'000; ++i) ASSERT_EQ(seen[i], std::to_string(i + 1));
  EXPECT_TRUE(fs::exists(file_.string() + ".thinned"));
}

TEST_F(JournalOfAnAttempt, AReaderThatWasAwayForOneRotationLosesNothing) {
  begin({16 * 1024, 64 * 1024});
  for (int i = 0; i < 50; ++i) step();
  std::int64_t offset = 0;
  EXPECT_EQ(values(read(offset), "STEP").size(), 50U);
  const auto inode = read_journal(file_, offset)->inode;
  while (read_journal(file_, offset)->inode == inode) step();
  const auto rest = values(read(offset), "STEP");
  EXPECT_EQ(static_cast<std::int64_t>(rest.size()), step_ - 50);
}

TEST_F(JournalOfAnAttempt, StaysBoundedAndKeepsWhatTheRunIsToldAgainFrom) {
  const JournalLimits limits{32 * 1024, 128 * 1024};
  begin(limits);
  std::vector<std::string> phases;
  std::uintmax_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    step();
    if (i % 1'000 == 0) say("PHASE", phases.emplace_back(std::to_string(i)));
    if (i % 500 == 0) most = std::max(most, bytes_on_disk());
  }
  put("exited", JsonText().add("code", 0), "");
  EXPECT_LE(most, std::uintmax_t(2 * limits.file_bytes + limits.thinned_bytes + 40'000));
  for (const std::size_t piece : {2'000UL, 64'000UL, 1'000'000UL}) {
    std::int64_t offset = 0;
    const auto all = read(offset, piece);
    EXPECT_EQ(all.front().type, "started");
    EXPECT_EQ(int_or(all.front().fields, "pid", 0), 7);
    EXPECT_EQ(all.back().type, "exited");
    EXPECT_EQ(values(all, "PHASE"), phases);
    const auto steps = values(all, "STEP");
    EXPECT_EQ(steps.back(), std::to_string(step_));
    EXPECT_GT(steps.size(), 1'000U);
    // Evenly: no stretch of the run is empty.
    std::set<std::int64_t> stretches;
    for (const std::string& text : steps) stretches.insert(std::stoll(text) / 2'000);
    EXPECT_EQ(stretches.size(), 11U);
    std::int64_t before = 0;
    for (const JournalRecord& record : all) {
      ASSERT_GT(record.sequence, before) << "each once, in order";
      before = record.sequence;
    }
  }
}

TEST_F(JournalOfAnAttempt, AFloodOfPhasesIsBoundedToo) {
  const JournalLimits limits{64 * 1024, 128 * 1024};
  begin(limits);
  for (int i = 0; i < 10'000; ++i) say("PHASE", i % 2 == 0 ? "save" : "train");
  EXPECT_LE(bytes_on_disk(), std::uintmax_t(2 * limits.file_bytes + limits.thinned_bytes + 40'000));
  std::int64_t offset = 0;
  EXPECT_EQ(values(read(offset), "PHASE").back(), "train");
}

TEST_F(JournalOfAnAttempt, AReaderFromTheMiddleOfWhatWasThinnedSeesOnlyWhatFollows) {
  begin({16'384, 32'768});
  for (int i = 0; i < 5'000; ++i) step();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::int64_t end = 0;
  const auto all = read(end);
  for (int i = 0; i < 50; ++i) {
    std::int64_t offset = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    const std::int64_t from = offset;
    const auto first = std::find_if(
        all.begin(), all.end(), [&](const JournalRecord& record) { return record.offset >= from; });
    // A place that a reader has had is the begin of a record.
    if (first == all.end()) continue;
    offset = first->offset;
    const auto rest = read(offset);
    ASSERT_EQ(rest.size(), static_cast<std::size_t>(all.end() - first));
    EXPECT_EQ(rest.front().sequence, first->sequence);
  }
}

// A crash between the thinned file's rename and the removal of the older one.
TEST_F(JournalOfAnAttempt, WhatWasThinnedTwiceCountsOnce) {
  begin({16'384, 1'000'000});
  for (int i = 0; i < 500; ++i) step();
  fs::copy_file(file_.string() + ".1", folder_.path() / "copy");
  ASSERT_TRUE(fold_journal(*held(folder_.path()), "journal.ndjson", 1'000'000).has_value());
  fs::rename(folder_.path() / "copy", file_.string() + ".1");
  ASSERT_TRUE(fold_journal(*held(folder_.path()), "journal.ndjson", 1'000'000).has_value());
  std::int64_t offset = 0;
  EXPECT_EQ(values(read(offset), "STEP").size(), 500U);
}

struct Way {
  const char* name;
  void (*inflict)(const fs::path& file);
};
class DamagedJournal : public JournalOfAnAttempt, public ::testing::WithParamInterface<Way> {};

INSTANTIATE_TEST_SUITE_P(
    Ways, DamagedJournal,
    ::testing::Values(Way{"deleted", [](const fs::path& file) { fs::remove(file); }},
                      Way{"emptied", [](const fs::path& file) { fs::resize_file(file, 0); }},
                      Way{"cut",
                          [](const fs::path& file) {
                            fs::resize_file(file, fs::file_size(file) / 2 + 3);
                          }},
                      Way{"replaced",
                          [](const fs::path& file) {
                            fs::remove(file);
                            std::ofstream(file) << "{\"seq\":1}\n";
                          }},
                      Way{"replaced_by_a_folder",
                          [](const fs::path& file) {
                            fs::remove(file);
                            fs::create_directory(file);
                          }}),
    [](const auto& of) { return of.param.name; });

TEST_P(DamagedJournal, IsBegunAnewWithWhereTheWorkerIs) {
  begin();
  say("RESUMED_STEP", "0");
  say("PHASE", "train");
  say("CHECKPOINT", "/c/step-3");
  for (int i = 0; i < 50; ++i) step();
  std::int64_t reader = 0;
  EXPECT_EQ(values(read(reader), "STEP").size(), 50U);
  const std::int64_t before = reader;
  GetParam().inflict(file_);
  for (int i = 0; i < 10; ++i) step();
  // Whoever had read all before: the later steps, and what it knows already is marked so.
  std::vector<std::string> fresh;
  for (const JournalRecord& record : read(reader)) {
    const bool again = bool_or(record.fields, "again", false);
    if (record.type != "message") continue;
    if (again) {
      EXPECT_LT(int_or(record.fields, "at", before), before);
      continue;
    }
    fresh.push_back(values({record}, "STEP").front());
  }
  ASSERT_EQ(fresh.size(), 10U);
  EXPECT_EQ(fresh.front(), "51");
  // Whoever reads it for the first time knows who and where the worker is.
  std::vector<JournalRecord> all;
  for (std::int64_t offset = 0;;) {
    const auto batch = read_journal(file_, offset).value();
    all.insert(all.end(), batch.records.begin(), batch.records.end());
    offset = batch.next_offset;
    if (!batch.more) break;
  }
  EXPECT_EQ(all.front().type, "started");
  EXPECT_EQ(int_or(all.front().fields, "pid", 0), 7);
  EXPECT_EQ(string_or(all.front().fields, "nonce", ""), "n");
  EXPECT_EQ(values(all, "PHASE").back(), "train");
  EXPECT_EQ(values(all, "RESUMED_STEP").back(), "0");
  EXPECT_EQ(values(all, "CHECKPOINT").back(), "/c/step-3");
  EXPECT_EQ(values(all, "STEP").back(), "60");
}

TEST_P(DamagedJournal, AgainAndAgainTheLastStepIsThere) {
  begin({2'048, 4'096});
  std::int64_t reader = 0;
  std::int64_t last = 0;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 5 + round; ++i) step();
    const auto steps = values(read(reader), "STEP");
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(steps.back(), std::to_string(step_));
    EXPECT_GE(std::stoll(steps.front()), last);
    last = step_;
    if (fs::is_regular_file(file_)) GetParam().inflict(file_);
    if (GetParam().name == std::string("replaced_by_a_folder")) {
      fs::remove(file_.string() + ".set-aside");
    }
  }
}

TEST_F(JournalOfAnAttempt, GoesOnWithoutWhereNothingCanBePutInItsPlace) {
  begin();
  step();
  fs::remove(file_);
  fs::create_directories(file_ / "inner");
  fs::create_directories(file_.string() + ".set-aside");
  ::testing::internal::CaptureStderr();
  step();
  step();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("cannot be recreated"));
  fs::remove(file_.string() + ".set-aside");
  step();
  std::int64_t offset = 0;
  EXPECT_EQ(values(read(offset), "STEP").back(), "4");
}

}  // namespace
}  // namespace trainward::shim
