// The worker itself, without a supervisor: killed wherever it happens to be, as often as it likes,
// it ends with the weights of a run that nobody disturbed, bit for bit.
//
// The test is the other end of the worker's socket: whatever it does next, it does on a message.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

#include "checkpoint/checkpoint.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "common/protocol/protocol.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

constexpr std::int64_t steps = 40;

// One process of the worker and what it says.
class Listener {
 public:
  Listener(Fd socket, pid_t pid)
      : socket_(std::move(socket)),
        pid_(pid),
        process_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

  // Nothing once it has ended and everything it said was heard.
  std::optional<Message> next() {
    for (;;) {
      std::array<char, max_message_bytes> bytes{};
      const auto size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size >= 0) return parse_message({bytes.data(), static_cast<std::size_t>(size)});
      if (ended_) return std::nullopt;
      std::array<pollfd, 2> waited{{{socket_.get(), POLLIN, 0}, {process_.get(), POLLIN, 0}}};
      (void)::poll(waited.data(), waited.size(), -1);
      ended_ = (waited[1].revents & POLLIN) != 0;
    }
  }
  // The first message with `key` and a number of at least `low`; false: it ended without one.
  bool hears(std::string_view key, std::int64_t low) {
    while (const auto message = next()) {
      if (const auto value = find_int(*message, key); value && *value >= low) {
        heard_ = *value;
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::int64_t heard() const { return heard_; }
  void send(int signal) const { ::kill(pid_, signal); }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  Fd socket_;
  pid_t pid_;
  Fd process_;
  bool ended_ = false;
  std::int64_t heard_ = 0;
};

class ResumeProperty : public World {
 protected:
  ResumeProperty() { trace_.emplace(__FILE__, __LINE__, fmt::format("seed {}", seed_)); }

  std::int64_t any(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return any(0, 1) == 1; }

  // Everything that a resumed run must repeat: dropout's masks, the parts of a batch, the order of
  // the data, rates that change.
  json::object any_training() {
    return {{"model", coin() ? "femto_1x" : "gpt2_femto"},
            {"steps", steps},
            {"batch_size", any(1, 3)},
            {"block_size", any(8, 40)},
            {"learning_rate", 0.01},
            {"schedule", coin() ? "cosine" : "constant"},
            {"warmup_steps", any(0, 5)},
            {"accumulation", 2},
            {"dropout", 0.2},
            {"recompute", coin()},
            {"tie_weights", coin()},
            {"seed", any(0, 1'000'000)},
            {"evaluate_every", coin() ? 7 : 0},
            {"evaluation_blocks", 2},
            {"checkpoint_every", any(1, 6)},
            {"checkpoint_async", coin()},
            {"data", json::array{path("text.txt").string()}}};
  }
  void write_config(const json::object& training) {
    const json::object config{{"training_config", training},
                              {"device_config", {{"device", "cpu"}, {"threads", any(1, 2)}}}};
    what_ = json::serialize(config);
    write("config.json", what_);
  }

  Listener train(const std::string& checkpoints) {
    const std::string name = path(fmt::format("socket-{}", ++starts_)).string();
    auto socket = bind_datagram(name, 0600);
    EXPECT_TRUE(socket) << socket.error().message();
    // No other thread reads the environment.
    ::setenv(env::socket, name.c_str(), 1);
    const pid_t pid = start({program("trainward-worker"), "train", "--config", "config.json",
                             "--checkpoint-dir", checkpoints, "--resume", "auto"});
    return {std::move(*socket), pid};
  }
  // With no more disturbances.
  void finish(const std::string& checkpoints) {
    Listener worker = train(checkpoints);
    finish(worker);
  }
  void finish(Listener& worker) {
    while (worker.next()) {
    }
    EXPECT_EQ(end_of(worker.pid()), 0) << daemon_log();
  }

  void expect_same_end(const std::string& straight, const std::string& disturbed) {
    const std::string last = fmt::format("step-{:08}", steps);
    const auto one = checkpoint::load(path(straight) / last);
    const auto other = checkpoint::load(path(disturbed) / last);
    ASSERT_TRUE(one) << one.error().message();
    ASSERT_TRUE(other) << other.error().message();
    EXPECT_EQ(one->state().loss, other->state().loss);
    EXPECT_EQ(one->state().tokens, other->state().tokens);
    expect_same(one->model(), other->model());
    expect_same(one->optimizer(), other->optimizer());
  }

  std::uint64_t seed_ =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::mt19937_64 random_{seed_};
  std::string what_;  // the configuration, for messages
  int starts_ = 0;

 private:
  static void expect_same(const std::vector<checkpoint::TensorView>& one,
                          const std::vector<checkpoint::TensorView>& other) {
    ASSERT_FALSE(one.empty());
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].info.name, other[i].info.name);
      EXPECT_TRUE(std::ranges::equal(one[i].bytes, other[i].bytes)) << one[i].info.name;
    }
  }

  std::optional<testing::ScopedTrace> trace_;
};

