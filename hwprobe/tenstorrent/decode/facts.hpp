// What sources saw of a board, before any judgement. Everything that may be unreadable is optional:
// a missing reading is never a fault. Each source adds what it knows; what it does not know it
// leaves as it was.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"

namespace trainward::hwprobe {

enum class Heartbeat { unknown, alive, frozen };

// The management processor of a chip.
enum class ArcState {
  unknown,
  running,
  asleep,       // powered down until it is used: nothing to judge by
  booting,      // not there yet
  watchdog,     // its watchdog has ended it
  no_firmware,  // its post code is not that of running firmware
};

enum class DramState { good, untrained, failed };

struct ChipFacts {
  std::string id;          // "L", "R"
  std::string confidence;  // how much was looked at: "described", "kernel attributes", "not read"
  std::optional<double> temperature_c;
  std::optional<double> limit_c;     // where it throttles; 75 °C otherwise
  std::optional<double> shutdown_c;  // where it ends itself
  Heartbeat heartbeat = Heartbeat::unknown;
  ArcState arc = ArcState::unknown;
  std::optional<std::uint32_t> post_code;
  std::vector<DramState> dram;    // a channel each; empty when unreadable
  std::string firmware;           // its own bundle version, where it can differ from the board's
  std::string ethernet_firmware;  // "6.14.0"; empty when unreadable
  bool looked_at = false;         // at least one thing about this chip itself is known
};

struct LinkFacts {
  std::string from;  // "L:8"
  std::string to;    // "R:0"
  bool up = false;
  // Since the baseline (baselines.hpp), or in all where a source has no baseline.
  std::int64_t retrains = 0;
  std::int64_t crc_errors = 0;
  std::int64_t uncorrected = 0;  // codewords lost
  bool known = true;             // false: it could not be read, `up` says nothing
  bool training = false;         // not up yet, still trying
  std::string why{};             // it is down, in words; "training failed" when empty
};

struct PcieFacts {
  std::string current_speed, max_speed;  // "16.0 GT/s PCIe"; empty when unreadable
  std::string current_width, max_width;  // "16"
};

struct BoardFacts {
  std::string serial;
  std::string type;
  std::string bus_id;
  std::string firmware;         // bundle version "19.7.1.0"; empty when unreadable
  std::string newest_firmware;  // of this host's boards, when this board's is another
  bool present = true;          // false: expected, and not on the bus
  bool off_bus = false;         // configuration space reads all ones
  bool has_driver = true;
  bool stuck_in_kernel = false;  // a look at it never came back and cannot be ended
  bool bus_hung = false;         // the chip does not answer over PCIe
  bool noc_hung = false;         // its network on chip carries nothing
  bool resetting = false;        // the driver refuses it for now
  // Since its last reset, if known: links and telemetry take minutes to come back.
  std::optional<std::chrono::seconds> since_reset;
  std::vector<std::int64_t> holders;  // processes that have the device open
  bool held_alone = false;            // one of them lets no other process open it
  PcieFacts pcie;
  std::vector<ChipFacts> chips;
  std::vector<LinkFacts> links;
  json::object simulate;
};

}  // namespace trainward::hwprobe
