// Everything the worker says: messages to the supervisor, log lines to people.
//
// Out: datagrams (common/wire/notifier.hpp) and whole lines on stdout and stderr, each written at
// once and not buffered. Saying something never fails and never stops training: a reader that is
// gone costs lines. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/os/clock.hpp"
#include "common/protocol/device_figures.hpp"
#include "common/protocol/step_figures.hpp"
#include "common/protocol/worker_sample.hpp"
#include "common/wire/notifier.hpp"

namespace trainward::trainer {

struct Sinks {
  std::function<void(const Message&)> notify;
  std::function<void(std::string_view)> out;  // text with its newlines
  std::function<void(std::string_view)> err;
  std::function<Time()> now;
  // Samples are printed as well. Not under a supervisor: it gets them whole, and a model that
  // speaks of an error in its logs would be one.
  bool prints_samples = true;
};

// The socket of the environment, descriptors 1 and 2 and the machine's clocks. `notifier` must
// outlive the sinks.
Sinks process_sinks(const Notifier& notifier);

struct CompiledProgram {
  std::string name;
  std::string key;      // its place in the cache
  bool hit = false;     // it was there
  std::int64_t ms = 0;  // until it could be run
  std::string dropped;  // why what was in the cache is thrown away; empty: it was not
  std::string problem;  // why the cache could not be used; empty: it could
};

class Reporter {
 public:
  explicit Reporter(Sinks sinks) : sinks_(std::move(sinks)) {}

  [[nodiscard]] Time now() const { return sinks_.now(); }

  void phase(std::string_view name);      // load, compile, train, save, evaluate
  void status(const std::string& words);  // what is going on, in words
  void compiled(const CompiledProgram& program);
  void resumed(std::int64_t step, bool from_memory = false);  // 0: a fresh start
  void target(std::int64_t step);  // the run's last, where the configuration leaves it open
  // `in_memory`: the newest step that is in memory; 0: none.
  void step(std::int64_t step, const StepFigures& figures, std::int64_t in_memory = 0);
  void devices(const DeviceWindow& window);
  void log_step(std::int64_t step, const StepFigures& figures);
  // Of data that is not trained on; a cross-entropy, in nats.
  void evaluated(std::int64_t step, double loss);
  void sampled(const WorkerSample& sample);
  void early_end(const std::string& why);    // the run is done before its last step
  void left_out(const std::string& what);    // of the data; the log has had it in full
  void corruption(const std::string& what);  // of an earlier attempt, and which device it was
  void alive();                              // in a long phase
  // `write_ms` 0: the training waited for it.
  void saved(const std::filesystem::path& folder, std::int64_t step, std::int64_t write_ms);
  void error(std::string_view message);   // STATUS, and "trainward-worker: …" on stderr
  void raw_error(std::string_view text);  // on stderr as it is

 private:
  void line(const std::string& text);

  Sinks sinks_;
};

}  // namespace trainward::trainer
