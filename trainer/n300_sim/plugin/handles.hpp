// What is behind the handles of the C interface.
//
// A client owns its devices and memories; all other objects belong to the caller until it destroys
// them. Everything the simulated device computes with keeps the machine alive.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/n300_sim/plugin/plugin_failure.hpp"
#include "trainer/n300_sim/plugin/plugin_image.hpp"
#include "trainer/n300_sim/plugin/plugin_machine.hpp"
#include "trainer/n300_sim/staged_program.hpp"
#include "trainer/pjrt/abi/types.hpp"

namespace trainward::pjrt::abi {

struct Error {
  Error_Code code;
  std::string text;
};

// Something that happens at a moment that is known.
struct Event {
  n300::Instant when;
  std::shared_ptr<n300::Alarm> alarm;  // none: it has happened
};

struct DeviceDescription {
  explicit DeviceDescription(int id, std::int64_t dram_bytes);

  int id;
  std::string debug_string;
  std::string to_string;
  std::vector<NamedValue> attributes;
};

struct Memory {
  int id = 0;
  Device* device = nullptr;
  std::string debug_string;
};

struct Device {
  Device(Client& its_client, int id, std::int64_t dram_bytes);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() = default;

  Client* client;
  DeviceDescription description;
  Memory memory;
  Memory* memory_list;     // of the one above
  Device* list_of_itself;  // what the memory belongs to
};

struct Client {
  explicit Client(std::shared_ptr<n300::Machine> board);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() = default;

  std::shared_ptr<n300::Machine> machine;
  n300::Compiler compiler;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device*> device_list;
  std::vector<Memory*> memory_list;
};

struct Buffer {
  Buffer(std::shared_ptr<n300::Machine> its_machine, Device* its_device, graph::Type its_type,
         n300::DeviceBlock its_block)
      : machine(std::move(its_machine)),
        device(its_device),
        type(std::move(its_type)),
        block(std::move(its_block)) {}

  std::shared_ptr<n300::Machine> machine;
  Device* device;
  graph::Type type;
  std::optional<n300::DeviceBlock> block;  // empty once deleted
  n300::Instant ready;                     // its values are in `block` before
  bool ready_event_taken = false;
};

struct Executable {
  std::shared_ptr<const n300::Image> image;
};

struct LoadedExecutable {
  Client* client = nullptr;
  std::shared_ptr<n300::Machine> machine;
  std::shared_ptr<const n300::Image> image;
  std::vector<Device*> devices;                // the first `replicas` ones
  std::optional<n300::StagedProgram> program;  // empty once deleted
};

struct SerializedExecutable {
  std::string bytes;
};

struct DeviceAssignmentSerialized {
  std::string bytes;
};

struct TopologyDescription {
  explicit TopologyDescription(const n300::Settings& settings);
  TopologyDescription(const TopologyDescription&) = delete;
  TopologyDescription& operator=(const TopologyDescription&) = delete;
  ~TopologyDescription() = default;

  n300::Compiler compiler;
  std::vector<std::unique_ptr<DeviceDescription>> descriptions;
  std::vector<DeviceDescription*> description_list;
};

}  // namespace trainward::pjrt::abi

namespace trainward::n300 {

// Has happened.
pjrt::abi::Event* make_event();
// Happens on the machine's chips at that moment.
pjrt::abi::Event* make_event(const Machine& machine, Instant when);

// The end of what a caller was given; null is nothing.
template <typename Handle>
void dispose(Handle* handle) {
  const std::unique_ptr<Handle> owner(handle);
}

const std::string& platform_name();
const std::string& platform_version();
inline constexpr std::string_view device_kind = "simulated n300";
inline constexpr std::string_view memory_kind = "device";

}  // namespace trainward::n300
