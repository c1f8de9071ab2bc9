#include "hwprobe/tenstorrent/registers/register_io.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace trainward::hwprobe {

std::string to_text(const DriverInfo& info) {
  return fmt::format("{} api {} device {:04x}:{:04x} at {}",
                     info.version.empty() ? "-" : info.version, info.api, info.vendor, info.device,
                     info.bus_id);
}

std::optional<DriverInfo> parse_driver_info(std::string_view text) {
  constexpr std::size_t longest = 200;
  if (text.size() > longest) return std::nullopt;
  const std::string line(text);
  DriverInfo info;
  std::string version(longest + 1, '\0');
  std::string bus(longest + 1, '\0');
  int end = 0;
  // Widths are those of the buffers, less the zero.
  if (std::sscanf(line.c_str(), "%200s api %u device %4hx:%4hx at %200s%n", version.data(),
                  &info.api, &info.vendor, &info.device, bus.data(), &end) != 5) {
    return std::nullopt;
  }
  info.version = version.c_str();
  if (info.version == "-") info.version.clear();
  info.bus_id = bus.c_str();
  // What is written again must be what was read: no second spelling, nothing left over.
  if (to_text(info) != line) return std::nullopt;
  return info;
}

}  // namespace trainward::hwprobe
