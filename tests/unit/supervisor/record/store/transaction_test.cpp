// Atomicity: all of a transaction or nothing, also when the process dies; readers never wait.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "fixture.hpp"

namespace trainward::store {
namespace {

const ProgramRow program{"trainer", "STARTING", "", "", "", 1};

TEST_F(StoreTest, WithoutCommitNothingStays) {
  Store store = open();
  {
    auto transaction = must(store.begin());
    must(store.put_program(program));
    EXPECT_EQ(must(store.programs()).size(), 1U);
  }
  EXPECT_TRUE(must(store.programs()).empty());
  {
    auto transaction = must(store.begin());
    must(store.put_program(program));
    must(transaction.commit());
  }
  EXPECT_EQ(must(store.programs()).size(), 1U);
}

TEST_F(StoreTest, AMovedTransactionStillEndsOnce) {
  Store store = open();
  {
    auto transaction = must(store.begin());
    must(store.put_program(program));
    Store::Transaction moved = std::move(transaction);
    must(moved.commit());
  }
  EXPECT_EQ(must(store.programs()).size(), 1U);
}

TEST_F(StoreTest, TransactionsDoNotNest) {
  Store store = open();
  auto outer = must(store.begin());
  EXPECT_FALSE(store.begin().has_value());
  must(store.put_program(program));
  must(outer.commit());
  EXPECT_EQ(must(store.programs()).size(), 1U);
}

TEST_F(StoreTest, DocumentsCanBeReadInsideATransaction) {
  Store store = open();
  fill(store);
  auto transaction = must(store.begin());
  must(store.put_program({"trainer", "EXITED", "done", "", "", 2, 0}));
  EXPECT_EQ(must(store.report_json("trainer")).at("state").as_string(), "EXITED");
  must(transaction.commit());
  EXPECT_EQ(must(store.program("trainer"))->state, "EXITED");
}

TEST_F(StoreTest, AReaderSeesTheLastCommitWhileAWriterWrites) {
  Store store = open();
  must(store.put_program(program));
  const Store reader = must(Store::open_read_only(file_));
  auto transaction = must(store.begin());
  must(store.put_program({"other", "RUNNING", "", "", "", 2, 0}));
  EXPECT_EQ(must(reader.programs()).size(), 1U);
  must(transaction.commit());
  EXPECT_EQ(must(reader.programs()).size(), 2U);
}

TEST_F(StoreTest, AReaderCannotWrite) {
  { Store store = open(); }
  Store reader = must(Store::open_read_only(file_));
  const auto refused = reader.put_program(program);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
}

TEST_F(StoreTest, AProcessKilledInATransactionLeavesTheStateBefore) {
  {
    Store store = open();
    fill(store);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    auto store = Store::open(file_);
    if (!store) ::_exit(1);
    auto transaction = store->begin();
    if (!transaction || !store->put_program({"trainer", "FATAL", "", "", "", 9, 0}) ||
        !store->set_journal_offset("trainer", 3, 99)) {
      ::_exit(2);
    }
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);

  EXPECT_EQ(must(must(Store::open_read_only(file_)).program("trainer"))->state, "RUNNING");
  const Store store = open();
  EXPECT_EQ(must(store.program("trainer"))->state, "RUNNING");
  EXPECT_EQ(must(store.journal_offset("trainer", 3)), 0);
}

}  // namespace
}  // namespace trainward::store
