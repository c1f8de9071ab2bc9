#include "common/wire/journal.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "common/os/file.hpp"
#include "held_folder.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

void append_raw(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::app | std::ios::binary) << text;
}

TEST(Journal, RecordsComeBackOnceAndInOrder) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "journal.ndjson";
  auto writer = JournalWriter::open(held(folder.path()), "journal.ndjson").value();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(writer.append("message", JsonText().add("i", std::int64_t{i}), {i, i + 1}, false)
                    .has_value());
  }
  std::int64_t offset = 0;
  std::int64_t expected = 0;
  for (;;) {
    auto batch = read_journal(file, offset).value();
    for (const JournalRecord& record : batch.records) {
      EXPECT_EQ(record.fields.at("i").as_int64(), expected);
      EXPECT_EQ(record.sequence, ++expected);
      EXPECT_EQ(record.at.mono.ms, expected);
    }
    if (batch.next_offset == offset) break;
    offset = batch.next_offset;
  }
  EXPECT_EQ(expected, 100);
}

TEST(Journal, ATornLastLineIsIgnoredAndCutOffByTheNextWriter) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "journal.ndjson";
  ASSERT_TRUE(JournalWriter::open(held(folder.path()), "journal.ndjson")
                  ->append("started", {}, {}, true)
                  .has_value());
  append_raw(file, R"({"seq":2,"wall_ms":1,"mono)");
  EXPECT_EQ(read_journal(file, 0)->records.size(), 1U);
  ASSERT_TRUE(JournalWriter::open(held(folder.path()), "journal.ndjson")
                  ->append("exited", JsonText().add("code", std::int64_t{0}), {}, true)
                  .has_value());
  const auto batch = read_journal(file, 0).value();
  ASSERT_EQ(batch.records.size(), 2U);
  EXPECT_EQ(batch.records[1].sequence, 2);
  EXPECT_EQ(batch.bad_lines, 0);
}

TEST(Journal, GarbageLinesAreCountedAndSkipped) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "journal.ndjson";
  append_raw(file, "\x01\x02 not json\n{\"seq\":1}\n[]\n");
  append_raw(file, R"({"seq":4,"wall_ms":1,"mono_ms":2,"type":"exited","code":3})"
                   "\n");
  const auto batch = read_journal(file, 0).value();
  EXPECT_EQ(batch.bad_lines, 3);
  ASSERT_EQ(batch.records.size(), 1U);
  EXPECT_EQ(batch.records[0].type, "exited");
}

TEST(Journal, AMissingFileIsEmptyAndAnEndlessLineAnError) {
  const TemporaryFolder folder;
  EXPECT_TRUE(read_journal(folder.path() / "none", 0)->records.empty());
  const auto file = folder.path() / "endless";
  append_raw(file, std::string(2'000'000, 'x'));
  EXPECT_EQ(read_journal(file, 0).error().kind, ErrorKind::corrupt);
}

TEST(Journal, LargeJournalsAreReadInBatches) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "journal.ndjson";
  auto writer = JournalWriter::open(held(folder.path()), "journal.ndjson").value();
  const std::string filler(10'000, 'f');
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(writer.append("message", JsonText().add("filler", filler), {}, false).has_value());
  }
  std::int64_t offset = 0;
  std::size_t seen = 0;
  int batches = 0;
  for (bool more = true; more; ++batches) {
    auto batch = read_journal(file, offset).value();
    seen += batch.records.size();
    offset = batch.next_offset;
    more = batch.more;
  }
  EXPECT_EQ(seen, 300U);
  EXPECT_GE(batches, 3);
}

}  // namespace
}  // namespace trainward
