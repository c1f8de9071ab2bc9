// Boards for programs: meshes on several of them, probe commands, resets that are looked after.
#include <gmock/gmock.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// a ═ b ═ c ═ d, each with its two chips.
std::string four_boards(bool cabled = true) {
  const std::string letters = "abcd";
  std::string text = "boards:\n";
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto serial = [&](std::size_t at) { return std::string(16, letters[at]); };
    text += "  - serial: \"" + serial(i) + "\"\n    bus_id: \"0000:" + letters[i] + "1:00.0\"\n" +
            "    chips: [{id: L, temperature_c: 50.0}, {id: R, temperature_c: 40.0}]\n"
            "    links: [{from: \"L:8\", to: \"R:0\"}, {from: \"L:9\", to: \"R:1\"}";
    if (cabled && i + 1 < letters.size()) {
      text += ", {from: \"L:14\", to: \"" + serial(i + 1) + "/L:15\"}, {from: \"R:6\", to: \"" +
              serial(i + 1) + "/R:7\"}";
    }
    text += "]\n";
  }
  return text;
}

class Boards : public World {
 protected:
  // A command that needs boards; `script` is for the shell, in the folder.
  std::string program_text(const std::string& name, const std::string& script,
                           const std::string& more) {
    write(name + ".sh", script);
    return "  " + name + ":\n    command: [sh, " + path(name + ".sh").string() +
           ", '{devices}', '{serial}']\n    directory: " + folder_.path().string() +
           "\n    backoff: {first: 20ms, max: 20ms}\n" + more;
  }
  std::string text_of(const std::string& name) {
    return read_file(path(name), 1 << 16).value_or("");
  }
  std::string events(const std::string& name = "run") { return ctl({"events", name}).out; }
};

// Neither ends before the other has begun, so they run at the same time or never end.
TEST_F(Boards, TwoSquaresOnFourBoardsRunAtOnce) {
  write("host.yaml", four_boards());
  const std::string board = "    board: {host: host.yaml, mesh_shape: [2, 2]}\n";
  const auto script = [](const std::string& own, const std::string& other) {
    return "printf '%s' \"$TRAINWARD_PLAN\" > " + own + ".plan\n" +
           "echo \"$1 $2 $TT_VISIBLE_DEVICES\" > " + own + ".tmp\nmv " + own + ".tmp " + own +
           ".txt\nuntil [ -e " + other + ".txt ]; do :; done\n";
  };
  write("run.yaml", "programs:\n" + program_text("one", script("one", "two"), board) +
                        program_text("two", script("two", "one"), board));
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_THAT(attempts("one"), SizeIs(1));
  EXPECT_THAT(attempts("two"), SizeIs(1));
  const std::string ab =
      "0000:a1:00.0,0000:b1:00.0 aaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbb "
      "0000:a1:00.0,0000:b1:00.0\n";
  const std::string cd =
      "0000:c1:00.0,0000:d1:00.0 cccccccccccccccc,dddddddddddddddd "
      "0000:c1:00.0,0000:d1:00.0\n";
  const std::string one = text_of("one.txt");
  const std::string two = text_of("two.txt");
  EXPECT_TRUE((one == ab && two == cd) || (one == cd && two == ab)) << one << two;
  const auto plan = parse_json(text_of("one.plan"), "plan").value();
  EXPECT_EQ(plan.at("boards").as_array().size(), 2U);
  EXPECT_EQ(plan.at("board").at("serial"), plan.at("boards").at(0).at("serial"));
  EXPECT_EQ(plan.at("mesh").at("shape"), json::value({2, 2}));
  EXPECT_EQ(plan.at("mesh").at("chips").as_array().size(), 4U);
}

TEST_F(Boards, WhatIsInUseIsWaitedForAndCostsNoAttempt) {
  write("host.yaml", four_boards());
  const std::string board = "    board: {host: host.yaml, mesh_shape: [2, 4]}\n";
  // Whoever comes first holds all boards until the other has been told so.
  const std::string script =
      "if mkdir first 2>/dev/null; then until grep -q 'is in use' daemon.log; do :; done; fi\n";
  write("run.yaml",
        "programs:\n" + program_text("one", script, board) + program_text("two", script, board));
  EXPECT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0) << daemon_log();
  EXPECT_THAT(attempts("one"), SizeIs(1));
  EXPECT_THAT(attempts("two"), SizeIs(1));
}

