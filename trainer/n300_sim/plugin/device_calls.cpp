// Devices and their memories, one of each per chip.
#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;

Answer<void> description_id(abi::DeviceDescription_Id_Args& args) {
  args.id = args.device_description->id;
  return {};
}

Answer<void> process_index(abi::DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = 0;
  return {};
}

Answer<void> attributes(abi::DeviceDescription_Attributes_Args& args) {
  args.attributes = args.device_description->attributes.data();
  args.num_attributes = args.device_description->attributes.size();
  return {};
}

Answer<void> kind(abi::DeviceDescription_Kind_Args& args) {
  args.device_kind = device_kind.data();
  args.device_kind_size = device_kind.size();
  return {};
}

Answer<void> debug_string(abi::DeviceDescription_DebugString_Args& args) {
  args.debug_string = args.device_description->debug_string.data();
  args.debug_string_size = args.device_description->debug_string.size();
  return {};
}

Answer<void> to_string(abi::DeviceDescription_ToString_Args& args) {
  args.to_string = args.device_description->to_string.data();
  args.to_string_size = args.device_description->to_string.size();
  return {};
}

Answer<void> description(abi::Device_GetDescription_Args& args) {
  args.device_description = &args.device->description;
  return {};
}

Answer<void> is_addressable(abi::Device_IsAddressable_Args& args) {
  args.is_addressable = true;
  return {};
}

Answer<void> hardware_id(abi::Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->description.id;
  return {};
}

Answer<void> memories(abi::Device_AddressableMemories_Args& args) {
  args.memories = &args.device->memory_list;
  args.num_memories = 1;
  return {};
}

Answer<void> default_memory(abi::Device_DefaultMemory_Args& args) {
  args.memory = &args.device->memory;
  return {};
}

Answer<void> memory_stats(abi::Device_MemoryStats_Args& args) {
  const Machine& machine = *args.device->client->machine;
  if (auto ok = machine.check_thread(); !ok) return ok;
  const ChipMemory& chip = machine.memory(static_cast<std::size_t>(args.device->description.id));
  args.bytes_in_use = static_cast<std::int64_t>(chip.used_bytes());
  args.peak_bytes_in_use = static_cast<std::int64_t>(chip.most_used_bytes());
  args.peak_bytes_in_use_is_set = true;
  args.bytes_limit = static_cast<std::int64_t>(chip.capacity());
  args.bytes_limit_is_set = true;
  return {};
}

Answer<void> memory_id(abi::Memory_Id_Args& args) {
  args.id = args.memory->id;
  return {};
}

Answer<void> memory_kind_of(abi::Memory_Kind_Args& args) {
  args.kind = memory_kind.data();
  args.kind_size = memory_kind.size();
  return {};
}

Answer<void> memory_debug_string(abi::Memory_DebugString_Args& args) {
  args.debug_string = args.memory->debug_string.data();
  args.debug_string_size = args.memory->debug_string.size();
  return {};
}

Answer<void> memory_to_string(abi::Memory_ToString_Args& args) {
  args.to_string = args.memory->debug_string.data();
  args.to_string_size = args.memory->debug_string.size();
  return {};
}

Answer<void> memory_devices(abi::Memory_AddressableByDevices_Args& args) {
  args.devices = &args.memory->device->list_of_itself;
  args.num_devices = 1;
  return {};
}

}  // namespace

void bind_device_calls(abi::Api& api) {
  api.DeviceDescription_Id = entry<&description_id>;
  api.DeviceDescription_ProcessIndex = entry<&process_index>;
  api.DeviceDescription_Attributes = entry<&attributes>;
  api.DeviceDescription_Kind = entry<&kind>;
  api.DeviceDescription_DebugString = entry<&debug_string>;
  api.DeviceDescription_ToString = entry<&to_string>;
  api.Device_GetDescription = entry<&description>;
  api.Device_IsAddressable = entry<&is_addressable>;
  api.Device_LocalHardwareId = entry<&hardware_id>;
  api.Device_AddressableMemories = entry<&memories>;
  api.Device_DefaultMemory = entry<&default_memory>;
  api.Device_MemoryStats = entry<&memory_stats>;
  api.Memory_Id = entry<&memory_id>;
  api.Memory_Kind = entry<&memory_kind_of>;
  api.Memory_DebugString = entry<&memory_debug_string>;
  api.Memory_ToString = entry<&memory_to_string>;
  api.Memory_AddressableByDevices = entry<&memory_devices>;
}

}  // namespace trainward::n300
