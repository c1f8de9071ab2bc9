#include "supervisor/record/metrics/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "common/os/processes/host_files.hpp"

namespace trainward::metrics {
namespace {

constexpr std::size_t file_bytes = 64 * 1024;

// /proc/stat begins with "cpu  user nice system idle iowait irq softirq steal …", in ticks. What
// guests used is in user and nice as well.
void read_processors(const std::string& text, HostFigures& figures) {
  std::string_view rest = text;
  std::string_view line = host::take_line(rest);
  if (host::take_word(line) != "cpu") return;
  std::array<double, 8> seconds{};
  const double ticks = static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  for (double& value : seconds) {
    const auto number = host::whole_number(host::take_word(line));
    if (!number) return;
    value = static_cast<double>(*number) / ticks;
  }
  const auto [user, nice, system, idle, iowait, irq, softirq, steal] = seconds;
  figures.busy_seconds = user + nice + system + irq + softirq + steal;
  figures.idle_seconds = idle;
  figures.iowait_seconds = iowait;
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds.
std::optional<double> stalled(const std::filesystem::path& root, const char* resource) {
  const auto text = host::read_some(root / "proc/pressure" / resource, file_bytes);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  std::string_view line = host::take_line(rest);
  if (host::take_word(line) != "some") return std::nullopt;
  constexpr std::string_view total = "total=";
  for (auto word = host::take_word(line); !word.empty(); word = host::take_word(line)) {
    if (!word.starts_with(total)) continue;
    const auto microseconds = host::whole_number(word.substr(total.size()));
    if (microseconds) return static_cast<double>(*microseconds) / 1e6;
  }
  return std::nullopt;
}

std::optional<std::int64_t> bytes_of(const std::string& meminfo, std::string_view key) {
  const auto kib = host::number_of_key(meminfo, key);
  return kib ? std::optional(std::min(*kib, INT64_MAX / 1024) * 1024) : std::nullopt;
}

}  // namespace

HostFigures look_at_host(const std::filesystem::path& root) {
  HostFigures figures;
  if (const auto text = host::read_some(root / "proc/meminfo", file_bytes)) {
    figures.memory_bytes = bytes_of(*text, "MemTotal");
    figures.available_bytes = bytes_of(*text, "MemAvailable");
  }
  if (const auto text = host::read_some(root / "proc/stat", file_bytes)) {
    read_processors(*text, figures);
  }
  figures.stalled_cpu_seconds = stalled(root, "cpu");
  figures.stalled_io_seconds = stalled(root, "io");
  figures.stalled_memory_seconds = stalled(root, "memory");
  return figures;
}

}  // namespace trainward::metrics
