// Scripts that know nothing of Trainward and go on by themselves from a file of their own.

#include <sys/stat.h>

#include "common/base/json/json.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

class SelfResuming : public World {
 protected:
  // Saves every tenth step in a file that nobody has told of, and crashes once at step 25. What it
  // prints has steps, and nothing of a loss.
  void write_script() {
    write("train.sh", R"(
step=$(cat saved 2>/dev/null || echo 0)
while [ $step -lt 40 ]; do
  step=$((step + 1))
  echo "finished step $step"
  if [ $((step % 10)) -eq 0 ]; then echo $step > saved.new && mv saved.new saved; fi
  if [ $step -eq 25 ] && [ ! -e crashed ]; then : > crashed; exit 1; fi
done
)");
    write("run.yaml",
          "programs:\n  run:\n    command: [/bin/sh, train.sh]\n    watch:\n      log: [{match: "
          "'finished step (?P<step>\\d+)', phase: train}]\n    backoff: {first: 20ms}\n");
  }
  json::array json_of(const std::vector<std::string>& words) {
    std::vector<std::string> all = words;
    all.emplace_back("--json");
    const Output output = ctl(all);
    const auto value = parse_json(output.out, "trainwardctl");
    EXPECT_TRUE(value && value->is_array()) << output.out << output.err;
    return value && value->is_array() ? value->get_array() : json::array();
  }
};

TEST_F(SelfResuming, WhatItReallyLostIsInItsHistory) {
  write_script();
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  EXPECT_EQ(attempts().front().last_step, 25);
  EXPECT_EQ(attempts().back().first_step, 21);
  const json::array rows = json_of({"history", "run"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("steps_lost").as_int64(), 5) << "and not 25, as no checkpoint was seen";
  EXPECT_EQ(rows[0].at("steps_kept").as_int64(), 20);
  EXPECT_EQ(rows[1].at("resume_step").as_int64(), 20);
  EXPECT_EQ(rows[1].at("steps_lost").as_int64(), 0);
  EXPECT_EQ(rows[1].at("steps_replayed").as_int64(), 5);
  const Output history = ctl({"history", "run"});
  EXPECT_NE(history.out.find("1→25    20     5  exit 1"), std::string::npos) << history.out;
  const Output why = ctl({"why", "run", "1"});
  EXPECT_NE(why.out.find("1 to 25: 20 kept, 5 lost, 0 repeated"), std::string::npos) << why.out;
  const Output events = ctl({"events", "run"});
  EXPECT_NE(events.out.find("attempt 2; the program picks its own starting point"),
            std::string::npos)
      << events.out;
  EXPECT_NE(events.out.find("resumed at step 21; steps 21 to 25 are being repeated"),
            std::string::npos)
      << events.out;
  EXPECT_EQ(events.out.find("from the beginning"), std::string::npos) << events.out;
}

TEST_F(SelfResuming, WhatItDoesNotTellIsADash) {
  write_script();
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const json::array status = json_of({"status"});
  ASSERT_EQ(status.size(), 1U);
  for (const char* key : {"loss", "tokens", "tokens_per_second"}) {
    EXPECT_TRUE(status[0].at(key).is_null()) << key;
  }
  const Output report = ctl({"report", "run"});
  EXPECT_NE(report.out.find("  loss                -\n"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("  tokens              -\n"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("40 kept, 5 lost"), std::string::npos) << report.out;
}

// Nothing was started after it, so nobody knows.
TEST_F(SelfResuming, WithoutANextAttemptTheLossIsNotKnown) {
  write_script();
  write("run.yaml", read_file(path("run.yaml"), 10'000).value() + "    autorestart: never\n");
  run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_TRUE(json_of({"history", "run"}).at(0).at("steps_lost").is_null());
  const Output history = ctl({"history", "run"});
  EXPECT_NE(history.out.find("1→25     -     -  exit 1"), std::string::npos) << history.out;
}

// The next daemon goes on with the same knowledge.
TEST_F(SelfResuming, ItShowsAlsoWhenTheDaemonWasKilledBetween) {
  write_script();
  ASSERT_EQ(::mkfifo(path("go").c_str(), 0600), 0);
  write("train.sh",
        "[ -e crashed ] && read line < go\n" + read_file(path("train.sh"), 10'000).value());
  const pid_t first = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return attempts().size() == 2 && attempts().back().pid > 0; });
  const Output before = ctl({"history", "run"});
  EXPECT_NE(before.out.find("1→25     -     -  exit 1"), std::string::npos) << before.out;
  ::kill(first, SIGKILL);
  end_of(first);
  const pid_t second = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return ctl({"pid"}).code == 0; });
  ASSERT_TRUE(open_file(path("go"), O_WRONLY).has_value());
  EXPECT_EQ(end_of(second), 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  EXPECT_EQ(json_of({"history", "run"}).at(0).at("steps_lost").as_int64(), 5);
}

TEST_F(SelfResuming, CheckSaysWhatWillNotBeSeen) {
  write_script();
  const Output checked = ctl({"config", "check", "run.yaml"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.out.find("I can't see checkpoints"), std::string::npos) << checked.out;
}

}  // namespace
}  // namespace trainward::e2e
