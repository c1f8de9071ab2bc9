// What the tests of uploads with real programs share: a run database with a checkpoint, a courier
// that is told where it goes, and a script that saves on a box of its own.
#pragma once

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/os/clock.hpp"
#include "common/os/pipe.hpp"
#include "fake_s3.hpp"
#include "supervisor/orders/orders.hpp"
#include "supervisor/record/uploads/uploads.hpp"
#include "world.hpp"

namespace trainward::e2e {

inline std::uint64_t number_of(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

class Uploads : public World {
 protected:
  // A run database with a verified checkpoint of these bytes, without a daemon.
  void record_checkpoint(const std::string& state, std::size_t bytes) {
    std::string text(bytes, 'w');
    for (std::size_t i = 0; i < text.size(); i += 4096) text[i] = static_cast<char>(i / 4096);
    write(state + "/runs/run/checkpoints/step-00000010/model.safetensors", text);
    write(state + "/runs/run/checkpoints/step-00000010/MANIFEST.json", "{}");
    auto store = store::Store::open(path(state + "/trainward.db"));
    ASSERT_TRUE(store) << store.error().message();
    store::ProgramRow program;
    program.name = "run";
    program.state = "RUNNING";
    ASSERT_TRUE(store->put_program(program));
    store::AttemptRow attempt;
    attempt.program = "run";
    attempt.number = 1;
    ASSERT_TRUE(store->put_attempt(attempt));
    store::CheckpointRow row;
    row.path = path(state + "/runs/run/checkpoints/step-00000010").string();
    row.step = 10;
    row.attempt = 1;
    row.state = "verified";
    row.at_ms = now().wall.ms;
    ASSERT_TRUE(store->put_checkpoint("run", row));
  }

  [[nodiscard]] orders::Orders orders_of(const std::string& state,
                                         std::vector<orders::Target> targets) const {
    orders::Orders out;
    out.state_dir = path(state).string();
    out.database = path(state + "/trainward.db").string();
    orders::UploadOrder order;
    order.source.program = "run";
    order.source.checkpoints = path(state + "/runs/run/checkpoints").string();
    order.source.directory = path("").string();
    order.upload.targets = std::move(targets);
    out.uploads.push_back(std::move(order));
    return out;
  }

  // Runs the courier until it has committed an upload, has said `words`, or was ended. Its wait
  // status. `hear` is called with all that it has said, whenever that is more.
  int run_courier(const orders::Orders& orders, const std::string& fault, std::string& log,
                  const std::string& words = " is at ",
                  const std::function<void(const std::string&)>& hear = {}) {
    auto in = make_pipe();
    auto err = make_pipe();
    EXPECT_TRUE(in && err);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::dup2(in->read.get(), STDIN_FILENO);
      ::dup2(err->write.get(), STDERR_FILENO);
      const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      ::dup2(null, STDOUT_FILENO);
      if (!fault.empty()) ::setenv("TRAINWARD_FAULT", fault.c_str(), 1);
      const std::string program = this->program("trainward-courier");
      ::execl(program.c_str(), program.c_str(), nullptr);
      ::_exit(127);
    }
    courier = pid;
    err->write.reset();
    in->read.reset();
    EXPECT_TRUE(write_all(in->write.get(), orders::line_of(orders) + "\n", "the courier"));
    std::array<char, 4096> chunk{};
    std::string said;
    while (said.find(words) == std::string::npos) {
      const ssize_t got = ::read(err->read.get(), chunk.data(), chunk.size());
      if (got <= 0) break;
      said.append(chunk.data(), static_cast<std::size_t>(got));
      if (hear) hear(said);
    }
    in->write.reset();  // asks it to end
    log += said;
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }

  static std::string target_of(const orders::Orders& orders) {
    return orders.uploads.at(0).upload.targets.at(0).name;
  }

  // On record before it was ended: there is nothing to go on with.
  [[nodiscard]] bool is_done(const std::string& state) const {
    const auto rows = upload::uploads_json(path(state + "/courier.db"), "run", 1);
    return rows && !rows->empty() && rows->front().at("state") == "done";
  }

  json::object only_row(const std::string& state) {
    const auto rows = upload::uploads_json(path(state + "/courier.db"), "run", 10);
    EXPECT_TRUE(rows) << rows.error().message();
    EXPECT_EQ(rows->size(), 1U);
    return rows && rows->size() == 1 ? rows->front().as_object() : json::object();
  }

  // Ended there ("": by the test), then gone on with. False: it does not come by there.
  bool ended_at(const std::string& point, const std::string& state, const orders::Orders& orders) {
    std::string log;
    const int first = run_courier(orders, point, log);
    if (!WIFSIGNALED(first)) return false;
    EXPECT_EQ(WTERMSIG(first), SIGKILL);
    between();
    const auto held =
        upload::held_checkpoints(path(state + "/courier.db"), "run", {target_of(orders)});
    if (point.starts_with("upload.")) {
      EXPECT_EQ(held.size(), 1U) << "retention leaves what is under way";
    }
    if (!is_done(state)) {
      const int second = run_courier(orders, "", log);
      EXPECT_TRUE(WIFEXITED(second)) << log;
    }
    EXPECT_EQ(string_or(only_row(state), "state", ""), "done") << log;
    EXPECT_TRUE(
        upload::held_checkpoints(path(state + "/courier.db"), "run", {target_of(orders)}).empty());
    for (const std::string& secret : secrets) EXPECT_EQ(log.find(secret), std::string::npos);
    return true;
  }

  std::atomic<pid_t> courier = 0;  // that was started last
  std::function<void()> between = [] {};
  std::vector<std::string> secrets{test::FakeS3::secret};
};

// A script that knows nothing of us: it saves a file each tenth step, and is told from which to go
// on. On a new box with an empty disk it goes on from what the first one sent.
class Boxes : public Uploads {
 protected:
  void make_box(const std::string& box, int last_step, bool restore,
                const std::string& targets = "", const std::string& pace = ":") {
    write(box + "/train.sh", R"(
from=$1
step=0
[ -n "$from" ] && step=$(cat "$from")
mkdir -p out
while [ $step -lt )" + std::to_string(last_step) +
                                 R"( ]; do
  step=$((step + 1))
  )" + pace + R"(
  echo "finished step $step"
  if [ $((step % 10)) -eq 0 ]; then echo $step > out/new && mv out/new out/model_step$step.bin; fi
done
)");
    write(box + "/run.yaml",
          fmt::format(R"(state_dir: {}
programs:
  run:
    command: [/bin/sh, train.sh, ["{{checkpoint}}"]]
    backoff: {{first: 20ms, max: 100ms}}
    watch:
      log: [{{match: 'finished step (?P<step>\d+)', phase: train}}]
      checkpoints: [out/model_step*.bin]
    upload:
      targets: {}
      restore: {}
)",
                      path(box + "/state").string(),
                      targets.empty() ? fmt::format("{{nas: {{folder: {}}}}}", path("nas").string())
                                      : targets,
                      restore));
  }

  Output run_in(const std::string& box) { return run("trainwardd", {"--once", box + "/run.yaml"}); }
};

}  // namespace trainward::e2e
