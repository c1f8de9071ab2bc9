#include "supervisor/evidence/host/pressure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include "common/base/number_in.hpp"
#include "common/os/file.hpp"
#include "common/os/processes/host_files.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t file_bytes = 1024;
// Half a second of any two seconds. A window of whole twos is open to everybody, others are not.
constexpr std::string_view trigger = "some 500000 2000000";
constexpr std::int64_t fact_every_ms = 5 * 60 * 1000;

// "avg10=0.12" in a line.
std::optional<double> average(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    std::string_view word = take_word(line);
    if (!word.starts_with(key)) continue;
    word.remove_prefix(key.size());
    const auto value = number_in<double>(word);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    return std::clamp(*value, 0.0, 100.0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Pressure> parse_pressure(std::string_view text) {
  Pressure pressure;
  bool found = false;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view kind = take_word(line);
    const auto ten = average(line, "avg10=");
    const auto sixty = average(line, "avg60=");
    if (!ten || !sixty) continue;
    if (kind == "some") {
      pressure.some_10 = *ten;
      pressure.some_60 = *sixty;
      found = true;
    } else if (kind == "full") {
      pressure.full_10 = *ten;
      pressure.full_60 = *sixty;
    }
  }
  if (!found) return std::nullopt;
  return pressure;
}

std::filesystem::path pressure_file(const std::filesystem::path& root, const Cgroups& cgroups) {
  std::error_code error;
  if (!cgroups.unified.folder.empty()) {
    auto file = cgroups.unified.folder / "memory.pressure";
    if (std::filesystem::exists(file, error)) return file;
  }
  return below(root, "/proc/pressure/memory");
}

std::string in_words(const Pressure& pressure) {
  return fmt::format(
      "programs waited for memory {:.0f}% of the last 10 s (60 s: {:.0f}%); nothing moved {:.0f}% "
      "(60 s: {:.0f}%)",
      pressure.some_10, pressure.some_60, pressure.full_10, pressure.full_60);
}

PressureWatch::PressureWatch(Fd trigger_fd, PriorityPoll poll)
    : trigger_(std::move(trigger_fd)), poll_(std::move(poll)), limit_(1, fact_every_ms) {}

Result<PressureWatch> PressureWatch::open(const std::filesystem::path& file) {
  auto fd = open_file(file, O_RDWR | O_NONBLOCK | O_NOCTTY);
  if (!fd) {
    fd.error().hint =
        "memory pressure needs Linux 4.20 with psi=1; to be woken, the file must be "
        "writable (root, or CAP_SYS_RESOURCE)";
    return propagate(fd);
  }
  // Asked before anything is written: a regular file is not what we think it is.
  if (!PriorityPoll::of(fd->get())) {
    return fail(ErrorKind::permanent, "cannot be waited for", file.string());
  }
  // The kernel wants the terminating zero.
  const std::string text(trigger);
  if (::write(fd->get(), text.c_str(), text.size() + 1) < 0) {
    return fail_errno(errno, "set a trigger for memory pressure", file.string(),
                      "it takes CAP_SYS_RESOURCE on this kernel");
  }
  auto poll = PriorityPoll::of(fd->get());
  if (!poll) return fail(ErrorKind::permanent, "cannot be waited for", file.string());
  return PressureWatch(std::move(*fd), std::move(*poll));
}

std::optional<core::HostFact> PressureWatch::take(Time now) {
  poll_.settle();
  std::array<char, file_bytes> text{};
  const ssize_t got = ::pread(trigger_.get(), text.data(), text.size(), 0);
  const auto pressure =
      got > 0 ? parse_pressure({text.data(), static_cast<std::size_t>(got)}) : std::nullopt;
  if (!pressure || !limit_.admit("pressure", now.mono)) return std::nullopt;
  return core::HostFact{"memory pressure", core::weight::general, core::Cause::host_oom,
                        in_words(*pressure)};
}

}  // namespace trainward::host