TEST_F(Boards, AQuarantineIsShownWithItsCauseAndEndedByHand) {
  write("host.yaml", "boards:\n" + healthy_board("{}"));
  write("run.yaml",
        "programs:\n" + program_text("run",
                                     "[ -e again ] && exit 0\ntouch again\n"
                                     "echo 'failed to initialize FW' >&2\nexit 1\n",
                                     "    quarantine: {faults: 1}\n    board: {host: host.yaml, "
                                     "mesh_shape: [1, 2]}\n"));
  const std::string serial = "010001451170c0c4";
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return daemon_log().find("no place to run") != std::string::npos; });
  EXPECT_THAT(daemon_log(), HasSubstr("board " + serial + " is in quarantine until 20"));
  const std::string shown = ctl({"boards"}).out;
  EXPECT_THAT(shown, AllOf(HasSubstr("QUARANTINE"), HasSubstr("device_lost"))) << shown;
  EXPECT_NE(ctl({"boards", "--release"}).code, 0);
  const Output released = ctl({"boards", serial, "--release"});
  EXPECT_EQ(released.out, "board " + serial + " may be used again, from the next look on\n")
      << released.err;
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_THAT(attempts(), SizeIs(2));
  EXPECT_THAT(ctl({"boards"}).out, Not(HasSubstr("QUARANTINE")));
  EXPECT_THAT(ctl({"events"}).out, HasSubstr("board " + serial + " is let out of quarantine"));
  EXPECT_NE(ctl({"boards", serial, "--release"}).code, 0) << "nobody is there to ask";
}

TEST_F(Boards, AMissingLinkIsNamedAndComesToBeUsed) {
  write("host.yaml", four_boards(false));
  write("run.yaml",
        "programs:\n" +
            program_text("run", "exit 0\n", "    board: {host: host.yaml, mesh_shape: [2, 2]}\n"));
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return daemon_log().find("no place to run") != std::string::npos; });
  EXPECT_THAT(daemon_log(), HasSubstr("a mesh of 2x2 cannot be placed: no link from "));
  write("host.yaml", four_boards());
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_THAT(attempts(), SizeIs(1));
}

TEST_F(Boards, AProgramOnOneBoardIsToldWhatItAlwaysWas) {
  write("host.yaml", four_boards());
  write("run.yaml",
        "programs:\n" + program_text("run",
                                     "printf '%s' \"$TRAINWARD_PLAN\" > plan; echo \"$1\" > txt\n",
                                     "    board: {host: host.yaml}\n"));
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  EXPECT_EQ(text_of("txt"), "0000:a1:00.0\n");
  EXPECT_THAT(text_of("plan"), AllOf(HasSubstr(R"("board":{"serial":"aaaaaaaaaaaaaaaa")"),
                                     Not(HasSubstr("boards")), Not(HasSubstr("mesh"))));
}

// ---- probe commands ----

constexpr const char* two_gpus = R"(<?xml version="1.0" ?>
<nvidia_smi_log>
  <driver_version>580.1</driver_version>
  <attached_gpus>2</attached_gpus>
  <gpu id="00000000:C1:00.0">
    <product_name>NVIDIA H200</product_name>
    <uuid>GPU-82e06c4f-0000-0000-0000-000000000001</uuid>
    <pci><pci_bus_id>00000000:C1:00.0</pci_bus_id></pci>
    <processes><process_info><pid>4711</pid><type>C</type></process_info></processes>
  </gpu>
  <gpu id="00000000:C2:00.0">
    <product_name>NVIDIA H200</product_name>
    <uuid>GPU-82e06c4f-0000-0000-0000-000000000002</uuid>
    <pci><pci_bus_id>00000000:C2:00.0</pci_bus_id></pci>
  </gpu>
</nvidia_smi_log>
)";

