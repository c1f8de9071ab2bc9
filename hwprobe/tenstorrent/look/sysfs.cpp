#include "hwprobe/tenstorrent/look/sysfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string_view>

#include "common/base/text.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view bus = "/sys/bus/pci/devices";
constexpr std::int64_t tenstorrent_vendor = 0x1e52;
// Two looks this far apart see a living heartbeat move; a still one gets a third look, so that
// a board is called dead only after two seconds of silence.
constexpr milliseconds first_wait{1200};
constexpr milliseconds second_wait{1000};
constexpr std::size_t most_attributes = 64;

std::string folder_of(const std::string& bus_id) { return fmt::format("{}/{}", bus, bus_id); }

// "/sys/…/tenstorrent/tenstorrent!0"; empty without a driver.
std::string node_of(Files& files, const std::string& device) {
  const std::string folder = device + "/tenstorrent";
  const auto nodes = files.names(folder);
  return !nodes || nodes->empty() ? "" : fmt::format("{}/{}", folder, nodes->front());
}

// `nodes`: "tenstorrent!0"
std::string_view number_in_names(std::string_view nodes) {
  const std::string_view node = nodes.substr(0, nodes.find(' '));
  return node.substr(node.find('!') + 1);
}

std::vector<std::int64_t> holders(Files& files, std::string_view nodes) {
  std::vector<std::int64_t> out;
  const auto text = files.text(fmt::format("{}/{}/pids", holders_folder, number_in_names(nodes)));
  if (!text) return out;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = trim(take_line(rest));
    std::int64_t pid = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
    // 0 is a holder outside our pid namespace; one process is listed once per open descriptor.
    if (error == std::errc() && std::find(out.begin(), out.end(), pid) == out.end()) {
      out.push_back(pid);
    }
  }
  return out;
}

ChipFacts& local_chip(BoardFacts& facts) {
  if (facts.chips.empty()) {
    ChipFacts chip;
    chip.id = "L";
    chip.confidence = "kernel attributes";
    chip.looked_at = true;
    facts.chips.push_back(std::move(chip));
  }
  return facts.chips.front();
}

void read_sensors(Files& files, const std::string& device, ChipFacts& chip) {
  const auto sensors = files.names(device + "/hwmon");
  if (!sensors) return;
  for (const std::string& name : *sensors) {
    const std::string folder = fmt::format("{}/hwmon/{}", device, name);
    const auto millidegrees = files.number(folder + "/temp1_input");
    if (!millidegrees) continue;
    chip.temperature_c = static_cast<double>(*millidegrees) / 1000.0;
    if (const auto limit = files.number(folder + "/temp1_max"); limit && *limit > 0) {
      chip.limit_c = static_cast<double>(*limit) / 1000.0;
    }
    // Not judged; a recording is to hold them.
    for (const char* other : {"in0_input", "curr1_input", "power1_input", "power1_max"}) {
      (void)files.text(fmt::format("{}/{}", folder, other));
    }
    return;
  }
}

using Attributes = std::map<std::string, Reading, std::less<>>;

// Every tt_* of the node, asked once: what is not judged is to be in a recording.
Attributes read_attributes(Files& files, const std::string& node) {
  Attributes attributes;
  const auto names = files.names(node);
  if (!names) return attributes;
  for (const std::string& name : *names) {
    if (!name.starts_with("tt_") || attributes.size() == most_attributes) continue;
    attributes.emplace(name, files.answer("file", fmt::format("{}/{}", node, name)));
  }
  return attributes;
}

std::string text_of(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "" : text_in(found->second).value_or("");
}

// The driver answers so while a board is being reset. One attribute without data is no sign: its
// firmware may not publish it. Neither is one that is not there.
bool resets(const Attributes& attributes, bool has_sensors) {
  const auto says = [](std::string_view error) {
    return [error](const auto& attribute) { return attribute.second.error == error; };
  };
  if (std::any_of(attributes.begin(), attributes.end(), says("ENODEV"))) return true;
  return !has_sensors && attributes.size() > 1 &&
         std::all_of(attributes.begin(), attributes.end(), says("ENODATA"));
}

