#include "hwprobe/stages/run_stages.hpp"

#include <poll.h>

#include <algorithm>
#include <memory>

#include "hwprobe/stages/board_run.hpp"

namespace trainward::hwprobe {
namespace {

using Clock = std::chrono::steady_clock;

// Until the first of them has something to say or to do.
void wait_for_one(const std::vector<std::unique_ptr<BoardRun>>& runs, Clock::time_point now) {
  std::vector<pollfd> polled;
  auto wake = Clock::time_point::max();
  for (const auto& run : runs) {
    if (run->done()) continue;
    wake = std::min(wake, run->wake());
    if (run->output() >= 0) polled.push_back({run->output(), POLLIN, 0});
  }
  const auto time = std::max(wake - now, Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec timeout{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
  ::ppoll(polled.data(), polled.size(), &timeout, nullptr);
}

}  // namespace

std::vector<BoardLook> run_stages(const std::vector<std::string>& boards,
                                  std::span<const Stage> stages,
                                  const std::filesystem::path& state_folder, Processes& processes,
                                  const RunLimits& limits) {
  std::vector<std::unique_ptr<BoardRun>> runs;
  runs.reserve(boards.size());
  auto now = Clock::now();
  for (const std::string& board : boards) {
    runs.push_back(std::make_unique<BoardRun>(board, stages, state_folder, processes, limits, now));
  }
  const auto done = [](const auto& run) { return run->done(); };
  while (!std::all_of(runs.begin(), runs.end(), done)) {
    for (const auto& run : runs) run->turn(now);
    if (std::all_of(runs.begin(), runs.end(), done)) break;
    wait_for_one(runs, now);
    now = Clock::now();
  }
  std::vector<BoardLook> looks;
  looks.reserve(runs.size());
  for (const auto& run : runs) looks.push_back(run->look());
  return looks;
}

}  // namespace trainward::hwprobe
