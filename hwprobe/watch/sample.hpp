// One look at what a board measures of itself while it works, and the line that carries it.
//
// In: numbers from the kernel or a described board. Out: a Sample, where everything that could not
// be read is unset; as JSON an object of what is known. Units: °C, W, V, A, MHz; counters since
// the machine started. Errors: text that is no sample is one of kind corrupt. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::hwprobe {

struct Sample {
  std::string board;    // as it was asked for: a PCI address, or the serial of a described board
  bool present = true;  // false: the kernel no longer knows it
  std::optional<double> temperature_c;
  std::optional<double> limit_c;  // where it throttles, as it says itself
  std::optional<double> power_w;
  std::optional<double> power_limit_w;
  std::optional<double> voltage_v;
  std::optional<double> current_a;
  std::optional<std::int64_t> clock_mhz;
  std::optional<std::int64_t> heartbeat;
  // PCIe errors (AER): put right by the link itself, lost transfers, a lost link.
  std::optional<std::int64_t> aer_correctable;
  std::optional<std::int64_t> aer_nonfatal;
  std::optional<std::int64_t> aer_fatal;

  friend bool operator==(const Sample&, const Sample&) = default;
};

// Whether anything at all was read of it.
bool says_something(const Sample& sample);

json::object to_json(const Sample& sample);
// A value that is not a number, or is absurdly large, is left out.
Result<Sample> sample_from_json(const json::value& value);

}  // namespace trainward::hwprobe