Heartbeat watch_heartbeat(Files& files, const std::string& file, const Reading& reading) {
  const auto first = number_in(reading);
  if (!first) return Heartbeat::unknown;
  for (const milliseconds time : {first_wait, second_wait}) {
    if (!files.wait(time)) return Heartbeat::unknown;
    const auto again = files.number(file);
    if (!again) return Heartbeat::unknown;
    if (*again != *first) return Heartbeat::alive;
  }
  return Heartbeat::frozen;
}

}  // namespace

BusFacts look_at_bus(Files& files) {
  BusFacts facts;
  const auto devices = files.names(bus);
  if (!devices) return facts;
  facts.boards.emplace();
  for (const std::string& bus_id : *devices) {
    if (files.number(folder_of(bus_id) + "/vendor") == tenstorrent_vendor) {
      facts.boards->push_back(bus_id);
    }
  }
  (void)files.text("/sys/module/tenstorrent/version");
  facts.has_driver = files.names("/sys/module/tenstorrent").has_value() ||
                     files.names("/sys/class/tenstorrent").has_value();
  return facts;
}

std::string node_number(Files& files, const std::string& bus_id) {
  const Reading nodes = files.answer("list", folder_of(bus_id) + "/tenstorrent");
  return nodes.error.empty() ? std::string(number_in_names(nodes.value)) : "";
}

std::optional<std::int64_t> heartbeat_of(Files& files, const std::string& bus_id) {
  const std::string node = node_of(files, folder_of(bus_id));
  return node.empty() ? std::nullopt : files.number(node + "/tt_heartbeat");
}

void look_at_pci(Files& files, const std::string& bus_id, BoardFacts& facts,
                 std::vector<Remark>& /*remarks*/) {
  const std::string device = folder_of(bus_id);
  (void)local_chip(facts);
  // The kernel caches `vendor`, so only the configuration space itself tells a board that is gone.
  const auto header = files.bytes(device + "/config");
  facts.off_bus = header && header->starts_with("ffff");
  const auto text = [&](const char* name) {
    return files.text(fmt::format("{}/{}", device, name)).value_or("");
  };
  facts.pcie.current_speed = text("current_link_speed");
  facts.pcie.max_speed = text("max_link_speed");
  facts.pcie.current_width = text("current_link_width");
  facts.pcie.max_width = text("max_link_width");
  const Reading nodes = files.answer("list", device + "/tenstorrent");
  // An answer that never came is not the answer that there is no driver.
  facts.has_driver = nodes.error.empty() ? !nodes.value.empty() : nodes.error != "ENOENT";
  if (nodes.error.empty() && facts.has_driver) facts.holders = holders(files, nodes.value);
}

void look_at_attributes(Files& files, const std::string& bus_id, BoardFacts& facts,
                        std::vector<Remark>& remarks) {
  const std::string device = folder_of(bus_id);
  read_sensors(files, device, local_chip(facts));
  const std::string node = node_of(files, device);
  if (node.empty()) return;

  const Attributes attributes = read_attributes(files, node);
  facts.serial = text_of(attributes, "tt_serial");
  facts.type = text_of(attributes, "tt_card_type");
  facts.firmware = text_of(attributes, "tt_fw_bundle_ver");
  if (facts.type == "n300") {
    ChipFacts remote;
    remote.id = "R";
    remote.confidence = "not read";
    facts.chips.push_back(std::move(remote));
  }
  if (resets(attributes, local_chip(facts).temperature_c.has_value())) {
    remarks.push_back({Verdict::resetting,
                       {"the driver has no data of the board: it is being reset, or its firmware "
                        "has not come up",
                        "look again in three minutes; if it stays, reset the board"}});
    return;
  }
  if (const auto beat = attributes.find("tt_heartbeat"); beat != attributes.end()) {
    local_chip(facts).heartbeat =
        watch_heartbeat(files, fmt::format("{}/tt_heartbeat", node), beat->second);
  }
}

}  // namespace trainward::hwprobe
