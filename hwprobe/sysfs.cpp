#include "hwprobe/sysfs.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "common/text.hpp"
#include "hwprobe/facts.hpp"
#include "hwprobe/verdict.hpp"

namespace trainward::hwprobe {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::int64_t tenstorrent_vendor = 0x1e52;
// Two looks this far apart see a living heartbeat move; a still one gets a third look, so that
// nobody is called dead for less than two seconds of silence.
constexpr milliseconds first_wait{1200};
constexpr milliseconds second_wait{1000};

struct Device {
  BoardFacts facts;
  fs::path attributes;  // .../tenstorrent/tenstorrent!N; empty without a driver
  std::optional<std::int64_t> heartbeat;
};

// The kernel caches `vendor`, so only the configuration space itself tells a board that is gone.
bool fell_off_the_bus(const fs::path& device) {
  const auto config = read_attribute(device / "config");
  return config && config->size() >= 2 && (*config)[0] == '\xff' && (*config)[1] == '\xff';
}

std::vector<std::int64_t> holders(const FsRoot& root, std::string_view number, pid_t self) {
  std::vector<std::int64_t> out;
  const auto text = read_attribute(root.at("/proc/driver/tenstorrent") / number / "pids");
  if (!text) return out;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trim(rest.substr(0, end));
    std::int64_t pid = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
    // 0 is a holder outside our pid namespace; one process is listed once per open descriptor.
    if (error == std::errc() && pid != self &&
        std::find(out.begin(), out.end(), pid) == out.end()) {
      out.push_back(pid);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

void read_temperature(const fs::path& device, ChipFacts& chip) {
  for (const std::string& name : names_in(device / "hwmon")) {
    const fs::path sensors = device / "hwmon" / name;
    const auto millidegrees = read_number(sensors / "temp1_input");
    if (!millidegrees) continue;
    chip.temperature_c = static_cast<double>(*millidegrees) / 1000.0;
    if (const auto limit = read_number(sensors / "temp1_max"); limit && *limit > 0) {
      chip.limit_c = static_cast<double>(*limit) / 1000.0;
    }
    return;
  }
}

Device look_at(const FsRoot& root, const fs::path& path, const std::string& bus_id, pid_t self) {
  Device device;
  BoardFacts& facts = device.facts;
  facts.bus_id = bus_id;
  ChipFacts chip;
  chip.id = "L";
  chip.confidence = "kernel attributes";
  chip.looked_at = true;
  facts.off_bus = fell_off_the_bus(path);

  const auto nodes = names_in(path / "tenstorrent");
  facts.has_driver = !nodes.empty();
  if (!nodes.empty()) {
    device.attributes = path / "tenstorrent" / nodes.front();
    facts.serial = read_attribute(device.attributes / "tt_serial").value_or("");
    facts.type = read_attribute(device.attributes / "tt_card_type").value_or("");
    facts.firmware = read_attribute(device.attributes / "tt_fw_bundle_ver").value_or("");
    device.heartbeat = read_number(device.attributes / "tt_heartbeat");
    const std::string_view node = nodes.front();  // "tenstorrent!0"
    facts.holders = holders(root, node.substr(node.find('!') + 1), self);
  }
  read_temperature(path, chip);
  const auto text = [&](const char* name) { return read_attribute(path / name).value_or(""); };
  facts.pcie = {text("current_link_speed"), text("max_link_speed"), text("current_link_width"),
                text("max_link_width")};
  facts.chips.push_back(std::move(chip));
  if (facts.type == "n300") {
    ChipFacts remote;
    remote.id = "R";
    remote.confidence = "not read";
    facts.chips.push_back(std::move(remote));
  }
  return device;
}

// True when the device had a heartbeat before and it has not moved since.
bool stands_still(const Device& device) {
  return device.heartbeat && !device.facts.off_bus &&
         read_number(device.attributes / "tt_heartbeat") == device.heartbeat;
}

void watch_heartbeats(std::vector<Device>& devices, const SysfsSource::Wait& wait) {
  const auto has_one = [](const Device& device) { return device.heartbeat.has_value(); };
  if (std::none_of(devices.begin(), devices.end(), has_one)) return;
  wait(first_wait);
  if (std::any_of(devices.begin(), devices.end(), stands_still)) wait(second_wait);
  for (Device& device : devices) {
    if (!device.heartbeat) continue;
    device.facts.chips.front().heartbeat =
        stands_still(device) ? Heartbeat::frozen : Heartbeat::alive;
  }
}

}  // namespace

Result<Report> SysfsSource::look() {
  const fs::path bus = root_.at("/sys/bus/pci/devices");
  std::error_code error;
  if (!fs::is_directory(bus, error)) {
    return fail(ErrorKind::permanent, "cannot list the PCI devices", bus.string(),
                "this machine shows no PCI bus; name a described host instead");
  }
  std::vector<Device> devices;
  for (const std::string& bus_id : names_in(bus)) {
    if (read_number(bus / bus_id / "vendor") != tenstorrent_vendor) continue;
    devices.push_back(look_at(root_, bus / bus_id, bus_id, self_));
  }
  watch_heartbeats(devices, wait_);

  Report report;
  report.source = "sysfs";
  for (const Device& device : devices) report.boards.push_back(judge(device.facts));
  if (devices.empty()) {
    const bool driver = fs::exists(root_.at("/sys/module/tenstorrent"), error) ||
                        fs::exists(root_.at("/sys/class/tenstorrent"), error);
    report.evidence.push_back(
        {driver ? "the tenstorrent driver is loaded, but no board is on the PCI bus"
                : "no Tenstorrent board is on the PCI bus",
         driver ? "power-cycle the host; if it stays, check that the board sits in its slot"
                : "on a host without a board, describe one in a file (--host FILE)"});
  }
  return report;
}

}  // namespace trainward::hwprobe
