// trainward-probe itself: options, files, exit codes.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "fake_host.hpp"
#include "shell.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

class ProbeProgram : public FakeHost {
 protected:
  using Outcome = test::ShellResult;
  // `environment`: "NAME=value "
  Outcome run(const std::string& options, const std::string& environment = "") const {
    const std::string state = " --state " + (folder_ / "state").string();
    return test::shell(environment + PROBE " " + options + state + " 2>&1");
  }
  void put_card(const std::string& width) const {
    FakeHost::put_card();
    write(device() + "current_link_width", width + "\n");
    write(device() + "max_link_width", "16\n");
  }
  // `pids`: who holds the card.
  void put_holders(const std::string& pids) const { write("proc/driver/tenstorrent/0/pids", pids); }
  // A tt-smi that does this, instead of any other.
  std::string with_tt_smi(const std::string& script) const {
    const auto program = write("bin/tt-smi", "#!/bin/sh\n" + script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return "PATH=" + (folder_ / "bin").string() + ":$PATH ";
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
  complains("--replay " + write("bad", "hello").string(), "is not a recording");
  complains("--record a --replay b", "--record FILE goes with");
  complains("--record a --host b", "--record FILE goes with");
  complains("--replay a --host b", "cannot be had together");
  complains("--source described", "needs --host");
  complains("--nonsense", "nonsense");
  put_card("16");
  complains(root() + " --record " + file("none") + "/recording", "No such file");
}

const char* const snapshot =
    R"({"device_info": [
      {"board_info": {"bus_id": "0000:c1:00.0", "board_type": "n300 L",
                      "board_id": "100014511708037"}, "telemetry": {"asic_temperature": "57.0"}},
      {"board_info": {"bus_id": "N/A", "board_type": "n300 R", "board_id": "100014511708037"},
       "telemetry": {"asic_temperature": "TEMPERATURE"}, "limits": {"thm_limit": "75"}}]})";

std::string snapshot_at(const std::string& temperature) {
  std::string text = snapshot;
  return text.replace(text.find("TEMPERATURE"), 11, temperature);
}

TEST_F(ProbeProgram, TtSmiTellsOfChipR) {
  put_card("16");
  put_holders("");
  const auto deep = [&](const std::string& script) {
    return run(root() + " --deep --record " + file("recording"), with_tt_smi(script));
  };
  const auto printing = [&](const std::string& text) {
    return "[ \"$*\" = '-s --snapshot_no_tty' ] && cat " + write("snapshot", text).string();
  };
  Outcome outcome = deep(printing(snapshot_at("38.0")));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("R OK 38°C"));
  EXPECT_EQ(run("--replay " + file("recording")).output, outcome.output);
  outcome = deep(printing(snapshot_at("81.0")));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("chip R is at 81.0 °C"));
  EXPECT_THAT(outcome.output, HasSubstr("HOT"));
  // Long, in one line, and with characters of several bytes at every place.
  const std::string spaces(100'000, ' ');
  outcome = deep(printing("{\"x\": \"" + spaces + "°°°\"," + snapshot_at("38.0").substr(1)));
  EXPECT_THAT(outcome.output, HasSubstr("R OK 38°C"));
}

TEST_F(ProbeProgram, ATtSmiThatDoesNotAnswerIsSaidAndNoFault) {
  put_card("16");
  put_holders("");
  const auto deep = [&](const std::string& script, const char* words) {
    const std::string options = root() + " --deep --record " + file("recording");
    const Outcome outcome = run(options, with_tt_smi(script));
    EXPECT_EQ(outcome.code, 0) << words;
    EXPECT_THAT(outcome.output, HasSubstr(words));
    EXPECT_THAT(outcome.output, HasSubstr("chip R is known by its links only"));
    EXPECT_EQ(run("--replay " + file("recording")).output, outcome.output);
  };
  deep("echo no driver >&2; exit 1", "tt-smi ended with 1 and without a snapshot (no driver)");
  deep("echo hello", "tt-smi ended with 0 and without a snapshot (");
  deep("kill -9 $$", "tt-smi ended with signal 9");
  deep("exec yes", "tt-smi: says more than");
  const Outcome none = run(root() + " --deep", "PATH=/nonexistent ");
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.output, HasSubstr("tt-smi is not installed"));
}

TEST_F(ProbeProgram, TtSmiIsNotAskedAboutABoardThatMayBeInUse) {
  put_card("16");
  const auto deep = [&](const char* words) {
    const std::string environment = with_tt_smi("touch " + file("asked"));
    const std::string options = root() + " --deep --record " + file("recording");
    const Outcome outcome = run(options, environment);
    EXPECT_THAT(outcome.output, HasSubstr(words));
    EXPECT_FALSE(std::filesystem::exists(file("asked")));
    EXPECT_EQ(run("--replay " + file("recording")).output, outcome.output);
  };
  deep("perhaps in use: its driver does not tell");
  put_holders("4321\n");
  deep("is in use by process 4321");
  put_holders("");
  std::filesystem::remove_all(folder_ / "sys/bus/pci/devices/0000:c1:00.0/tenstorrent");
  deep("is not to be asked: it is NO_DRIVER");
}

TEST_F(ProbeProgram, BoardsOfASimulator) {
  const std::string words = std::string("FAKE_TTSIM_WORDS=") + SOURCE_FOLDER +
                            "/tests/unit/hwprobe/samples/ttsim_n300.replay ";
  const std::string options = "--ttsim " FAKE_TTSIM " --record " + file("recording");
  const Outcome outcome = run(options, words);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("01000146118320AE"));
  EXPECT_THAT(outcome.output, HasSubstr("L OK 40°C, R OK"));
  EXPECT_EQ(run("--replay " + file("recording")).output, outcome.output);
  EXPECT_THAT(run("--json " + options, words).output, HasSubstr("{\"source\":\"simulator\""));
  // Without those words it ends at the first one that is asked for.
  EXPECT_THAT(run(options).output, HasSubstr("the stage 'registers' of the look failed"));
  const Outcome none = run("--ttsim /no/such/library.so");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.output, HasSubstr("cannot load the simulator"));
  EXPECT_EQ(run("--ttsim a --host b").code, 3);
}

TEST_F(ProbeProgram, TheSimulatorItself) {
  const char* library = std::getenv("TRAINWARD_TTSIM");
  if (library == nullptr) GTEST_SKIP() << "TRAINWARD_TTSIM names no simulator";
  const std::string options = std::string("--ttsim ") + library + " --record " + file("recording");
  for (int i = 0; i < 2; ++i) {  // the second look has counters to compare with
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("L OK 40°C, R OK"));
    EXPECT_EQ(run("--replay " + file("recording")).output, outcome.output);
  }
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
