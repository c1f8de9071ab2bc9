// Boards as the kernel shows them, without opening a device: PCI, the driver's attributes, hwmon.
//
// In: Files, live or recorded, and the board's PCI address. Out: facts about chip L (chip R has no
// presence in the kernel). What cannot be read stays unset and is never a fault. The same function
// runs in the child, where every access is streamed, and in the parent, over what was streamed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwprobe/stages/files.hpp"
#include "hwprobe/stages/remark.hpp"
#include "hwprobe/tenstorrent/decode/facts.hpp"

namespace trainward::hwprobe {

// A file for each board: NUMBER/pids.
inline constexpr std::string_view holders_folder = "/proc/driver/tenstorrent";

struct BusFacts {
  std::optional<std::vector<std::string>> boards;  // PCI addresses; nothing: no bus could be listed
  bool has_driver = false;                         // the kernel module is loaded
};

BusFacts look_at_bus(Files& files);

// "0" of its node tenstorrent!0; empty without a driver. A reset may change it.
std::string node_number(Files& files, const std::string& bus_id);

// The driver's counter that moves while the management processor lives; nothing where it has none.
std::optional<std::int64_t> heartbeat_of(Files& files, const std::string& bus_id);

// PCI, and who holds the device.
void look_at_pci(Files& files, const std::string& bus_id, BoardFacts& facts,
                 std::vector<Remark>& remarks);

// The driver's attributes and hwmon; waits 1.2 s or more to see the heartbeat move.
void look_at_attributes(Files& files, const std::string& bus_id, BoardFacts& facts,
                        std::vector<Remark>& remarks);

}  // namespace trainward::hwprobe
