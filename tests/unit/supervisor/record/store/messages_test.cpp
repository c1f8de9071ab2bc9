// What people are told: kept in order, taken back, and never under an id that was given before.
#include <fstream>

#include "fixture.hpp"

namespace trainward::store {
namespace {

class MessagesTest : public StoreTest {
 protected:
  static MessageRow message(std::int64_t at_ms, std::int64_t due_ms = 0) {
    MessageRow row;
    row.at_ms = at_ms;
    row.not_before_ms = due_ms == 0 ? at_ms : due_ms;
    row.program = "trainer";
    row.episode = 7;
    row.tier = "warning";
    row.kind = "crashed";
    row.title = "trainer: device_oom";
    row.message = R"({"text":"it crashed"})";
    return row;
  }
};

TEST_F(MessagesTest, AreReadInTheOrderInWhichTheyWereDecided) {
  Store store = open();
  const std::int64_t first = must(store.add_message(message(epoch_ms)));
  const std::int64_t second = must(store.add_message(message(epoch_ms)));
  const std::int64_t third = must(store.add_message(message(epoch_ms + 5, epoch_ms + 90'000)));
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  const auto all = must(store.messages_after(0, 10));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].id, first);
  EXPECT_EQ(all[2].not_before_ms, epoch_ms + 90'000);
  EXPECT_EQ(all[0].title, "trainer: device_oom");
  EXPECT_EQ(all[0].episode, 7);
  EXPECT_EQ(must(store.messages_after(second, 10)).size(), 1U);
  EXPECT_EQ(must(store.newest_messages({}, 1)).at(0).id, third);
  EXPECT_EQ(must(store.newest_messages(third, 9)).size(), 2U);
  EXPECT_EQ(must(store.messages_held_until(epoch_ms + 90'000)).size(), 1U);
  must(store.drop_message(third));
  EXPECT_TRUE(must(store.messages_after(second, 10)).at(0).dropped);
  EXPECT_TRUE(must(store.messages_held_until(epoch_ms + 90'000)).empty());
}

// Whoever sends them goes by ids and remembers the newest in a file of its own.
TEST_F(MessagesTest, AnIdIsNeverGivenTwiceEvenByAFileMadeAnew) {
  std::int64_t before = 0;
  {
    Store store = open();
    before = must(store.add_message(message(epoch_ms)));
    must(store.prune_messages(epoch_ms + 1));
    EXPECT_TRUE(must(store.messages_after(0, 10)).empty());
    EXPECT_GT(must(store.add_message(message(epoch_ms))), before) << "it was pruned, not forgotten";
  }
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file_.string() + end);
  Store anew = open();
  EXPECT_GT(must(anew.add_message(message(epoch_ms + 60'000))), before);
}

TEST_F(MessagesTest, AMessageOfATransactionThatFailedWasNeverThere) {
  Store store = open();
  {
    auto transaction = must(store.begin());
    must(store.add_message(message(epoch_ms)));
    must(store.put_episode({epoch_ms, "trainer", "crashes", "hang", "warning", epoch_ms, 0, "{}"}));
  }
  EXPECT_TRUE(must(store.messages_after(0, 10)).empty());
  EXPECT_TRUE(must(store.open_episodes("trainer")).empty());
}

TEST_F(MessagesTest, AnEpisodeIsOpenOnceForAProgramAndFamily) {
  Store store = open();
  EpisodeRow row{epoch_ms, "trainer", "crashes", "hang", "warning", epoch_ms, 0, "{}"};
  must(store.put_episode(row));
  row.cause = "device_oom";
  must(store.put_episode(row));
  ASSERT_EQ(must(store.open_episodes("trainer")).size(), 1U);
  EXPECT_EQ(must(store.open_episodes("trainer"))[0].cause, "device_oom");
  EpisodeRow second = row;
  second.id += 1;
  EXPECT_FALSE(store.put_episode(second).has_value());
  row.closed_ms = epoch_ms + 5;
  must(store.put_episode(row));
  EXPECT_TRUE(must(store.open_episodes("trainer")).empty());
  must(store.put_episode(second));
  must(store.prune_messages(epoch_ms + 6));
  EXPECT_EQ(must(store.open_episodes("trainer")).size(), 1U) << "what lasts is not pruned";
}

TEST_F(MessagesTest, WhatIsRememberedIsTheNewest) {
  Store store = open();
  must(store.put_telling("", "{\"a\":1}"));
  must(store.put_telling("", "{\"a\":2}"));
  EXPECT_EQ(must(store.telling("")), "{\"a\":2}");
  EXPECT_EQ(must(store.telling("trainer")), "");
}

// By this the daemon knows after a commit whether somebody is to be woken.
TEST_F(MessagesTest, MessagesAndCheckpointsAreThereToBeDelivered) {
  Store store = open();
  must(store.put_program({"a", "EXITED", "done", "", "", 1000, 0}));
  must(store.add_event({0, 1000, "a", 1, "launch", "launched"}));
  EXPECT_EQ(store.deliverable(), 0);
  must(store.add_message(message(epoch_ms)));
  const std::int64_t told = store.deliverable();
  EXPECT_GT(told, 0);
  must(store.put_checkpoint("a", {"/c/1", 1, 1, 10, "verified", "", 1000}));
  EXPECT_GT(store.deliverable(), told);
}

}  // namespace
}  // namespace trainward::store
