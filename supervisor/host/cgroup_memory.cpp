#include "supervisor/host/cgroup_memory.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/file.hpp"
#include "supervisor/host/host_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t file_bytes = 4096;

std::optional<std::int64_t> read_oom_kills(const std::filesystem::path& file) {
  const auto text = read_some(file, file_bytes);
  return text ? parse_oom_kills(*text) : std::nullopt;
}

// Asks the kernel of version 1 to ring `bell` when this cgroup runs out of memory.
bool ring_for(const Fd& bell, const Fd& oom_control, const std::filesystem::path& folder) {
  const auto control = open_file(folder / "cgroup.event_control", O_WRONLY | O_NONBLOCK);
  return control && write_all(control->get(), fmt::format("{} {}", bell.get(), oom_control.get()),
                              folder / "cgroup.event_control");
}

}  // namespace

std::optional<std::int64_t> parse_oom_kills(std::string_view text) {
  return number_of_key(text, "oom_kill");
}

std::optional<std::int64_t> oom_kills_of(const Cgroups& cgroups) {
  if (!cgroups.unified.folder.empty()) {
    if (auto kills = read_oom_kills(cgroups.unified.folder / "memory.events")) return kills;
  }
  if (cgroups.memory.folder.empty()) return std::nullopt;
  return read_oom_kills(cgroups.memory.folder / "memory.oom_control");
}

OomWatch::OomWatch(const Cgroups& cgroups)
    : cgroups_(cgroups), seen_(oom_kills_of(cgroups).value_or(0)) {
  if (!cgroups.unified.folder.empty()) {
    if (auto fd = open_file(cgroups.unified.folder / "memory.events", O_RDONLY | O_NONBLOCK)) {
      events_ = std::move(*fd);
      poll_ = PriorityPoll::of(events_.get());
      rearm();  // only what was read once is announced when it changes
      return;
    }
  }
  if (cgroups.memory.folder.empty()) return;
  auto fd = open_file(cgroups.memory.folder / "memory.oom_control", O_RDONLY | O_NONBLOCK);
  Fd bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd || !bell || !ring_for(bell, *fd, cgroups.memory.folder)) return;
  events_ = std::move(*fd);
  bell_ = std::move(bell);
}

int OomWatch::fd() const { return poll_ ? poll_->fd() : bell_.get(); }

void OomWatch::rearm() const {
  std::array<char, file_bytes> drained{};
  if (bell_) {
    [[maybe_unused]] const ssize_t rung = ::read(bell_.get(), drained.data(), drained.size());
  }
  if (poll_) {
    poll_->settle();
    [[maybe_unused]] const ssize_t got = ::pread(events_.get(), drained.data(), drained.size(), 0);
  }
}

std::int64_t OomWatch::take() {
  rearm();
  const std::int64_t kills = oom_kills_of(cgroups_).value_or(seen_);
  // A cgroup that was made anew counts from zero.
  const std::int64_t fresh = kills >= seen_ ? kills - seen_ : kills;
  seen_ = kills;
  return fresh;
}

}  // namespace trainward::host
