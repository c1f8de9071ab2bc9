// A worker in a test: files in a temporary folder, a clock that ticks when looked at, and
// everything it says written down.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "common/protocol/protocol.hpp"
#include "temporary_folder.hpp"
#include "trainer/loop/worker.hpp"

namespace trainward::trainer {

// Asks to stop or to save once so many steps were reported.
class RequestsAtSteps final : public Requests {
 public:
  [[nodiscard]] bool stop_requested() const override { return stop_at >= 0 && *seen >= stop_at; }
  bool take_save_request() override {
    if (save_at < 0 || *seen < save_at) return false;
    save_at = -1;
    return true;
  }
  std::int64_t stop_at = -1;
  std::int64_t save_at = -1;
  const std::int64_t* seen = nullptr;
};

struct Said {
  std::vector<Message> messages;
  std::string out;
  std::string err;
  std::int64_t last_step = -1;

  [[nodiscard]] std::vector<std::string> all(std::string_view key) const {
    std::vector<std::string> values;
    for (const Message& message : messages) {
      if (const auto value = find(message, key)) values.emplace_back(*value);
    }
    return values;
  }
  // Everything but STATUS, as "KEY=VALUE" of the first pair: what the supervisor sees happen.
  [[nodiscard]] std::vector<std::string> course() const {
    std::vector<std::string> course;
    for (const Message& message : messages) {
      const auto& [key, value] = message.front();
      if (key == "CHECKPOINT") {
        course.push_back("CHECKPOINT_STEP=" + std::string(*find(message, "CHECKPOINT_STEP")));
      } else if (key != "STATUS") {
        course.push_back(key + "=" + value);
      }
    }
    return course;
  }
};

class WorkerBench {
 public:
  WorkerBench() {
    std::filesystem::create_directories(folder_ / "data");
    std::ofstream text(folder_ / "data" / "text");
    for (int i = 0; i < 40; ++i) text << i << " bottles of beer on the wall, ";
    training_ = {{"model", "femto_1x"},
                 {"steps", 12},
                 {"batch_size", 2},
                 {"block_size", 32},
                 {"checkpoint_every", 4},
                 {"checkpoint_async", false},  // then every step that is due is saved
                 {"seed", 7},
                 {"data", json::array{(folder_ / "data").string()}}};
    environment.attempt = 1;
    environment.run = "test";
    environment.resume_from = "";
    environment.checkpoint_dir = checkpoints().string();
    requests.seen = &said.last_step;
  }
  WorkerBench(const WorkerBench&) = delete;
  WorkerBench& operator=(const WorkerBench&) = delete;

  json::object& training() { return training_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }
  [[nodiscard]] std::filesystem::path checkpoint(std::int64_t step) const {
    return checkpoints() / fmt::format("step-{:08}", step);
  }

  // Starts a worker as a supervisor does; `said` is what this one said.
  int run(
      const std::function<Result<std::unique_ptr<Trainable>>(const TrainingSpec&)>& make_model) {
    said = Said{};
    const std::string config = (folder_ / "config.json").string();
    std::ofstream(config) << json::serialize(json::object{
        {"training_config", training_}, {"device_config", json::object{{"threads", 1}}}});
    options.config_file = config;
    const auto make = [&](const WorkerConfig& read, const WorkerEnvironment&, const BaseWeights*,
                          Reporter&) { return make_model(read.training); };
    return run_worker(options, environment, {sinks(), requests, make, [this](const TrainingSpec&) {
                                               return bf16_is_fast;
                                             }});
  }

  WorkerOptions options;
  WorkerEnvironment environment;
  RequestsAtSteps requests;
  Said said;
  bool bf16_is_fast = false;

 private:
  Sinks sinks() {
    return {[this](const Message& message) {
              said.messages.push_back(message);
              if (const auto step = find_int(message, "STEP")) said.last_step = *step;
            },
            [this](std::string_view text) { said.out += text; },
            [this](std::string_view text) { said.err += text; },
            [this] {
              clock_.wall += 5;
              clock_.mono += 5;
              return clock_;
            }};
  }

  TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  json::object training_;
  Time clock_{1'700'000'000'000, 0};
};

}  // namespace trainward::trainer
