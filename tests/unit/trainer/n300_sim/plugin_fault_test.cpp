// The script's faults: a hang, an abort, a lost link, a dead chip. Those that end a process happen
// in a child.
#include <gmock/gmock.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "n300_sim/plugin_harness.hpp"

namespace trainward::n300::test {
namespace {

using testing::HasSubstr;

// Steps of a forward pass and an update, until one fails; how many there were.
int train(int steps, std::int64_t threads = 1) {
  const auto client = make_client(threads);
  const auto forward = client->compile(plus_one("block_forward"));
  const auto update = client->compile(plus_one("update_block"));
  const pjrt::Buffer argument = upload(*client, Floats(1024, 0));
  for (int done = 0; done < steps; ++done) {
    if (!run(*forward, argument) || !run(*update, argument)) return done;
  }
  return steps;
}

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  ~Pipe() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  std::string read_to_end() {
    ::close(std::exchange(ends[1], -1));
    std::string text;
    char c = 0;
    while (::read(ends[0], &c, 1) == 1) text += c;
    return text;
  }
  std::array<int, 2> ends{};
};

// A child that trains, with its stderr in `err`; it ends with the number of its steps.
pid_t start(
    const Pipe& err, int steps, const std::function<void()>& first = [] {}) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::dup2(err.ends[1], STDERR_FILENO);
  ::close(err.ends[1]);
  first();
  ::_exit(train(steps));
}

int ended(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(PluginFault, AbortEndsTheProcessAtItsStep) {
  const World world(R"({"abort": {"attempt": 1, "after_steps": 2}})", 1);
  Pipe err;
  const pid_t child = start(err, 5);
  EXPECT_THAT(err.read_to_end(), HasSubstr("terminate called after throwing"));
  const int status = ended(child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);

  Pipe quiet;
  const pid_t early = start(quiet, 2);
  EXPECT_EQ(quiet.read_to_end(), "");
  const int before = ended(early);
  ASSERT_TRUE(WIFEXITED(before));
  EXPECT_EQ(WEXITSTATUS(before), 2);
}

TEST(PluginFault, AFaultOfAnotherAttemptDoesNotStrike) {
  const World world(R"({"abort": {"attempt": 1}, "hang": {"attempt": 3}})", 2);
  EXPECT_EQ(train(3), 3);
}

TEST(PluginFault, AHangIsReportedWhenTheRuntimeHasATimeout) {
  const World world(R"({"hang": {"attempt": 1, "after_steps": 1}})", 1, "", "0.01");
  Pipe err;
  const pid_t child = start(err, 5);
  EXPECT_THAT(err.read_to_end(),
              HasSubstr("TIMEOUT: device timeout, potential hang detected, the device is"));
  const int status = ended(child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
}

int ticks = 0;
int tick_pipe = -1;

void tick(int /*signal*/) {
  if (++ticks == 5) (void)!::write(tick_pipe, "t", 1);
}

TEST(PluginFault, AHangWithoutOneLastsUntilItIsKilled) {
  const World world(R"({"hang": {"attempt": 1}})", 1);
  Pipe err;
  Pipe heart;
  const pid_t child = start(err, 1, [&] {
    // Ticks go on while the program hangs, as signal handlers do.
    tick_pipe = heart.ends[1];
    struct sigaction action {};
    action.sa_handler = tick;
    ::sigaction(SIGVTALRM, &action, nullptr);
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval each{{0, 50'000}, {0, 50'000}};
    ::setitimer(ITIMER_REAL, &each, nullptr);
  });
  char c = 0;
  ASSERT_EQ(::read(heart.ends[0], &c, 1), 1);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  const int status = ended(child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it returned";
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(PluginFault, ALostLinkIsErrorThirteenAndTheEndOfTheClient) {
  const World world(R"({"ethernet_loss": {"attempt": 4, "after_steps": 2}})", 4);
  const std::string said = printed_by([] { EXPECT_EQ(train(5), 2); });
  EXPECT_THAT(said, HasSubstr("Timeout waiting for Ethernet core service remote IO request."));
}

std::string sum_of_two() {
  return program(
      "block_backward",
      [](graph::Builder& b) -> std::vector<graph::Value> {
        const graph::Value x = b.parameter("x", {graph::Element::f32, {1024}});
        return {b.append(graph::op::AllReduce{2}, {x})};
      },
      2);
}

pjrt::abi::Error* compile(const pjrt::abi::Api& api, pjrt::abi::Client* client, std::string text) {
  pjrt::abi::Program code{};
  code.code = text.data();
  code.code_size = text.size();
  code.format = "mlir";
  code.format_size = 4;
  pjrt::abi::Client_Compile_Args args{};
  args.client = client;
  args.program = &code;
  return api.Client_Compile(&args);
}

TEST(PluginFault, ADeadSecondChipIsMissed) {
  const World world(R"({"dead_second_chip": true})");
  {
    const auto client = make_client();
    EXPECT_EQ(client->device_count(), 1U);
    const auto executable = client->compile(plus_one("block_forward"));
    ASSERT_TRUE(executable) << executable.error().text;
    EXPECT_TRUE(run(*executable, upload(*client, Floats(1024, 0))));
  }
  const pjrt::abi::Api& api = plugin_api();
  pjrt::abi::Client_Create_Args created{};
  ASSERT_EQ(api.Client_Create(&created), nullptr);
  const std::string said = printed_by([&] {
    pjrt::abi::Error* error = compile(api, created.client, sum_of_two());
    ASSERT_NE(error, nullptr);
    pjrt::abi::Error_Destroy_Args destroyed{sizeof(destroyed), nullptr, error};
    api.Error_Destroy(&destroyed);
  });
  EXPECT_THAT(said, HasSubstr("Did not find edge with expected number of East-West chips 2"));
  pjrt::abi::Client_Destroy_Args destroyed{sizeof(destroyed), nullptr, created.client};
  EXPECT_EQ(api.Client_Destroy(&destroyed), nullptr);
}

TEST(PluginFault, AScriptThatCannotBeReadIsTold) {
  const World world(R"({"hung": {"attempt": 1}})");
  const auto plugin = pjrt::Plugin::open(SIM_PLUGIN);
  ASSERT_TRUE(plugin);
  const auto client = pjrt::Client::create(*plugin);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, pjrt::ErrorCode::invalid_argument);
  EXPECT_THAT(client.error().text, HasSubstr("TRAINWARD_SIMULATE.hung"));
}

}  // namespace
}  // namespace trainward::n300::test
