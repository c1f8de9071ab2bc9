// A crash becomes what people are told, in the transaction that records it: once, whenever the
// daemon dies.
#include <cstdlib>

#include "world.hpp"

namespace trainward::e2e {
namespace {

class NewsTest : public World {
 protected:
  // It says why and fails, `more` is added to the file; given up after the third attempt.
  void write_failing(const std::string& more = "") {
    write("fail.sh", "echo 'RuntimeError: the widget is bent' >&2\nexit 3\n");
    write("run.yaml", "notify: {hold: 1h" + more +
                          "}\nprograms:\n  run:\n    command: [sh, fail.sh]\n"
                          "    budgets: {attempts_without_progress: 3}\n"
                          "    backoff: {first: 10ms, max: 20ms}\n");
  }
  std::vector<store::MessageRow> told() {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    if (!store) return {};
    auto rows = store->messages_after(0, 1000).value();
    std::erase_if(rows, [](const store::MessageRow& row) { return row.dropped; });
    return rows;
  }
  std::int64_t open_episodes() {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    return std::ssize(store->open_episodes("run").value());
  }
};

TEST_F(NewsTest, WhatIsGivenUpIsOneMessageWithItsLastLines) {
  write_failing();
  EXPECT_EQ(end_of(start_daemon({"--fail-on-fatal", "run.yaml"})), 93) << daemon_log();
  const auto rows = told();
  ASSERT_EQ(rows.size(), 1U) << "the first crash and the loop were not due yet";
  EXPECT_EQ(rows[0].kind, "gave_up");
  EXPECT_EQ(rows[0].tier, "critical");
  EXPECT_EQ(rows[0].program, "run");
  EXPECT_NE(rows[0].title.find("given up (FATAL)"), std::string::npos) << rows[0].title;
  EXPECT_NE(rows[0].message.find("the widget is bent"), std::string::npos) << rows[0].message;
  EXPECT_NE(rows[0].message.find("trainwardctl start run"), std::string::npos) << rows[0].message;
  EXPECT_EQ(open_episodes(), 1);
}

TEST_F(NewsTest, LinesOfTheLogStayWhereNobodyWantsThem) {
  write_failing(", log_lines: 0");
  EXPECT_EQ(end_of(start_daemon({"--fail-on-fatal", "run.yaml"})), 93) << daemon_log();
  const auto rows = told();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NE(rows[0].message.find("\"lines\":[]"), std::string::npos) << rows[0].message;
}

// What was given up before is no reason to end: somebody has just started the daemon to look at it.
TEST_F(NewsTest, ADaemonThatEndedOfItCanBeStartedAgain) {
  write_failing();
  EXPECT_EQ(end_of(start_daemon({"--fail-on-fatal", "run.yaml"})), 93) << daemon_log();
  const pid_t daemon = start_daemon({"--fail-on-fatal", "run.yaml"});
  wait_until([&] { return ctl({"pid"}).code == 0; });
  ctl({"start", "run"});  // which may have failed again before it answers
  EXPECT_EQ(end_of(daemon), 93) << daemon_log();
  const auto rows = told();
  ASSERT_EQ(rows.size(), 2U) << "given up again is told again";
  EXPECT_EQ(rows[1].kind, "gave_up");
  EXPECT_EQ(rows[0].episode, rows[1].episode) << "one episode";
}

TEST_F(NewsTest, ADaemonThatDiesAroundItsCommitsTellsOnce) {
  int killed = 0;
  for (const std::string point : {"turn.before_commit", "turn.after_commit"}) {
    for (int passage = 2; passage <= 26; passage += 2) {
      const std::string fault = point + ":" + std::to_string(passage);
      SCOPED_TRACE(fault);
      std::filesystem::remove_all(path(".trainward"));
      write_failing();
      ::setenv("TRAINWARD_FAULT", fault.c_str(), 1);
      const pid_t daemon = start_daemon({"--fail-on-fatal", "run.yaml"});
      ::unsetenv("TRAINWARD_FAULT");
      const int end = end_of(daemon);
      ASSERT_TRUE(end == 93 || end == -SIGKILL) << end << "\n" << daemon_log();
      if (end == -SIGKILL) ++killed;
      if (state() != "FATAL") {
        ASSERT_EQ(end_of(start_daemon({"--fail-on-fatal", "run.yaml"})), 93) << daemon_log();
      }
      const auto rows = told();
      ASSERT_EQ(rows.size(), 1U);
      EXPECT_EQ(rows[0].kind, "gave_up");
      EXPECT_EQ(open_episodes(), 1);
    }
  }
  EXPECT_GT(killed, 10);
}

}  // namespace
}  // namespace trainward::e2e