TEST_F(Boards, AGpuThatNobodyUsesIsFoundByAProbeCommand) {
  write("smi.xml", two_gpus);
  // trainward-probe is found without its folder.
  write("run.yaml",
        "programs:\n" +
            program_text("run", "echo \"$1 $2\" > txt\n",
                         "    board: {}\n    probe_command: [sh, -c, 'trainward-probe --nvidia - "
                         "--json < \"$0\"', " +
                             path("smi.xml").string() + "]\n"));
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_EQ(text_of("txt"), "0000:c2:00.0 GPU-82e06c4f-0000-0000-0000-000000000002\n");
  EXPECT_THAT(events(), HasSubstr("in use by process 4711"));
}

TEST_F(Boards, WhatAProbeCommandDoesWrongIsToldAndTriedAgain) {
  const std::string report =
      R"({"source":"mine","evidence":[],"boards":[{"serial":"X1","verdict":"OK","chips":[],)"
      R"("links":[],"evidence":[]}]})";
  write("good.json", report);
  // One way to fail after the other, and then as it should be; 3 is a code of our own probe.
  write("probe.sh", "cd " + folder_.path().string() +
                        "\nif mkdir p1 2>/dev/null; then echo lost >&2; exit 1; fi\n"
                        "if mkdir p2 2>/dev/null; then cat good.json; exit 4; fi\n"
                        "if mkdir p3 2>/dev/null; then yes; fi\n"
                        "if mkdir p4 2>/dev/null; then echo '{\"boards\": 3}'; exit 0; fi\n"
                        "if mkdir p5 2>/dev/null; then cat good.json; kill -9 $$; fi\n"
                        "if mkdir p6 2>/dev/null; then sed 's/X1/..\\/X1/' good.json; exit 0; fi\n"
                        "cat good.json; exit 3\n");
  write("run.yaml", "programs:\n" + program_text("run", "exit 0\n",
                                                 "    board: {}\n    probe_command: [sh, " +
                                                     path("probe.sh").string() + "]\n"));
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_THAT(attempts(), SizeIs(1));
  EXPECT_EQ(attempts().back().board, "X1");
  EXPECT_THAT(events(), AllOf(HasSubstr("sh: lost"), HasSubstr("gave no report (exit code 4)"),
                              HasSubstr("printed more than 4 MiB"), HasSubstr("printed no report"),
                              HasSubstr("gave no report (exit code -1)"),
                              HasSubstr("its serial number is invalid")));
}

// ---- resets ----

class Resets : public Boards {
 protected:
  // The first attempt loses the link, the second ends well.
  int run_with(const std::string& reset, const std::string& board, const std::string& more = "",
               const std::string& settle = "200ms") {
    write("reset.sh", "cd " + folder_.path().string() + "\necho \"$*\" >> resets.txt\n" + reset);
    const std::string script =
        "if [ \"$TRAINWARD_ATTEMPT\" = 1 ]; then\n"
        "  echo 'Timeout waiting for Ethernet core service remote IO request' >&2; exit 1\nfi\n";
    write("run.yaml",
          "programs:\n" + program_text("run", script,
                                       board + "    deadlines: {settle: " + settle + "}\n" +
                                           "    reset_command: [sh, " + path("reset.sh").string() +
                                           ", " + words_ + "]\n" + more));
    return end_of(start_daemon({"--once", "run.yaml"}));
  }

  std::string words_ = "'{serial}', '{bus_id}'";
};

TEST_F(Resets, WhatWasFoundAfterwardsIsTold) {
  write("host.yaml", four_boards());
  EXPECT_EQ(run_with("exit 0\n", "    board: {host: host.yaml}\n"), 0) << daemon_log();
  EXPECT_EQ(text_of("resets.txt"), "aaaaaaaaaaaaaaaa 0000:a1:00.0\n");
  EXPECT_THAT(events(), HasSubstr("OK, 2 chips, 4 links up"));
}

