// What waits in memory while the disk is full or stands still.

#include <gtest/gtest.h>

#include <cstring>

#include "common/wire/journal.hpp"
#include "held_folder.hpp"
#include "supervisor/process/shim/disk/disk_writer.hpp"
#include "supervisor/process/shim/disk/journal_queue.hpp"
#include "supervisor/process/shim/disk/log_ring.hpp"
#include "temporary_folder.hpp"

namespace trainward::shim {
namespace {

TEST(JournalQueue, IsBoundedAndKeepsTheNewestOfEachKind) {
  JournalQueue queue;
  queue.push({"started", {}, {}, false, ""});
  const auto message = [&](const Message& pairs, std::int64_t at) {
    JsonText fields;
    for (const auto& [key, value] : pairs) fields.add(key, value);
    queue.push({"message", fields, {at, at}, false, kind_of(pairs)});
  };
  message({{"PHASE", "load"}}, 1);
  message({{"PHASE", "train"}}, 2);
  message({{"CHECKPOINT", "/c"}, {"CHECKPOINT_STEP", "3"}}, 3);
  for (int i = 10; i < 100'000; ++i) message({{"STEP", std::to_string(i)}}, i);
  queue.push({"exited", {}, {}, true, ""});
  std::uint64_t count = 0;
  std::vector<std::string> kept;
  std::int64_t last_step = 0;
  for (; !queue.empty(); ++count) {
    const QueuedRecord record = queue.take();
    if (record.kind == "STEP") last_step = record.at.mono.ms;
    if (record.kind != "STEP") kept.push_back(record.type + record.kind);
  }
  EXPECT_LT(count, 2000U);
  EXPECT_EQ(count + queue.take_dropped(), 100'000U - 10 + 5);
  EXPECT_EQ(last_step, 99'999);
  EXPECT_EQ(kept,
            (std::vector<std::string>{"started", "messagePHASE", "messageCHECKPOINT", "exited"}));
}

// The disk is behind because nothing has started to write; time is what the test says.
TEST(DiskWriter, MessagesWaitForASlowDiskButNotForLong) {
  const TemporaryFolder folder;
  const auto log = [&](const char* name) {
    return std::move(*LogFile::open(held(folder.path()), name, 1 << 20, 1));
  };
  DiskWriter disk(AttemptJournal(std::move(*JournalWriter::open(held(folder.path()), "journal"))),
                  log("out"), log("err"), std::move(*LogRing::make()), std::move(*LogRing::make()));
  std::int64_t sent = 0;
  for (; disk.takes_messages({1000}); ++sent) {
    ASSERT_LT(sent, 10'000);
    disk.message({{"STEP", std::to_string(sent)}}, {sent, sent});
  }
  EXPECT_GT(sent, 50);
  EXPECT_FALSE(disk.takes_messages({1400}));
  EXPECT_TRUE(disk.takes_messages({1500}));
  ASSERT_TRUE(disk.start());
  disk.stop();
  EXPECT_TRUE(disk.takes_messages({1501}));
  const auto batch = read_journal(folder.path() / "journal", 0);
  ASSERT_TRUE(batch);
  EXPECT_EQ(static_cast<std::int64_t>(batch->records.size()), sent) << "none was dropped";
}

TEST(LogRing, BytesComeOutInOrderAcrossTheWrap) {
  LogRing ring = std::move(*LogRing::make());
  std::uint64_t put = 0;
  std::uint64_t taken = 0;
  while (taken < 8 * LogRing::capacity) {
    const auto space = ring.space();
    const std::size_t part = std::min<std::size_t>(space.size(), 77'777);
    for (std::size_t i = 0; i < part; ++i) space[i] = static_cast<char>(put++ % 251);
    if (part > 0) ring.commit(part);
    if (ring.used() < 300'000) continue;
    const std::string_view bytes = ring.claim();
    for (const char c : bytes) ASSERT_EQ(c, static_cast<char>(taken++ % 251));
    ring.release(bytes.size());
  }
}

TEST(LogRing, TakesBackAHalfLineButNotWhatIsBeingWritten) {
  LogRing ring = std::move(*LogRing::make());
  const auto put = [&](std::string_view text) {
    std::memcpy(ring.space().data(), text.data(), text.size());
    ring.commit(text.size());
  };
  put("one\ntw");
  EXPECT_EQ(ring.claim(), "one\ntw");
  put("o");
  HalfLine half = ring.take_back_half_line();
  EXPECT_EQ(half.bytes, 1U);
  EXPECT_FALSE(half.ends_with_newline);
  ring.release(6);
  put("whole\nhalf");
  half = ring.take_back_half_line();
  EXPECT_EQ(half.bytes, 4U);
  EXPECT_TRUE(half.ends_with_newline);
}

}  // namespace
}  // namespace trainward::shim
