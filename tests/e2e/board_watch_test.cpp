// A described board that gets hot while a program runs on it: samples, events, evidence.
#include "world.hpp"

namespace trainward::e2e {
namespace {

class BoardWatch : public World {
 protected:
  void SetUp() override {
    write("host.yaml", "boards:\n" + healthy_board("{}") +
                           "    watch:\n"
                           "      - {samples: 3}\n"
                           "      - {temperature_c: 72, samples: 3, clock_mhz: 600}\n"
                           "      - {temperature_c: 79, clock_mhz: 500, heartbeat: frozen}\n");
    ASSERT_EQ(::mkfifo(path("go").c_str(), 0600), 0);
  }
  void configure(const std::string& every) {
    write("run.yaml",
          "programs:\n  run:\n    command: [/bin/sh, -c, 'read line < go; exit 3']\n"
          "    autorestart: never\n"
          "    board: {host: host.yaml, sample_every: " +
              every + "}\n    watch: {cpu_time: false}\n");
  }
  json::array document(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Output output = ctl(std::move(arguments));
    auto value = parse_json(output.out, "trainwardctl");
    return value && value->is_array() ? value->get_array() : json::array();
  }
  json::array samples() { return document({"boards", "010001451170c0c4"}); }
  bool told(const std::string& part) { return ctl({"events", "run"}).out.find(part) < npos; }
  void let_it_end() {
    const auto go = open_file(path("go"), O_WRONLY);
    ASSERT_TRUE(go.has_value());
  }
  static constexpr auto npos = std::string::npos;
};

TEST_F(BoardWatch, WhatItMeasuresIsRecordedShownAndEvidenceOfTheEnd) {
  configure("100ms");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return told("its limit is 75"); });
  EXPECT_TRUE(told("throttles, 600 MHz instead of 1000 MHz at 72")) << daemon_log();
  const auto taken = samples();
  ASSERT_GE(taken.size(), 5U);
  EXPECT_EQ(taken[0].at("temperature_c").as_double(), 50);
  EXPECT_EQ(taken[0].at("program").as_string(), "run");
  EXPECT_EQ(taken[0].at("attempt").as_int64(), 1);
  const auto boards = document({"boards"});
  ASSERT_EQ(boards.size(), 1U);
  EXPECT_EQ(boards[0].at("temperature_c").as_double(), 79);
  const std::string table = ctl({"boards"}).out;
  EXPECT_NE(table.find("79 °C"), npos) << table;
  EXPECT_NE(ctl({"boards", "010001451170c0c4", "-n", "2"}).out.find("500 MHz"), npos);
  EXPECT_EQ(ctl({"boards", "ff"}).code, 1);

  // It stands still for five seconds before anybody is told.
  wait_until([&] { return told("heartbeat stands still"); });
  let_it_end();
  wait_until([&] { return !attempts().empty() && attempts().front().ended_ms > 0; });
  EXPECT_EQ(attempts().front().cause, "device_lost");
  const std::string why = ctl({"why", "run"}).out;
  EXPECT_NE(why.find("board watch"), npos) << why;
  EXPECT_NE(why.find("heartbeat stands still"), npos) << why;
  EXPECT_NE(ctl({"report", "run"}).out.find("up to 79 °C"), npos);
  ask_to_end(daemon);
  end_of(daemon);
  // Also when nobody runs.
  EXPECT_NE(ctl({"boards"}).out.find("79 °C"), npos);
}

TEST_F(BoardWatch, ADaemonThatTakesTheWorkerOverWatchesOn) {
  configure("100ms");
  pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return !samples().empty(); });
  ::kill(daemon, SIGKILL);
  end_of(daemon);
  const auto before = samples().size();
  daemon = start_daemon({"run.yaml"});
  wait_until([&] { return samples().size() > before; });
  EXPECT_EQ(attempts().size(), 1U);
  let_it_end();
  wait_until([&] { return attempts().front().ended_ms > 0; });
  ask_to_end(daemon);
  end_of(daemon);
}

TEST_F(BoardWatch, ZeroSwitchesItOff) {
  configure("0s");
  const pid_t daemon = start_daemon({"run.yaml"});
  worker_pid();
  let_it_end();
  wait_until([&] { return attempts().front().ended_ms > 0; });
  EXPECT_TRUE(samples().empty());
  EXPECT_FALSE(std::filesystem::exists(path(".trainward/watch")));
  ask_to_end(daemon);
  end_of(daemon);
}

}  // namespace
}  // namespace trainward::e2e
