#include "supervisor/daemon/attempt/launch_files.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/wire/launch.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t at_a_time = 200;

void shorten(const Paths& paths, const std::string& program, std::int64_t attempt) {
  auto done = shorten_launch_file(paths.attempt(program, attempt) / attempt_files::launch);
  if (!done) spdlog::warn("{}: {}", program, done.error().message());
}

}  // namespace

LaunchFiles::LaunchFiles(Background& background, Paths paths)
    : background_(background), paths_(std::move(paths)) {}

void LaunchFiles::ended_below(const std::string& program, std::int64_t end) {
  std::int64_t& known = ended_.try_emplace(program, 1).first->second;
  if (end <= known) return;
  const std::int64_t from = std::exchange(known, end);
  if (end - from > 1) return shorten_all(program, from, end);
  shorten(paths_, program, from);
}

void LaunchFiles::shorten_all(const std::string& program, std::int64_t from, std::int64_t end) {
  const std::int64_t until = std::min(from + at_a_time, end);
  Background::Job job;
  job.what = "take secrets out of launch files of " + program;
  job.work = [this, paths = paths_, program, from, until, end]() -> Background::Then {
    for (std::int64_t attempt = from; attempt < until; ++attempt) {
      shorten(paths, program, attempt);
    }
    return [this, program, until, end] {
      if (until < end) shorten_all(program, until, end);
    };
  };
  background_.run("launch files", std::move(job));
}

}  // namespace trainward::daemon
