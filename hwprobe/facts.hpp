// What a source saw of a board, before any judgement. Everything that may be unreadable is
// optional: a missing reading is never a fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"

namespace trainward::hwprobe {

enum class Heartbeat { unknown, alive, frozen };

struct ChipFacts {
  std::string id;          // "L", "R"
  std::string confidence;  // how much was looked at: "described", "kernel attributes", "not read"
  std::optional<double> temperature_c;
  std::optional<double> limit_c;  // the chip's own; 75 °C otherwise
  Heartbeat heartbeat = Heartbeat::unknown;
  bool looked_at = false;  // at least one thing about this chip itself is known
};

struct LinkFacts {
  std::string from;  // "L:8"
  std::string to;    // "R:0"
  bool up = false;
  std::int64_t retrains = 0;
};

struct PcieFacts {
  std::string current_speed, max_speed;  // "16.0 GT/s PCIe"; empty when unreadable
  std::string current_width, max_width;  // "16"
};

struct BoardFacts {
  std::string serial;
  std::string type;
  std::string bus_id;
  std::string firmware;  // bundle version "19.7.1.0"; empty when unreadable
  bool off_bus = false;  // configuration space reads all ones
  bool has_driver = true;
  std::vector<std::int64_t> holders;  // processes that have the device open
  PcieFacts pcie;
  std::vector<ChipFacts> chips;
  std::vector<LinkFacts> links;
  json::object simulate;
};

}  // namespace trainward::hwprobe
