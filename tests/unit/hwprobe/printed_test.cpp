// trainward-probe with reports of other programs, as a shell starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "fake_host.hpp"
#include "hwprobe/report.hpp"
#include "nvidia_sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::h200;
using sample::log_of;
using sample::with;
using testing::HasSubstr;

struct Output {
  int status = -1;
  std::string text;  // both streams
};

class Program : public FakeHost {
 protected:
  Output run(const std::string& arguments) const {
    Output output;
    const std::string command = fmt::format("cd '{}' && '{}/trainward-probe' {} 2>&1",
                                            folder_.string(), PROGRAMS, arguments);
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return output;
    std::array<char, 4096> block{};
    while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) {
      output.text.append(block.data(), got);
    }
    output.status = WEXITSTATUS(::pclose(pipe));
    return output;
  }
};

TEST_F(Program, ReadsNvidiaSmiFromAPipeAndFromAFile) {
  write("smi.xml", log_of(h200));
  const Output piped = run("--nvidia - --json < smi.xml");
  EXPECT_EQ(piped.status, 0);
  const auto value = parse_json(piped.text, "output");
  ASSERT_TRUE(value) << piped.text;
  const auto report = report_from_json(*value);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->source, "nvidia-smi");
  EXPECT_EQ(report->boards.at(0).verdict, Verdict::ok);
  EXPECT_EQ(run("--nvidia smi.xml --json").text, piped.text);
  const Output drawn = run("--nvidia smi.xml --draw");
  EXPECT_THAT(drawn.text, HasSubstr("| GPU  OK  35°C |"));
  EXPECT_THAT(drawn.text, testing::Not(HasSubstr("\x1b"))) << "no colours into a pipe";
}

TEST_F(Program, ExitStatusSaysHowTheBoxIs) {
  write("degraded.xml", log_of(with(h200, "current_link_width", "4x")));
  EXPECT_EQ(run("--nvidia degraded.xml").status, 1);
  EXPECT_EQ(run("--nvidia - < /dev/null").status, 3);
  EXPECT_EQ(run("--nvidia missing.xml").status, 3);
  write("none.txt", "No devices were found\n");
  EXPECT_EQ(run("--nvidia none.txt").status, 2);
  const Output both = run("--nvidia none.txt --tt-smi none.txt");
  EXPECT_EQ(both.status, 3);
  EXPECT_THAT(both.text, HasSubstr("excludes"));
  EXPECT_EQ(run("--nvidia none.txt --host x").status, 3);
}

TEST_F(Program, ReadsTtSmiAndWhatIsExpected) {
  write("snapshot.json",
        R"({"device_info": [{"board_info": {"bus_id": "0000:01:00.0", "board_type": "n150 L",
            "board_id": "10"}, "telemetry": {"asic_temperature": "40"}}]})");
  EXPECT_EQ(run("--tt-smi snapshot.json").status, 0);
  write("cluster.yaml",
        "boards: [{board_id: 16, board_type: n150, chips: [0]}, "
        "{board_id: 17, board_type: n150, chips: [1]}]\n");
  const Output output = run("--tt-smi snapshot.json --expect cluster.yaml");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, HasSubstr("board 0000000000000011 is expected and was not found"));
  write("bad.yaml", "boards: 5\n");
  const Output bad = run("--tt-smi snapshot.json --expect bad.yaml");
  EXPECT_EQ(bad.status, 3);
  EXPECT_THAT(bad.text, HasSubstr("bad.yaml:1:9: boards: expected a list"));
}

}  // namespace
}  // namespace trainward::hwprobe
