// Files that are not what they should be: each is refused with its kind, the path and a next step.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "fixture.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::store {
namespace {

using testing::HasSubstr;

class DamageTest : public StoreTest {
 protected:
  void run_sql(const char* sql) const {
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }
  void expect_refused(ErrorKind kind, const std::string& what) const {
    for (const auto& refused : {Store::open(file_), Store::open_read_only(file_)}) {
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().kind, kind) << refused.error().message();
      EXPECT_THAT(refused.error().what, HasSubstr(what));
      EXPECT_EQ(refused.error().where, file_.string());
      EXPECT_FALSE(refused.error().hint.empty());
    }
  }
};

TEST_F(DamageTest, AMissingFileIsPermanentForReaders) {
  const auto refused = Store::open_read_only(file_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_THAT(refused.error().hint, HasSubstr("start trainwardd"));
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(DamageTest, ANewerSchemaIsRefusedAndLeftAlone) {
  { Store store = open(); }
  run_sql("pragma user_version = 99");
  expect_refused(ErrorKind::permanent, "schema version 99");
}

TEST_F(DamageTest, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  run_sql("create table recipes (name text)");
  expect_refused(ErrorKind::permanent, "another program");
  run_sql("insert into recipes values ('soup')");
}

TEST_F(DamageTest, GarbageIsCorrupt) {
  std::ofstream(file_) << std::string(8192, 'x');
  expect_refused(ErrorKind::corrupt, "damaged");
}

// The check of its pages says that one could not be had: that is no word about the page.
TEST_F(DamageTest, AFileForWhichThereIsNoMemoryIsNotCalledDamaged) {
  {
    Store store = open();
    run_sql("create table filler (text text)");
    run_sql(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) "
        "insert into filler select hex(randomblob(400)) from n");
    run_sql("alter table filler rename to attempts_filler");
  }
  int refused = 0;
  for (std::int64_t spare = 0; spare < 1 << 20; spare += 4'096) {
    sqlite3_hard_heap_limit64(sqlite3_memory_used() + spare + 1);
    const auto opened = Store::open(file_);
    sqlite3_hard_heap_limit64(0);
    if (opened) break;
    ++refused;
    EXPECT_NE(opened.error().kind, ErrorKind::corrupt) << spare << ": " << opened.error().message();
  }
  EXPECT_GT(refused, 0);
}

TEST_F(DamageTest, OverwrittenPagesAreCorrupt) {
  {
    Store store = open();
    fill(store);
  }
  const auto size = std::filesystem::file_size(file_);
  std::fstream stream(file_, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(4096);
  stream << std::string(size - 4096, '\xa5');
  stream.close();
  const auto refused = Store::open(file_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt) << refused.error().message();
  EXPECT_THAT(refused.error().hint, HasSubstr("aside"));
}

TEST_F(DamageTest, ATruncatedFileIsCorrupt) {
  {
    Store store = open();
    fill(store);
  }
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
  const auto refused = Store::open(file_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt) << refused.error().message();
}

// As the courier may have it, after the daemon was killed.
TEST_F(DamageTest, AWriteAheadLogThatIsRemovedWhileAnotherProcessReadsIsCorrupt) {
  std::array<int, 2> go{};
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe2(go.data(), O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
  char word = 'x';
  const pid_t reader = ::fork();
  if (reader == 0) {
    ::close(go[1]);
    (void)!::read(go[0], &word, 1);
    const SQLite::Database database(file_.string(), SQLite::OPEN_READONLY);
    SQLite::Statement reading(database, "select count(*) from sqlite_master");
    reading.executeStep();
    (void)!::write(ready[1], &word, 1);
    (void)!::read(go[0], &word, 1);
    ::_exit(0);
  }
  {
    Store store = open();
    fill(store);
    ASSERT_EQ(::write(go[1], &word, 1), 1);
    ASSERT_EQ(::read(ready[0], &word, 1), 1);
  }
  std::filesystem::remove(file_.string() + "-wal");
  const auto refused = Store::open(file_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::corrupt) << refused.error().message();
  ::close(go[1]);
  EXPECT_EQ(::waitpid(reader, nullptr, 0), reader);
}

TEST_F(DamageTest, AnEmptyFileBecomesADatabaseForAWriterOnly) {
  std::ofstream(file_).flush();
  const auto refused = Store::open_read_only(file_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().what, HasSubstr("empty"));
  EXPECT_TRUE(must(open().programs()).empty());
}

TEST_F(DamageTest, AFolderInPlaceOfTheFileIsAnError) {
  std::filesystem::create_directory(file_);
  EXPECT_FALSE(Store::open(file_).has_value());
  EXPECT_FALSE(Store::open_read_only(file_).has_value());
}

TEST_F(DamageTest, AFullDiskIsTransientAndHeals) {
  // A page limit stands in for the disk: SQLite reports both as "full".
  auto connection = must(Connection::open(file_, Connection::Mode::read_write));
  must(connection->script("create table t (x text); pragma max_page_count = 3"));
  const std::string big(100'000, 'x');
  const auto refused = connection->run("insert into t values (?)", big);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  EXPECT_THAT(refused.error().hint, HasSubstr("free space"));
  must(connection->script("pragma max_page_count = 1000"));
  must(connection->run("insert into t values (?)", big));
}

// No wait gives it another: SQLite says "full" of that too.
TEST_F(DamageTest, ARowWithTheHighestNumberIsCorrupt) {
  const auto spoil = [this](const char* sql) {
    std::filesystem::remove(file_);
    Store store = open();
    must(store.add_event({0, epoch_ms, "trainer", 1, "launch", "attempt 1 on board 1"}));
    run_sql(sql);
    return store.add_event({0, epoch_ms, "trainer", 1, "launch", "attempt 2 on board 1"});
  };
  for (const char* sql : {"update events set id = 9223372036854775807",
                          "update sqlite_sequence set seq = 9223372036854775807"}) {
    const Status refused = spoil(sql);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
    EXPECT_THAT(refused.error().what, HasSubstr("the highest number"));
  }
}

TEST_F(DamageTest, ALockedFileIsTransient) {
  auto holder = must(Connection::open(file_, Connection::Mode::read_write));
  auto waiter = must(Connection::open(file_, Connection::Mode::read_write));
  must(waiter->script("pragma busy_timeout = 0"));
  must(holder->run("begin immediate"));
  const auto refused = waiter->run("begin immediate");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  holder->roll_back();
  must(waiter->run("begin immediate"));
}

// Another user, who may read the file but not write its folder, as with sqlite3 on a server.
TEST_F(DamageTest, AReadOnlyFolderCanStillBeRead) {
  {
    Store store = open();
    fill(store);
  }
  using std::filesystem::perms;
  const bool root = ::geteuid() == 0;
  std::filesystem::permissions(folder_, static_cast<perms>(0555));
  std::filesystem::permissions(file_, static_cast<perms>(0444));
  const pid_t child = ::fork();
  if (child == 0) {
    if (root && ::setuid(65534) != 0) ::_exit(1);
    const auto reader = Store::open_read_only(file_);
    if (!reader) ::_exit(2);
    const auto programs = reader->programs();
    ::_exit(programs && programs->size() == 2 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::filesystem::permissions(folder_, perms::owner_all);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace trainward::store
