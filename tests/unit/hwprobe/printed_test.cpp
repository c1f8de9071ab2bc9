// trainward-probe with reports of other programs, as a shell starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fake_host.hpp"
#include "hwprobe/report/report.hpp"
#include "nvidia_sample.hpp"
#include "shell.hpp"

namespace trainward::hwprobe {
namespace {

using sample::h200;
using sample::log_of;
using sample::with;
using testing::HasSubstr;

class Program : public FakeHost {
 protected:
  test::ShellResult run(const std::string& arguments) const {
    return test::shell(fmt::format("cd '{}' && '{}/trainward-probe' {} 2>&1", folder_.string(),
                                   PROGRAMS, arguments));
  }
};

TEST_F(Program, ReadsNvidiaSmiFromAPipeAndFromAFile) {
  write("smi.xml", log_of(h200));
  const test::ShellResult piped = run("--nvidia - --json < smi.xml");
  EXPECT_EQ(piped.code, 0);
  const auto value = parse_json(piped.output, "output");
  ASSERT_TRUE(value) << piped.output;
  const auto report = report_from_json(*value);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->source, "nvidia-smi");
  EXPECT_EQ(report->boards.at(0).verdict, Verdict::ok);
  EXPECT_EQ(run("--nvidia smi.xml --json").output, piped.output);
  const test::ShellResult drawn = run("--nvidia smi.xml --draw");
  EXPECT_THAT(drawn.output, HasSubstr("| GPU  OK  35°C |"));
  EXPECT_THAT(drawn.output, testing::Not(HasSubstr("\x1b"))) << "no colours into a pipe";
}

TEST_F(Program, ExitStatusSaysHowTheBoxIs) {
  write("degraded.xml", log_of(with(h200, "current_link_width", "4x")));
  EXPECT_EQ(run("--nvidia degraded.xml").code, 1);
  EXPECT_EQ(run("--nvidia - < /dev/null").code, 3);
  EXPECT_EQ(run("--nvidia missing.xml").code, 3);
  write("none.txt", "No devices were found\n");
  EXPECT_EQ(run("--nvidia none.txt").code, 2);
  const test::ShellResult both = run("--nvidia none.txt --tt-smi none.txt");
  EXPECT_EQ(both.code, 3);
  EXPECT_THAT(both.output, HasSubstr("excludes"));
  EXPECT_EQ(run("--nvidia none.txt --host x").code, 3);
}

TEST_F(Program, ReadsTtSmiAndWhatIsExpected) {
  write("snapshot.json",
        R"({"device_info": [{"board_info": {"bus_id": "0000:01:00.0", "board_type": "n150 L",
            "board_id": "10"}, "telemetry": {"asic_temperature": "40"}}]})");
  EXPECT_EQ(run("--tt-smi snapshot.json").code, 0);
  write("cluster.yaml",
        "boards: [{board_id: 16, board_type: n150, chips: [0]}, "
        "{board_id: 17, board_type: n150, chips: [1]}]\n");
  const test::ShellResult output = run("--tt-smi snapshot.json --expect cluster.yaml");
  EXPECT_EQ(output.code, 1);
  EXPECT_THAT(output.output, HasSubstr("board 0000000000000011 is expected and was not found"));
  write("bad.yaml", "boards: 5\n");
  const test::ShellResult bad = run("--tt-smi snapshot.json --expect bad.yaml");
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.output, HasSubstr("bad.yaml:1:9: boards: expected a list"));
}

}  // namespace
}  // namespace trainward::hwprobe
