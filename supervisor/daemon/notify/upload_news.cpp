#include "supervisor/daemon/notify/upload_news.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"

namespace trainward::daemon {
namespace {

constexpr std::string_view prefix = "upload ";  // of the jobs, "upload trainer/hub"
constexpr std::int64_t look_every_ms = 300'000;
constexpr std::int64_t told_after_ms = 3'600'000;

// As a family of the program's troubles.
std::string family_of(std::string_view target) { return fmt::format("{}{}", prefix, target); }

}  // namespace

UploadNews::UploadNews(Loop& loop, Background& background, store::Store& store, News& news,
                       std::filesystem::path state_folder)
    : store_(store),
      news_(news),
      background_(background),
      state_folder_(std::move(state_folder)),
      timer_(loop) {}

void UploadNews::follow(bool needed) {
  needed_ = needed;
  if (!needed_) {
    timer_.cancel();
    return take({}, now().wall.ms);
  }
  arm();
}

void UploadNews::arm() {
  timer_.after(look_every_ms, [this] { look(); });
}

// The next look is after the end of this one, so that a disk that hangs is asked once.
void UploadNews::look() {
  background_.run("courier.db", {.what = "read how uploads fare",
                                 .work = [this, alive = std::weak_ptr(alive_),
                                          folder = state_folder_]() -> Background::Then {
                                   auto failing = courier::failing_jobs(folder);
                                   return [this, alive, failing = std::move(failing)] {
                                     if (alive.expired() || !needed_) return;
                                     // What cannot be read now may be the next time.
                                     if (failing) take(*failing, now().wall.ms);
                                     arm();
                                   };
                                 }});
}

void UploadNews::take(const std::vector<courier::FailingJob>& failing, std::int64_t now_ms) {
  const auto programs = store_.programs();
  if (!programs) return spdlog::warn("{}", programs.error().message());
  for (const store::ProgramRow& program : *programs) {
    const auto open = store_.open_episodes(program.name);
    if (!open) return spdlog::warn("{}", open.error().message());
    for (const store::EpisodeRow& episode : *open) {
      if (!episode.family.starts_with(prefix)) continue;
      const std::string target = episode.family.substr(prefix.size());
      const std::string job = fmt::format("{}{}/{}", prefix, program.name, target);
      if (std::ranges::find(failing, job, &courier::FailingJob::name) != failing.end()) continue;
      news_.over(program.name, episode.family, fmt::format("uploads to {} fail no more", target));
    }
  }
  for (const courier::FailingJob& job : failing) {
    const auto slash = job.name.rfind('/');
    const std::int64_t lasted_ms = now_ms - job.since_ms;
    if (!job.name.starts_with(prefix) || slash == std::string::npos || lasted_ms < told_after_ms) {
      continue;
    }
    const std::string program = job.name.substr(prefix.size(), slash - prefix.size());
    const std::string target = job.name.substr(slash + 1);
    news_.stands(notify::Kind::upload, program, family_of(target),
                 fmt::format("uploads to {} fail", target),
                 fmt::format("nothing has reached {} for {}: {}", target, human_duration(lasted_ms),
                             job.error));
  }
}

}  // namespace trainward::daemon
