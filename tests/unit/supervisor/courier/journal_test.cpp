#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "supervisor/courier/base/courier_journal.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {
namespace {

const std::vector<std::string> tables = {
    "create table if not exists t (a integer primary key) strict"};

class JournalTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / journal_name; }
  [[nodiscard]] static std::int64_t count(Journal& journal) {
    std::int64_t rows = -1;
    EXPECT_TRUE(journal.read([&](store::Connection& db) {
      return db.each("select count(*) from t",
                     [&](const store::Row& row) { rows = row.integer(0); });
    }));
    return rows;
  }
  TemporaryFolder folder_;
};

TEST_F(JournalTest, KeepsWhatWasCommittedAndNothingElse) {
  {
    auto journal = Journal::open(file(), tables);
    ASSERT_TRUE(journal.has_value()) << journal.error().message();
    EXPECT_TRUE((*journal)->transact(
        [](store::Connection& db) { return db.run("insert into t values (1)"); }));
    const auto refused = (*journal)->transact([](store::Connection& db) -> Status {
      if (auto put = db.run("insert into t values (2)"); !put) return put;
      return fail(ErrorKind::transient, "not after all");
    });
    EXPECT_FALSE(refused.has_value());
    EXPECT_EQ(count(**journal), 1);
  }
  auto journal = Journal::open(file(), tables);
  ASSERT_TRUE(journal.has_value());
  EXPECT_EQ(count(**journal), 1);
  struct stat info {};
  ASSERT_EQ(::stat(file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
}

TEST_F(JournalTest, ThreadsTakeTurns) {
  auto journal = Journal::open(file(), tables);
  ASSERT_TRUE(journal.has_value());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&journal, i] {
      for (int j = 0; j < 25; ++j) {
        EXPECT_TRUE((*journal)->transact([&](store::Connection& db) {
          return db.run("insert into t values (?1)", std::int64_t{i * 100 + j});
        }));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count(**journal), 100);
}

TEST_F(JournalTest, ADamagedOneIsSetAsideAndMadeAnew) {
  folder_.write(journal_name, std::string(8192, 'x'));
  auto journal = Journal::open(file(), tables);
  ASSERT_TRUE(journal.has_value()) << journal.error().message();
  EXPECT_EQ(count(**journal), 0);
  int aside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (entry.path().filename().string().starts_with("courier.db.damaged-")) ++aside;
  }
  EXPECT_EQ(aside, 1);
}

TEST_F(JournalTest, APipeInItsPlaceIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  const auto journal = Journal::open(file(), tables);
  // Set aside like any other damage.
  ASSERT_TRUE(journal.has_value()) << journal.error().message();
}

}  // namespace
}  // namespace trainward::courier
