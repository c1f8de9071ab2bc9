// trainward-probe itself: options, files, exit codes.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "temporary_folder.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

class ProbeProgram : public TemporaryFolder {
 protected:
  struct Outcome {
    int code = -1;
    std::string output;  // and what it complained
  };
  Outcome run(const std::string& options) const {
    const std::string state = " --state " + (folder_ / "state").string();
    FILE* pipe = ::popen((PROBE " " + options + state + " 2>&1").c_str(), "r");
    Outcome outcome;
    std::array<char, 4096> buffer{};
    for (std::size_t got = 0; (got = ::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      outcome.output.append(buffer.data(), got);
    }
    const int status = ::pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  // Without a heartbeat nothing is waited for.
  void put_card(const std::string& width) const {
    const std::string device = "sys/bus/pci/devices/0000:c1:00.0/";
    write(device + "vendor", "0x1e52\n");
    write(device + "config", "\x52\x1e\x1e\x40");
    write(device + "current_link_width", width + "\n");
    write(device + "max_link_width", "16\n");
    write(device + "tenstorrent/tenstorrent!0/tt_serial", "0100014511708037\n");
  }
  std::string root() const { return "--root " + folder_.string(); }
  std::string file(const char* name) const { return (folder_ / name).string(); }
};

TEST_F(ProbeProgram, ExitCodesFollowTheWorstBoard) {
  EXPECT_EQ(run(root()).code, 3);  // no bus
  std::filesystem::create_directories(folder_ / "sys/bus/pci/devices");
  EXPECT_EQ(run(root()).code, 2);  // no board
  put_card("16");
  EXPECT_EQ(run(root()).code, 0);
  EXPECT_EQ(run(root() + " --deep").code, 0);
  put_card("8");
  EXPECT_EQ(run(root()).code, 1);
  std::filesystem::remove_all(folder_ / "sys/bus/pci/devices/0000:c1:00.0/tenstorrent");
  const Outcome outcome = run(root());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("NO_DRIVER"));
}

TEST_F(ProbeProgram, ARecordingIsReplayedAnywhere) {
  put_card("8");
  const Outcome live = run(root() + " --record " + file("recording"));
  const Outcome replayed = run("--replay " + file("recording"));
  EXPECT_EQ(replayed.code, live.code);
  EXPECT_EQ(replayed.output, live.output);
  EXPECT_THAT(run("--json --replay " + file("recording")).output,
              HasSubstr("{\"source\":\"replay\""));
  std::ifstream in(file("recording"));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_THAT(text, HasSubstr("current_link_width = 8\\n\n"));
  EXPECT_EQ(text.find(folder_.string()), std::string::npos);
}

TEST_F(ProbeProgram, ARecordingDoesNotCommandTheTerminal) {
  const auto recording = write("foreign",
                               "# trainward-probe recording 1\nstage = bus bus\n"
                               "list /sys/bus/pci/devices = x\nend = finished 1 \n"
                               "stage = \\u001b[2J attributes\nend = failed 1 \\u001b[2J\n");
  const Outcome outcome = run("--replay " + recording.string());
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("?[2J"));
  EXPECT_EQ(outcome.output.find('\x1b'), std::string::npos);
}

TEST_F(ProbeProgram, SaysWhatItCannotDo) {
  const auto complains = [&](const std::string& options, const char* words) {
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.code, 3) << options;
    EXPECT_THAT(outcome.output, HasSubstr(words)) << options;
  };
  complains("--replay " + file("none"), "No such file");
  complains("--replay " + write("bad", "hello").string(), "is no recording");
  complains("--record a --replay b", "--record FILE goes with");
  complains("--record a --host b", "--record FILE goes with");
  complains("--replay a --host b", "cannot be had together");
  complains("--source described", "needs --host");
  complains("--nonsense", "nonsense");
  put_card("16");
  complains(root() + " --record " + file("none") + "/recording", "No such file");
}

TEST_F(ProbeProgram, NobodyWaitsForItsOutputWhenAChildHangs) {
  put_card("16");
  const auto config = folder_ / "sys/bus/pci/devices/0000:c1:00.0/config";
  std::filesystem::remove(config);
  ASSERT_EQ(::mkfifo(config.c_str(), 0600), 0);
  const Outcome outcome = run(root());
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("nothing answered"));
}

}  // namespace
}  // namespace trainward::hwprobe
