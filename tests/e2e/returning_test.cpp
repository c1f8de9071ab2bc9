// Programs that leave the configuration and come back: one folder with a file for each experiment.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Trains to the step that `to` names and is asked to go on from its newest checkpoint.
constexpr const char* script = R"(
step=0
[ -n "$1" ] && step=$(cat "$1")
mkdir -p $2
while [ $step -lt $(cat $2.to) ]; do
  step=$((step + 1))
  echo "finished step $step"
  if [ $((step % 10)) -eq 0 ]; then echo $step > $2/new && mv $2/new $2/step-$step.bin; fi
done
)";

class Returning : public World {
 protected:
  void write_program(const std::string& name) {
    write("train.sh", script);
    write(name + ".yaml", "programs:\n  " + name +
                              ":\n    command: [/bin/sh, train.sh, '{checkpoint}', " + name +
                              "]\n    backoff: {first: 20ms}\n    watch:\n"
                              "      log: [{match: 'finished step (?P<step>\\d+)', phase: train}]\n"
                              "      checkpoints: [" +
                              name + "/step-*.bin]\n");
  }
  Output train(const std::string& name, int to) {
    write(name + ".to", std::to_string(to));
    return run("trainwardd", {"--once", name + ".yaml"});
  }
};

TEST_F(Returning, AFileThatIsRunAgainGoesOnWithItsHistory) {
  write_program("a");
  write_program("b");
  EXPECT_EQ(train("a", 20).code, 0);
  ASSERT_EQ(attempts("a").size(), 1U);
  const std::string nonce = attempts("a").front().nonce;
  EXPECT_EQ(train("b", 30).code, 0);
  EXPECT_EQ(train("a", 40).code, 0);
  ASSERT_EQ(attempts("a").size(), 2U);
  EXPECT_EQ(attempts("a").front().nonce, nonce) << "what was, stays";
  EXPECT_EQ(attempts("a").front().last_step, 20);
  EXPECT_EQ(attempts("a").back().number, 2);
  EXPECT_EQ(attempts("a").back().resume_step, 20);
  EXPECT_EQ(attempts("a").back().last_step, 40);
  EXPECT_THAT(ctl({"ckpt", "list", "a"}).out, testing::Not(HasSubstr("corrupt")));
}

TEST_F(Returning, RemoveAndAddGoOnAsWell) {
  write_program("a");
  write("a.to", "20");
  const pid_t daemon = start_daemon({"a.yaml"});
  wait_until([&] { return state("a") == "EXITED"; });
  EXPECT_EQ(ctl({"remove", "a"}).out, "a: removed process group\n");
  write("a.to", "40");
  EXPECT_EQ(ctl({"add", "a"}).out, "a: added process group\n");
  wait_until([&] { return attempts("a").size() == 2 && state("a") == "EXITED"; });
  EXPECT_EQ(attempts("a").back().resume_step, 20);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

// With a daemon and without: three experiments from one folder, and none of them looks lost.
TEST_F(Returning, OneThatIsNoLongerThereIsAnsweredFor) {
  write_program("a");
  write_program("b");
  EXPECT_EQ(train("a", 20).code, 0);
  EXPECT_EQ(train("b", 30).code, 0);
  const auto expect_answers = [&] {
    EXPECT_THAT(ctl({"report", "a"}).out, HasSubstr("20 kept"));
    EXPECT_THAT(ctl({"history", "a"}).out, HasSubstr("done"));
    EXPECT_THAT(ctl({"top", "a", "--once"}).out, HasSubstr("20"));
    const Output status = ctl({"status", "a"});
    EXPECT_THAT(status.out, HasSubstr("no longer in the configuration"));
    EXPECT_THAT(ctl({"status"}).out, testing::Not(HasSubstr("no longer in")));
    EXPECT_EQ(ctl({"status", "c"}).code, 4);
    EXPECT_NE(ctl({"report", "c"}).code, 0);
    EXPECT_THAT(ctl({"why", "a"}).out, HasSubstr("attempt 1"));
  };
  expect_answers();
  const pid_t daemon = start_daemon({"b.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  wait_until([&] { return ctl({"status", "b"}).code != 4; });
  expect_answers();
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

}  // namespace
}  // namespace trainward::e2e
