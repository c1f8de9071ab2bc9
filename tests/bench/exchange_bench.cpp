// What a step of training waits for the exchange of gradients, beside what the formula of
// trainer/mesh/step_share.hpp says it waits, on the simulated N300 with a link of given rate.
//
// Steps with a link and without are done in turn, each model on a thread of its own (the card has
// one client a thread). The link's part of a step is the time that the thread sleeps: it neither
// runs nor waits for a processor, so other work on the machine does not count. What share of the
// rest is the backward pass follows from the processor time of steps without a link. Medians are
// compared. Ends with 1 when a measured time is more than 15 % off the predicted one.
//
//   exchange_bench [ROUNDS]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "measure.hpp"
#include "trainer/device/device_model.hpp"
#include "trainer/device/host_thread.hpp"
#include "trainer/mesh/step_share.hpp"
#include "training_cases.hpp"

namespace {

using namespace trainward;           // NOLINT(google-build-using-namespace)
using namespace trainward::trainer;  // NOLINT(google-build-using-namespace)
using Clock = std::chrono::steady_clock;
using roofline::must;

constexpr double allowed = 0.15;
constexpr int threads = 1;

// Blocks of 4.9 MB of gradients, and hardly anything beside them.
TrainingSpec spec_of(std::int64_t accumulation, std::int64_t devices) {
  TrainingSpec spec = gpt_case(threads);
  spec.model.width = 320;
  spec.model.layers = 4;
  spec.model.heads = 5;
  spec.batch_size = 3 * devices;
  spec.accumulation = accumulation;
  return spec;
}

std::int64_t block_bytes(const TrainingSpec& spec) {
  const ParameterTable table = make_parameter_table(spec.model, spec.positions());
  std::size_t elements = 0;
  for (const std::size_t i : table.trained(table.block(0))) elements += table.infos[i].size();
  return static_cast<std::int64_t>(elements * sizeof(float));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Of a thread, seconds.
struct Time {
  double ran = 0;    // on a processor
  double awake = 0;  // that, and waiting for a processor
  double asleep = 0;
};

// Of this thread so far; asleep: since some moment.
Time now() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran_ns = 0;
  double waited_ns = 0;
  file >> ran_ns >> waited_ns;
  const double all = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  const double awake = (ran_ns + waited_ns) * 1e-9;
  return {ran_ns * 1e-9, awake, all - awake};
}

class Contender {
 public:
  // `rate`: of the link, in bytes a second; 0 means no link.
  Contender(std::int64_t accumulation, std::int64_t devices, double rate)
      : spec_(spec_of(accumulation, devices)),
        tokens_(tokens_case(spec_.sequences_per_step() * spec_.block_size, 64)) {
    thread_.run([&] {
      const std::string link = fmt::format(R"(, "link": {{"gb_per_s": {}}})", rate / 1e9);
      const std::string script =
          fmt::format(R"({{"chips": {}{}}})", devices, rate > 0 ? link : std::string());
      ::setenv("TRAINWARD_SIMULATE", script.c_str(), 1);
      DeviceConfig config;
      config.device.plugin = SIM_N300_PLUGIN;
      config.device.options = {{"threads", std::int64_t{threads}}};
      config.devices = devices;
      model_ = must(make_device_model(spec_, config));
    });
  }
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  ~Contender() {
    thread_.run([this] { model_.reset(); });
  }

  Time step() {
    return time_of([this] { (void)must(model_->step(tokens_)); });
  }
  Time evaluate() {
    const std::span<const std::int32_t> all(tokens_);
    const auto batch = all.first(static_cast<std::size_t>(spec_.batch_size * spec_.block_size));
    return time_of([&] { (void)must(model_->evaluate(TokenBatch(batch))); });
  }

 private:
  template <typename Job>
  Time time_of(const Job& job) {
    Time time;
    thread_.run([&] {
      const Time before = now();
      job();
      const Time after = now();
      time = {after.ran - before.ran, after.awake - before.awake, after.asleep - before.asleep};
    });
    return time;
  }

  TrainingSpec spec_;
  std::vector<std::int32_t> tokens_;
  std::unique_ptr<Trainable> model_;
  HostThread thread_;
};

// Medians of the rounds.
struct Measured {
  double computing = 0;  // of a step with the link: what it does not sleep
  double backward = 0;   // of that
  double exposed = 0;    // what it sleeps longer than one without
};

Measured measure(std::int64_t devices, double rate, int rounds) {
  Contender once(1, devices, 0);
  Contender twice(2, devices, 0);
  Contender linked(1, devices, rate);
  std::vector<double> computing;
  std::vector<double> shares;
  std::vector<double> exposed;
  for (int round = -1; round < rounds; ++round) {  // the first touches new memory
    const Time one = once.step();
    // One micro-batch more is a forward pass more and a backward pass; an evaluation is the former.
    const double pass = twice.step().ran - one.ran - once.evaluate().ran;
    const Time with = linked.step();
    if (round < 0) continue;
    computing.push_back(with.awake);
    shares.push_back(pass / one.ran);
    exposed.push_back(with.asleep - one.asleep);
  }
  return {median(computing), median(computing) * median(shares), median(exposed)};
}

// Roughly what a block's backward pass takes, to choose rates by: twice its forward pass.
double block_pass(std::int64_t devices) {
  Contender plain(1, devices, 0);
  double shortest = plain.evaluate().awake;
  for (int i = 0; i < 4; ++i) shortest = std::min(shortest, plain.evaluate().awake);
  return 2 * shortest / static_cast<double>(spec_of(1, devices).model.layers);
}

// With links over which the sum of a block's gradients takes `seconds`. True: as predicted.
bool compare(std::int64_t devices, double seconds, int rounds) {
  const TrainingSpec spec = spec_of(1, devices);
  const std::int64_t layers = spec.model.layers;
  const std::int64_t bytes = block_bytes(spec);
  const auto n = static_cast<double>(devices);
  const double rate = 2 * (n - 1) / n * static_cast<double>(bytes) / seconds;
  const Measured found = measure(devices, rate, rounds);
  const mesh::Rate given{.bytes_per_second = rate};
  const mesh::StepShare predicted = mesh::step_share(
      {.compute_seconds = found.computing,
       .backward_seconds = found.backward,
       .gradient_bytes = layers * bytes,
       .bucket_bytes = bytes},
      {1, devices},
      {.name = "simulated", .pair = given, .line = given, .ring = given, .latency = {}});
  const double ratio = found.exposed / predicted.exposed_seconds;
  std::printf(
      "%lld chips, %.3g GB/s: computing %.0f ms, of it backward %.0f ms; exchange %.0f ms, of it\n"
      "  exposed %.0f ms, predicted %.0f ms: ratio %.2f; %.1f %% of the step, predicted %.1f %%\n",
      static_cast<long long>(devices), rate / 1e9, 1e3 * found.computing, 1e3 * found.backward,
      1e3 * predicted.communication_seconds, 1e3 * found.exposed, 1e3 * predicted.exposed_seconds,
      ratio, 1e2 * found.exposed / (found.computing + found.exposed), 1e2 * predicted.share);
  std::fflush(stdout);
  return std::abs(ratio - 1) <= allowed;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  bool all = true;
  for (const std::int64_t devices : {2, 4}) {
    const double pass = block_pass(devices);
    for (const double times : {0.9, 1.5, 4.0}) all = compare(devices, times * pass, rounds) && all;
  }
  return all ? 0 : 1;
}
