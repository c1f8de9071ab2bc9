// A folder with a configuration, a text to learn, and the real programs in it.
//
// Waiting is waiting for something: a process's end, a row in the run database. Where only polling
// can tell, it is bounded by the test's own time limit.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/processes/process_files.hpp"
#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::e2e {

struct Output {
  int code = -1;  // -N: ended by signal N
  std::string out;
  std::string err;
};

class World : public ::testing::Test {
 protected:
  World() {
    std::string text;
    for (int i = 0; i < 400; ++i) {
      text += "The quick brown fox number " + std::to_string(i) + " jumps over the lazy dog. ";
    }
    write("text.txt", text);
  }
  ~World() override {
    for (const pid_t pid : started_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    // A daemon that was killed has left shims; they hold the program leases.
    for (const auto& [name, attempt] : attempts_of_all()) {
      if (attempt.ended_ms == 0 && attempt.pid > 0)
        ::kill(static_cast<pid_t>(attempt.pid), SIGKILL);
    }
  }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return folder_.path() / name;
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(make_folders(path(name).parent_path()).has_value());
    ASSERT_TRUE(write_file_durably(path(name), text).has_value());
  }

  // A board of a described host with which nothing is wrong but what `simulate` says.
  static std::string healthy_board(const std::string& simulate) {
    return R"(  - serial: "010001451170c0c4"
    type: n300
    bus_id: "0000:41:00.0"
    chips: [{id: L, temperature_c: 50.0, heartbeat: alive}, {id: R, temperature_c: 40.0, heartbeat: alive}]
    links: [{from: "L:8", to: "R:0", up: true, retrains: 0}, {from: "L:9", to: "R:1", up: true, retrains: 0}]
    simulate: )" +
           simulate + "\n";
  }

  // For device_config: on the simulated N300, which is then the host's board.
  inline static const std::string simulated = ", plugin: sim_n300, options: {threads: 1}";

  // A model that trains in milliseconds. `device` is added to device_config, `training` to
  // training_config, `more` to the program.
  // So small a model jumps about when it is trained for thousands of steps; that is no fault here.
  void write_training(const std::string& file, int steps, const std::string& device,
                      const std::string& more = "", const std::string& training = "",
                      const std::string& model = "femto_1x") {
    write(file, "programs:\n  run:\n    training_config: {model: " + model +
                    ", steps: " + std::to_string(steps) +
                    ", batch_size: 2, block_size: 16, learning_rate: 0.01, checkpoint_every: 5, "
                    "data: [text.txt]" +
                    training + "}\n    device_config: {threads: 1" + device +
                    "}\n    deadlines: {train_floor: 2s, stop: 20s}\n    backoff: {first: "
                    "20ms}\n    rollback: {loss_spike: false}\n" +
                    more);
  }

  static std::string program(const std::string& name) { return std::string(PROGRAMS) + "/" + name; }

  pid_t spawn(const std::vector<std::string>& argv, int out, int err) {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(out, STDOUT_FILENO);
      ::dup2(err, STDERR_FILENO);
      if (::chdir(folder_.path().c_str()) == 0) ::execv(words[0], words.data());
      ::_exit(127);
    }
    return pid;
  }

  static int wait_for(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // A program of ours by its name, any other by its path.
  Output run(const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), name.starts_with('/') ? name : program(name));
    auto out = open_file(path(".out"), O_RDWR | O_CREAT | O_TRUNC);
    auto err = open_file(path(".err"), O_RDWR | O_CREAT | O_TRUNC);
    Output output;
    output.code = wait_for(spawn(arguments, out->get(), err->get()));
    output.out = read_file(path(".out"), 16 << 20).value();
    output.err = read_file(path(".err"), 16 << 20).value();
    return output;
  }
  Output ctl(std::vector<std::string> arguments) {
    return run("trainwardctl", std::move(arguments));
  }

  // A daemon in the background; its output goes to daemon.log.
  pid_t start_daemon(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program("trainwardd"));
    return start(arguments);
  }
  // Any command in the background, with its output in daemon.log; killed with the test.
  pid_t start(const std::vector<std::string>& arguments) {
    auto log = open_file(path("daemon.log"), O_WRONLY | O_CREAT | O_APPEND);
    const pid_t pid = spawn(arguments, log->get(), log->get());
    started_.push_back(pid);
    return pid;
  }
  // Asks a daemon to end once it knows what that means: before, the signal would be its death.
  void ask_to_end(pid_t daemon) {
    wait_until([&] {
      const auto stat = host::read_stat("/", daemon);
      return catches(daemon, SIGTERM) || !stat || stat->ended();
    });
    ::kill(daemon, SIGTERM);
  }
  int end_of(pid_t daemon) {
    std::erase(started_, daemon);
    return wait_for(daemon);
  }
  std::string daemon_log() { return read_file(path("daemon.log"), 16 << 20).value_or(""); }

  void wait_until(const std::function<bool()>& condition) {
    while (!condition()) ::poll(nullptr, 0, 5);
  }
  std::vector<store::AttemptRow> attempts(const std::string& name = "run") {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    if (!store) return {};
    return store->attempts(name).value_or(std::vector<store::AttemptRow>{});
  }
  // The newest attempt's process, once it is on record; its shim is another. Never 0, whose signals
  // would reach the tests themselves.
  pid_t worker_pid(const std::string& name = "run") {
    pid_t pid = 0;
    wait_until([&] {
      const auto all = attempts(name);
      pid = all.empty() ? 0 : static_cast<pid_t>(all.back().pid);
      return pid > 0;
    });
    return pid;
  }
  std::string state(const std::string& name = "run") {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    if (!store) return {};
    auto row = store->program(name);
    return row && *row ? (*row)->state : "";
  }
  std::int64_t last_step() {
    const auto all = attempts();
    return all.empty() ? 0 : all.back().last_step;
  }
  static bool catches(pid_t pid, int signal) {
    const auto status = read_file(fmt::format("/proc/{}/status", pid), 64 * 1024).value_or("");
    constexpr std::string_view field = "SigCgt:";
    const auto at = status.find(field);
    if (at == std::string::npos) return false;
    return (std::stoull(status.substr(at + field.size()), nullptr, 16) >> (signal - 1) & 1U) != 0;
  }
  // The shim says so when the machine has no memory controller it may use.
  static bool daemon_cannot_limit(const Output& output) {
    return (output.out + output.err).find("memory limit cannot be set") != std::string::npos;
  }
  std::string digest() {
    const Output output = ctl({"ckpt", "digest", ".trainward/runs/run/checkpoints"});
    EXPECT_EQ(output.code, 0) << output.err;
    return output.out;
  }

  TemporaryFolder folder_;

  std::vector<std::pair<std::string, store::AttemptRow>> attempts_of_all() {
    std::vector<std::pair<std::string, store::AttemptRow>> all;
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    if (!store) return all;
    for (const auto& program : store->programs().value_or(std::vector<store::ProgramRow>{})) {
      for (auto& attempt : attempts(program.name)) all.emplace_back(program.name, attempt);
    }
    return all;
  }

 private:
  std::vector<pid_t> started_;
};

}  // namespace trainward::e2e
