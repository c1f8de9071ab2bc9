#include "trainer/n300_sim/plugin/handles.hpp"

#include "common/base/version.hpp"

namespace trainward::pjrt::abi {
namespace {

constexpr std::string_view arch_name = "arch";
constexpr std::string_view arch = "wormhole_b0";
constexpr std::string_view dram_name = "dram_size_bytes";

NamedValue named(std::string_view name, NamedValue_Type type) {
  NamedValue value{};
  value.struct_size = sizeof(value);
  value.name = name.data();
  value.name_size = name.size();
  value.type = type;
  value.value_size = 1;
  return value;
}

std::int64_t dram_of(const n300::Settings& settings, std::size_t chip) {
  return static_cast<std::int64_t>(settings.card.chips[chip].dram_bytes);
}

}  // namespace

DeviceDescription::DeviceDescription(int its_id, std::int64_t dram_bytes)
    : id(its_id),
      debug_string(fmt::format("simulated N300, chip {}, {} bytes of DRAM", its_id, dram_bytes)),
      to_string(fmt::format("SimulatedN300(id={})", its_id)) {
  NamedValue& architecture = attributes.emplace_back(named(arch_name, NamedValue_String));
  architecture.string_value = arch.data();
  architecture.value_size = arch.size();
  attributes.emplace_back(named(dram_name, NamedValue_Int64)).int64_value = dram_bytes;
}

Device::Device(Client& its_client, int id, std::int64_t dram_bytes)
    : client(&its_client),
      description(id, dram_bytes),
      memory{id, this, fmt::format("DRAM of chip {}", id)},
      memory_list(&memory),
      list_of_itself(this) {}

Client::Client(std::shared_ptr<n300::Machine> board)
    : machine(std::move(board)), compiler(machine->settings()) {
  for (std::size_t chip = 0; chip < machine->chips(); ++chip) {
    devices.push_back(std::make_unique<Device>(*this, static_cast<int>(chip),
                                               dram_of(machine->settings(), chip)));
    device_list.push_back(devices.back().get());
    memory_list.push_back(&devices.back()->memory);
  }
}

TopologyDescription::TopologyDescription(const n300::Settings& settings) : compiler(settings) {
  for (std::size_t chip = 0; chip < settings.card.chips.size(); ++chip) {
    descriptions.push_back(
        std::make_unique<DeviceDescription>(static_cast<int>(chip), dram_of(settings, chip)));
    description_list.push_back(descriptions.back().get());
  }
}

}  // namespace trainward::pjrt::abi

namespace trainward::n300 {

pjrt::abi::Event* make_event() { return std::make_unique<pjrt::abi::Event>().release(); }

pjrt::abi::Event* make_event(const Machine& machine, Instant when) {
  return std::make_unique<pjrt::abi::Event>(pjrt::abi::Event{when, machine.alarm()}).release();
}

const std::string& platform_name() {
  static const std::string name = "sim_n300";
  return name;
}

const std::string& platform_version() {
  static const std::string version = fmt::format("simulated N300 {}", version_text);
  return version;
}

}  // namespace trainward::n300
