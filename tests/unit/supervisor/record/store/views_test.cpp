// The views, read as a `sqlite3` user reads them.
#include <SQLiteCpp/SQLiteCpp.h>

#include "fixture.hpp"

namespace trainward::store {
namespace {

class ViewsTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    Store store = open();
    fill(store);
  }
  // Rows as lines of "a|b|c", like the sqlite3 shell prints them.
  [[nodiscard]] std::string query(const char* sql) const {
    SQLite::Database database(file_.string(), SQLite::OPEN_READONLY);
    SQLite::Statement statement(database, sql);
    std::string out;
    while (statement.executeStep()) {
      for (int i = 0; i < statement.getColumnCount(); ++i) {
        if (i > 0) out += '|';
        out += statement.getColumn(i).getString();
      }
      out += '\n';
    }
    return out;
  }
};

TEST_F(ViewsTest, Status) {
  EXPECT_EQ(query("select state, attempts, last_step from v_status order by name"),
            "STOPPED|0|0\nRUNNING|3|40\n");
  EXPECT_EQ(query("select name, reason, kept_step, round(first_loss, 2), round(last_loss, 2), "
                  "tokens, changed_at, board from v_status where name = 'trainer'"),
            "trainer|training|36|5.65|3.7|40000|2025-11-20T21:48:20.000Z|0000000000000001\n");
  EXPECT_EQ(
      query("select changed_at is null, first_loss is null from v_status where name = 'idle'"),
      "1|1\n");
}

TEST_F(ViewsTest, AttemptsCountKeptLostAndReplayed) {
  EXPECT_EQ(query("select attempt, resume_step, first_step, last_step, kept_step, steps_kept, "
                  "steps_lost, steps_replayed from v_attempts order by attempt"),
            "1|0|1|25|24|24|1|0\n"
            "2|24|25|30|28|4|2|1\n"
            "3|28|29|40|36|8|0|2\n");
}

// A last checkpoint that nobody saw, or that has no number, is no loss of a run that is done; and
// the same steps done twice from the beginning are as many once.
TEST_F(ViewsTest, WhatIsDoneIsKept) {
  Store store = open();
  ASSERT_TRUE(store.put_program({"done", "EXITED", "", "", "", epoch_ms, 600}));
  AttemptRow row;
  row.program = "done";
  row.number = 1;
  row.started_ms = epoch_ms;
  row.ended_ms = epoch_ms + 60'000;
  row.first_step = 1;
  row.last_step = 600;
  row.kept_step = 590;
  row.exit_code = 0;
  row.cause = "done";
  ASSERT_TRUE(store.put_attempt(row));
  EXPECT_EQ(query("select steps_kept, steps_lost from v_attempts where program = 'done'"),
            "600|0\n");
  EXPECT_EQ(int_or(store.report_json("done").value(), "steps_kept", 0), 600);
  ASSERT_TRUE(store.put_program({"twice", "EXITED", "", "", "", epoch_ms, 0}));
  row.program = "twice";
  row.told_to_resume = false;
  row.kept_step = 0;
  row.last_step = 1490;
  ASSERT_TRUE(store.put_attempt(row));
  row.number = 2;
  ASSERT_TRUE(store.put_attempt(row));
  EXPECT_EQ(int_or(store.report_json("twice").value(), "steps_kept", 0), 1490);
}

TEST_F(ViewsTest, AttemptsSayHowTheyEnded) {
  EXPECT_EQ(query("select attempt, exit, cause, duration_s, evidence from v_attempts "
                  "order by attempt"),
            "1|exit 1|device_oom|60.0|Out of Memory: DRAM\n"
            "2|SIGKILL|hang|90.0|killed by us\n"
            "3||||\n");
  EXPECT_EQ(query("select started_at, ended_at from v_attempts where attempt = 1"),
            "2025-11-20T21:45:00.500Z|2025-11-20T21:46:00.500Z\n");
}

TEST_F(ViewsTest, LedgerSharesAddUp) {
  EXPECT_EQ(query("select phase, cause, seconds, share from v_ledger order by seconds desc, phase"),
            "stepping||60.0|0.6\n"
            "loading||20.0|0.2\n"
            "probing||10.0|0.1\n"
            "down|hang|5.0|0.05\n"
            "replaying|device_oom|5.0|0.05\n");
}

TEST_F(ViewsTest, GoodputNamesTheThief) {
  EXPECT_EQ(query("select * from v_goodput"), "trainer|60.0|100.0|0.6|loading|20.0|3\n");
}

TEST_F(ViewsTest, EventsAndSteps) {
  EXPECT_EQ(query("select id, at, program, kind from v_events"),
            "1|2025-11-20T21:43:20.000Z|trainer|launch\n"
            "2|2025-11-20T21:43:20.001Z||daemon\n"
            "3|2025-11-20T21:43:20.002Z|trainer|exit\n");
  EXPECT_EQ(query("select step, attempt, times_done from v_steps where step in (24, 25, 30)"),
            "24|1|1\n25|2|2\n30|3|2\n");
}

TEST_F(ViewsTest, EvaluationsAreThoseOfTheNewestAttempt) {
  EXPECT_EQ(query("select step, attempt, loss, at, times_done from v_evaluations order by step"),
            "12|1|5.25|2025-11-20T21:45:10.000Z|1\n"
            "24|2|4.5|2025-11-20T21:47:00.000Z|2\n"
            "36|3|4.25|2025-11-20T21:48:38.000Z|1\n");
  EXPECT_EQ(query("select evaluated_step, evaluation_loss from v_status where name = 'trainer'"),
            "36|4.25\n");
  EXPECT_EQ(query("select evaluated_step is null, evaluation_loss is null from v_status "
                  "where name = 'idle'"),
            "1|1\n");
}

TEST_F(ViewsTest, SamplesAreThoseOfTheNewestAttempt) {
  EXPECT_EQ(query("select step, attempt, prompt, replace(answer, char(10), '/'), tokens, ended_by, "
                  "cut, at from v_samples where prompt = 'q' order by step"),
            "12|1|q|x|2|length|0|2025-11-20T21:45:00.012Z\n"
            "24|2|q|y/again|2|length|0|2025-11-20T21:46:40.024Z\n"
            "36|3|q|z|2|length|0|2025-11-20T21:48:20.036Z\n");
}

TEST_F(ViewsTest, EveryTableIsStrict) {
  EXPECT_EQ(query("select name from pragma_table_list where type = 'table' and not strict "
                  "and name not like 'sqlite_%'"),
            "");
  EXPECT_EQ(query("select user_version, application_id from pragma_user_version, "
                  "pragma_application_id"),
            "14|1414682436\n");
}

}  // namespace
}  // namespace trainward::store