TEST_F(ResumeProperty, KilledAnywhereItEndsTheSame) {
  int killed = 0;
  for (int round = 0; round < 6; ++round) {
    write_config(any_training());
    SCOPED_TRACE(fmt::format("round {}: {}", round, what_));
    const std::string straight = fmt::format("straight-{}", round);
    const std::string disturbed = fmt::format("disturbed-{}", round);
    finish(straight);
    for (auto kills = any(1, 4); kills > 0; --kills) {
      Listener worker = train(disturbed);
      // Early in the first life, anywhere in the others; then a few messages on, which may be in
      // the middle of loading, saving or evaluating.
      const bool loading = kills == 1 && coin();
      if (!loading) (void)worker.hears("STEP", any(1, steps / 2));
      for (auto more = any(0, 6); more > 0; --more) (void)worker.next();
      worker.send(SIGKILL);
      const int code = end_of(worker.pid());
      ASSERT_TRUE(code == -SIGKILL || code == 0) << code << '\n' << daemon_log();
      killed += code == 0 ? 0 : 1;
    }
    finish(disturbed);
    expect_same_end(straight, disturbed);
  }
  EXPECT_GE(killed, 3) << "the worker was too quick to be killed";
}

TEST_F(ResumeProperty, StoppedItSavesAndGoesOn) {
  write_config(any_training());
  SCOPED_TRACE(what_);
  finish("straight");
  Listener worker = train("disturbed");
  const std::int64_t at = any(1, steps / 3);
  ASSERT_TRUE(worker.hears("STEP", at)) << daemon_log();
  worker.send(SIGTERM);
  std::int64_t last = 0;
  std::int64_t saved = 0;
  while (const auto message = worker.next()) {
    last = std::max(last, find_int(*message, "STEP").value_or(0));
    saved = std::max(saved, find_int(*message, "CHECKPOINT_STEP").value_or(0));
  }
  ASSERT_EQ(end_of(worker.pid()), exit_code::try_again) << daemon_log();
  EXPECT_GE(saved, std::max(at, last)) << "every step it has done is kept";
  Listener next = train("disturbed");
  ASSERT_TRUE(next.hears("RESUMED_STEP", 0)) << daemon_log();
  EXPECT_EQ(next.heard(), saved);
  finish(next);
  expect_same_end("straight", "disturbed");
}

TEST_F(ResumeProperty, AskedToSaveItSavesAndTheNextGoesOnFromThere) {
  json::object training = any_training();
  training["checkpoint_every"] = 1000;
  write_config(training);
  SCOPED_TRACE(what_);
  finish("straight");
  Listener worker = train("disturbed");
  const std::int64_t at = any(1, steps / 3);
  ASSERT_TRUE(worker.hears("STEP", at)) << daemon_log();
  worker.send(SIGUSR1);
  ASSERT_TRUE(worker.hears("CHECKPOINT_STEP", 1)) << daemon_log();
  const std::int64_t saved = worker.heard();
  EXPECT_GE(saved, at);
  worker.send(SIGKILL);
  (void)end_of(worker.pid());
  Listener next = train("disturbed");
  ASSERT_TRUE(next.hears("RESUMED_STEP", 0)) << daemon_log();
  // Unless it had come to its end before it was killed.
  EXPECT_TRUE(next.heard() == saved || next.heard() == steps) << next.heard();
  finish(next);
  expect_same_end("straight", "disturbed");
}

}  // namespace
}  // namespace trainward::e2e
