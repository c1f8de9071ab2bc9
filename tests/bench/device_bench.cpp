// The quick start's model (training_cases.hpp) on the simulated N300 beside the CPU executor alone,
// in turn, in one process; then the worker itself, started again with its programs in the cache.
//
//   device_bench [ROUNDS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "first_step.hpp"
#include "measure.hpp"
#include "trainer/device/device_model.hpp"
#include "training_cases.hpp"

namespace {

using namespace trainward;           // NOLINT(google-build-using-namespace)
using namespace trainward::trainer;  // NOLINT(google-build-using-namespace)
using Clock = std::chrono::steady_clock;
using roofline::must;

constexpr int threads = 2;
constexpr int steps_a_round = 20;

double tokens_a_second(Trainable& model, const std::vector<std::int32_t>& tokens) {
  const auto began = Clock::now();
  for (int i = 0; i < steps_a_round; ++i) (void)must(model.step(tokens));
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  return static_cast<double>(tokens.size()) * steps_a_round / seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Contender {
  const char* name;
  std::unique_ptr<Trainable> model;
  std::vector<double> rates = {};
};

// The card has one client at a time, so each placement has rounds of its own.
void compare(const char* name, Placement placement, int rounds) {
  const TrainingSpec spec = micro_3x_case(threads);
  DeviceConfig config;
  config.device.plugin = SIM_N300_PLUGIN;
  config.device.options = {{"threads", std::int64_t{threads}}};
  config.placement = placement;
  std::vector<Contender> contenders;
  contenders.push_back({"CPU executor", must(make_cpu_model(spec))});
  contenders.push_back({name, must(make_device_model(spec, config))});
  const auto tokens = tokens_case(spec.sequences_per_step() * spec.block_size, 251);
  for (int round = -1; round < rounds; ++round) {  // the first touches new memory
    for (Contender& contender : contenders) {
      const double rate = tokens_a_second(*contender.model, tokens);
      if (round >= 0) contender.rates.push_back(rate);
    }
  }
  const double cpu = median(contenders.front().rates);
  for (const Contender& contender : contenders) {
    const double rate = median(contender.rates);
    std::printf("%-34s %8.0f tokens/s  %.2f of the CPU executor\n", contender.name, rate,
                rate / cpu);
  }
}

void restart() {
  roofline::FirstStepCase which;
  which.model = "micro_3x";
  which.block_size = 128;
  which.batch_size = 8;
  which.threads = threads;
  which.plugin = "sim_n300";
  which.scratch = std::filesystem::temp_directory_path();
  const roofline::FirstStep first = roofline::measure_first_step(which);
  std::printf("restart with a warm cache: %d compiled, first step %.3f s after exec\n",
              first.compiled, first.step_seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  compare("simulated N300, placement: host", Placement::host, rounds);
  compare("simulated N300, placement: device", Placement::device, rounds);
  restart();
}