TEST_F(Resets, AllBoardsOfAMeshOneAfterTheOther) {
  write("host.yaml", four_boards());
  EXPECT_EQ(run_with("exit 0\n", "    board: {host: host.yaml, mesh_shape: [2, 2]}\n"), 0)
      << daemon_log();
  EXPECT_EQ(text_of("resets.txt"),
            "aaaaaaaaaaaaaaaa 0000:a1:00.0\nbbbbbbbbbbbbbbbb 0000:b1:00.0\n");
  EXPECT_THAT(events(), HasSubstr("boards aaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbb were reset"));
}

TEST_F(Resets, AllBoardsOfAMeshTogetherWhereTheCommandTakesLists) {
  words_ = "'{serials}', '{devices}'";
  write("host.yaml", four_boards());
  EXPECT_EQ(run_with("exit 0\n", "    board: {host: host.yaml, mesh_shape: [2, 2]}\n"), 0)
      << daemon_log();
  EXPECT_EQ(text_of("resets.txt"), "aaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbb 0000:a1:00.0,0000:b1:00.0\n");
  EXPECT_THAT(events(), HasSubstr("boards aaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbb were reset"));
}

// As `tt-smi -r` is known to do.
TEST_F(Resets, SuccessWithTheBoardGoneIsNone) {
  write("host.yaml", four_boards());
  write("gone.yaml", "boards:\n" + healthy_board("{}"));
  EXPECT_EQ(
      run_with("cp gone.yaml host.new; mv host.new host.yaml\n", "    board: {host: host.yaml}\n"),
      0)
      << daemon_log();
  EXPECT_THAT(events(), HasSubstr("the board is not what it was"));
  EXPECT_THAT(events(), HasSubstr("it is gone from the bus"));
  EXPECT_EQ(attempts().back().board, "010001451170c0c4") << "it goes on with another one";
}

TEST_F(Resets, LinksThatComeBackLateAreWaitedFor) {
  const std::string link = R"({"from":"L:9","to":"R:1","up":true})";
  const std::string whole =
      R"({"source":"mine","evidence":[],"boards":[{"serial":"X1","verdict":"OK","chips":[],)"
      R"("links":[)" +
      link + R"(],"evidence":[]}]})";
  std::string down = whole;
  down.replace(down.find("true"), 4, "false");
  write("whole.json", whole);
  write("down.json", down);
  // Up for the launch and before the reset, down for the first look after it.
  write("probe.sh", "cd " + folder_.path().string() +
                        "\nif mkdir p1 2>/dev/null; then cat whole.json; "
                        "elif mkdir p2 2>/dev/null; then cat whole.json; "
                        "elif mkdir p3 2>/dev/null; then cat down.json; "
                        "else cat whole.json; fi\n");
  EXPECT_EQ(run_with("exit 0\n",
                     "    board: {}\n    probe_command: [sh, " + path("probe.sh").string() + "]\n",
                     "", "15s"),
            0)
      << daemon_log();
  EXPECT_THAT(events(), HasSubstr("OK, 0 chips, 1 link up"));
  EXPECT_THAT(events(), Not(HasSubstr("could not be reset")));
}

TEST_F(Resets, ABoardThatSomebodyHoldsIsNotTakenFromUnderIt) {
  const std::string free =
      R"({"source":"mine","evidence":[],"boards":[{"serial":"X1","verdict":"OK","chips":[],)"
      R"("links":[],"evidence":[]}]})";
  std::string held = free;
  held.replace(held.find("\"OK\""), 4, R"("NOC_HUNG","holders":[4711])");
  write("free.json", free);
  write("held.json", held);
  // Free for the first attempt, held when it is to be reset, free once that was told.
  write("probe.sh", "cd " + folder_.path().string() +
                        "\nif grep -q 'process 4711' daemon.log; then cat free.json; "
                        "elif mkdir first 2>/dev/null; then cat free.json; "
                        "else cat held.json; fi\n");
  EXPECT_EQ(run_with("exit 0\n",
                     "    board: {}\n    probe_command: [sh, " + path("probe.sh").string() + "]\n"),
            0)
      << daemon_log();
  EXPECT_EQ(text_of("resets.txt"), "");
  EXPECT_THAT(events(),
              HasSubstr("board X1 could not be reset: board X1 is in use by process 4711"));
}

}  // namespace
}  // namespace trainward::e2e
