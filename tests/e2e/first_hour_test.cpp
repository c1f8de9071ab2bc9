// A command without a configuration, a configuration without a name, one that init or import wrote.

#include "world.hpp"

namespace trainward::e2e {
namespace {

class FirstHour : public World {};

TEST_F(FirstHour, ACommandRunsWithoutAFile) {
  write("train.sh", "echo \"{$1}\" >> ran.txt\n");
  const Output output = run("trainwardd", {"--", "sh", "train.sh", "a b"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_EQ(read_file(path("ran.txt"), 100).value_or(""), "{a b}\n");
  EXPECT_EQ(state("train"), "EXITED");
  // Somebody types it again: it runs again.
  EXPECT_EQ(run("trainwardd", {"--", "sh", "train.sh", "c"}).code, 0);
  EXPECT_EQ(read_file(path("ran.txt"), 100).value_or(""), "{a b}\n{c}\n");
  EXPECT_EQ(attempts("train").size(), 2U);
}

TEST_F(FirstHour, ACommandThatFailsIsTriedAgain) {
  write("train.sh", "test -e once && exit 0; touch once; exit 1\n");
  const Output output =
      run("trainwardd", {"--set", "programs.train.backoff.first=0s", "--", "sh", "train.sh"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_EQ(attempts("train").size(), 2U);
}

TEST_F(FirstHour, CtrlCEndsACommandAndItsDaemon) {
  const pid_t daemon = start_daemon({"--", "/usr/bin/tail", "-f", "/dev/null"});
  worker_pid("tail");
  EXPECT_EQ(ctl({"status"}).code, 0);
  ::kill(daemon, SIGINT);
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_GT(attempts("tail").front().ended_ms, 0);
}

TEST_F(FirstHour, ADaemonOfACommandRestartsInPlace) {
  const pid_t daemon = start_daemon({"--", "/usr/bin/tail", "-f", "/dev/null"});
  worker_pid("tail");
  EXPECT_EQ(ctl({"reread"}).out, "No config updates to processes\n");
  EXPECT_EQ(ctl({"reload"}).code, 0) << daemon_log();
  EXPECT_EQ(ctl({"status", "tail"}).code, 0);
  EXPECT_EQ(attempts("tail").size(), 1U) << "the program is left alone";
  ask_to_end(daemon);
  end_of(daemon);
}

TEST_F(FirstHour, WithoutAFileTheUsualOneIsTaken) {
  const Output nothing = run("trainwardd", {});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("trainwardctl init"), std::string::npos) << nothing.err;
  write("trainward.yaml", "command: [/bin/true]\n");
  const Output output = run("trainwardd", {"--once"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_NE(output.err.find("one program, 'main'"), std::string::npos) << output.err;
  EXPECT_EQ(state("main"), "EXITED");
}

TEST_F(FirstHour, DashesWantACommandAndNoFile) {
  EXPECT_EQ(run("trainwardd", {"--"}).code, 2);
  EXPECT_EQ(run("trainwardd", {"run.yaml", "--", "true"}).code, 2);
  EXPECT_EQ(run("trainwardd", {"--", ""}).code, 78);
  const Output words = run("trainwardd", {"python3", "train.py"});
  EXPECT_EQ(words.code, 2);
  EXPECT_NE(words.err.find("trainwardd -- python3 train.py"), std::string::npos) << words.err;
  write("train.py", "print('step 1')\n");
  for (const std::vector<std::string>& typed :
       {std::vector<std::string>{"train.py"}, std::vector<std::string>{"--", "train.py"}}) {
    const Output script = run("trainwardd", typed);
    EXPECT_EQ(script.code, 2);
    EXPECT_NE(script.err.find("trainwardd -- python3 train.py"), std::string::npos) << script.err;
  }
}

TEST_F(FirstHour, WhatInitWritesRuns) {
  write("train.sh", "exit 0\n");
  ASSERT_EQ(ctl({"init", "train.sh"}).code, 0);
  const Output output = run("trainwardd", {"--once"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_EQ(state("train"), "EXITED");
}

TEST_F(FirstHour, WhatImportWritesRuns) {
  write("s.conf",
        "[program:w]\ncommand=sh -c 'echo $WORD %(process_num)d > out%(process_num)d'\n"
        "numprocs=2\nprocess_name=%(program_name)s%(process_num)d\nenvironment=WORD=\"a\"\n"
        "autorestart=false\n");
  ASSERT_EQ(ctl({"config", "import", "s.conf"}).code, 0);
  const Output output = run("trainwardd", {"--once"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_EQ(read_file(path("out1"), 100).value_or(""), "a 1\n");
}

// The file that the command names is not there: told at the first end, given up at the second.
TEST_F(FirstHour, AMissingFileIsAWrongCommand) {
  write("train.sh", "cat missing.json\n");
  const Output output =
      run("trainwardd", {"--set", "programs.train.backoff.first=0s", "--", "sh", "train.sh"});
  EXPECT_EQ(output.code, 78) << output.out << output.err;
  EXPECT_EQ(attempts("train").size(), 2U);
  EXPECT_EQ(attempts("train").back().cause, "config");
  EXPECT_NE(output.out.find("attention"), std::string::npos) << output.out;
  EXPECT_NE(ctl({"why", "train"}).out.find("missing.json"), std::string::npos);
}

TEST_F(FirstHour, AFullDiskNeedsSomebodyWhileItIsTriedAgain) {
  write("train.sh", "echo 'OSError: [Errno 28] No space left on device' >&2; exit 1\n");
  const pid_t daemon =
      start_daemon({"--set", "programs.train.backoff.first=1h", "--", "sh", "train.sh"});
  wait_until([&] { return state("train") == "BACKOFF"; });
  const Output status = ctl({"status"});
  EXPECT_EQ(status.code, 3);
  EXPECT_NE(status.out.find("Free space on it"), std::string::npos) << status.out;
  EXPECT_NE(ctl({"why"}).out.find("Free space on it"), std::string::npos);
  EXPECT_NE(daemon_log().find("your action is needed: a disk is full"), std::string::npos)
      << daemon_log();
  EXPECT_EQ(attempts("train").front().cause, "disk");
  ask_to_end(daemon);
  end_of(daemon);
}

// A program that trained and now only says that it waits is ended, and goes on.
TEST_F(FirstHour, WhoeverOnlySaysThatItWaitsIsEnded) {
  write("train.sh",
        "echo x >> n\n"
        "case $(wc -l < n) in\n"
        "1) for i in 1 2 3; do echo \"step $i loss 2.$i\"; done; exit 1;;\n"
        "2) while :; do echo 'Still waiting... {0: True}'; sleep 0.1; done;;\n"
        "esac\n"
        "echo 'step 4 loss 2.0'\n");
  std::vector<std::string> words;
  for (const char* setting : {"backoff.first=0s", "deadlines.silence=1s", "deadlines.load=1s",
                              "deadlines.compile=1s", "deadlines.train_floor=1s"}) {
    words.insert(words.end(), {"--set", std::string("programs.train.") + setting});
  }
  words.insert(words.end(), {"--", "sh", "train.sh"});
  const Output output = run("trainwardd", words);
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  ASSERT_EQ(attempts("train").size(), 3U);
  EXPECT_EQ(attempts("train")[1].cause, "hang");
}

}  // namespace
}  // namespace trainward::e2e
