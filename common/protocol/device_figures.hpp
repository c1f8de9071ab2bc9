// What a program may report of each of its devices or ranks, beside the figures of the whole step:
// the one table, as step_figures.hpp is for steps.
//
// As a message, some steps at a time (docs/worker-protocol.md):
//
//   DEVICES=["0100014511728a37/L", "0100014511728a37/R"]  DEVICES_STEP=120  DEVICES_STEPS=10
//   DEVICES_COMPUTE_MS=[21.4, 30.2]  DEVICES_COLLECTIVE_MS=[11.9, 3.1]  …
//
// Lists are JSON, one value for each device, null where it is not known. Pure.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/figure.hpp"

namespace trainward {

inline constexpr std::size_t max_devices = 128;  // whose lists fit into a message

// Times are of a step, on average over the steps of the message.
struct DeviceFigures {
  std::optional<double> loss = {};
  std::optional<double> tokens_per_second = {};
  std::optional<double> compute_ms = {};
  std::optional<double> collective_ms = {};
  std::optional<double> input_wait_ms = {};
  std::optional<std::int64_t> memory = {};
  std::optional<std::int64_t> memory_limit = {};

  friend bool operator==(const DeviceFigures&, const DeviceFigures&) = default;
};
BOOST_DESCRIBE_STRUCT(DeviceFigures, (),
                      (loss, tokens_per_second, compute_ms, collective_ms, input_wait_ms, memory,
                       memory_limit))

struct DeviceFigure {
  // The member, the column, and the key of documents; in upper case the end of a message's key.
  std::string_view name;
  FigureMember<DeviceFigures> member;
  std::string_view title;  // for people, at the head of a column
  FigureUnit unit = FigureUnit::plain;
  std::string_view metric;  // of Prometheus, in its base units
  std::string_view help;
};

inline constexpr auto device_figures = std::to_array<DeviceFigure>({
    {.name = "loss",
     .member = &DeviceFigures::loss,
     .title = "loss",
     .metric = "trainward_device_loss",
     .help = "Mean loss of the device's own share of the newest steps; null where it was no "
             "number."},
    {.name = "tokens_per_second",
     .member = &DeviceFigures::tokens_per_second,
     .title = "tokens/s",
     .unit = FigureUnit::tokens_per_second,
     .metric = "trainward_device_tokens_per_second",
     .help = "Tokens a second that the device computed while it computed: what it would do if it "
             "never waited."},
    {.name = "compute_ms",
     .member = &DeviceFigures::compute_ms,
     .title = "compute",
     .unit = FigureUnit::ms,
     .metric = "trainward_device_compute_seconds",
     .help = "Time of a step that the device computed, up to the exchange of gradients and after "
             "it. The device that takes longest is the one the others wait for."},
    {.name = "collective_ms",
     .member = &DeviceFigures::collective_ms,
     .title = "exchange",
     .unit = FigureUnit::ms,
     .metric = "trainward_device_collective_seconds",
     .help = "Time of a step that the device spent on exchange with others, waiting for them "
             "included."},
    {.name = "input_wait_ms",
     .member = &DeviceFigures::input_wait_ms,
     .title = "input wait",
     .unit = FigureUnit::ms,
     .metric = "trainward_device_input_wait_seconds",
     .help = "Time of a step that the device waited for its data."},
    {.name = "memory",
     .member = &DeviceFigures::memory,
     .title = "memory",
     .unit = FigureUnit::bytes,
     .metric = "trainward_device_memory_used_bytes",
     .help = "The most of the device's memory that was in use since the attempt began."},
    {.name = "memory_limit",
     .member = &DeviceFigures::memory_limit,
     .title = "usable memory",
     .unit = FigureUnit::bytes,
     .metric = "trainward_device_memory_usable_bytes",
     .help = "Memory that a program may use on the device."},
});

struct ToldDevice {
  std::string name;  // "0100014511728a37/R", "rank 3": as people know it
  DeviceFigures figures;
  friend bool operator==(const ToldDevice&, const ToldDevice&) = default;
};

// What all of them did in `steps` steps up to `step`.
struct DeviceWindow {
  std::int64_t step = 0;
  std::int64_t steps = 0;
  std::vector<ToldDevice> devices;
  friend bool operator==(const DeviceWindow&, const DeviceWindow&) = default;
};

// At most max_devices of them.
Message message_of(const DeviceWindow& window);

// Foreign: nothing without a step and names that can be. A list that is no list, or of another
// length, is left out, and so is a value that cannot be.
std::optional<DeviceWindow> told_devices(const Message& message);

}  // namespace trainward
