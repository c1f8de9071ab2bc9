// Arguments of calls about clients, devices and memories.
//
// Every call takes one pointer to its struct. The first two fields are the sender's: struct_size
// and extension_start (null). What a call answers comes last, in fields the sender has zeroed;
// newer versions only append, so an older plugin knows a prefix of each struct.
#pragma once

#include "trainer/pjrt/abi/types.hpp"

namespace trainward::pjrt::abi {

// Clients

struct Client_Create_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const NamedValue* create_options;
  std::size_t num_options;
  KeyValueGetCallback kv_get_callback;
  void* kv_get_user_arg;
  KeyValuePutCallback kv_put_callback;
  void* kv_put_user_arg;
  Client* client;
  KeyValueTryGetCallback kv_try_get_callback;
  void* kv_try_get_user_arg;
};
static_assert(sizeof(Client_Create_Args) == 88);

struct Client_Destroy_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
};
static_assert(sizeof(Client_Destroy_Args) == 24);

struct Client_PlatformName_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  const char* platform_name;
  std::size_t platform_name_size;
};
static_assert(sizeof(Client_PlatformName_Args) == 40);

struct Client_ProcessIndex_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  int process_index;
};
static_assert(sizeof(Client_ProcessIndex_Args) == 32);

struct Client_PlatformVersion_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  const char* platform_version;
  std::size_t platform_version_size;
};
static_assert(sizeof(Client_PlatformVersion_Args) == 40);

struct Client_Devices_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  Device* const* devices;
  std::size_t num_devices;
};
static_assert(sizeof(Client_Devices_Args) == 40);

struct Client_AddressableDevices_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  Device* const* addressable_devices;
  std::size_t num_addressable_devices;
};
static_assert(sizeof(Client_AddressableDevices_Args) == 40);

struct Client_LookupDevice_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  int id;
  Device* device;
};
static_assert(sizeof(Client_LookupDevice_Args) == 40);

struct Client_LookupAddressableDevice_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  int local_hardware_id;
  Device* addressable_device;
};
static_assert(sizeof(Client_LookupAddressableDevice_Args) == 40);

struct Client_AddressableMemories_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  Memory* const* addressable_memories;
  std::size_t num_addressable_memories;
};
static_assert(sizeof(Client_AddressableMemories_Args) == 40);

struct Client_Compile_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  const Program* program;
  const char* compile_options;
  std::size_t compile_options_size;
  LoadedExecutable* executable;
};
static_assert(sizeof(Client_Compile_Args) == 56);

struct Client_DefaultDeviceAssignment_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  int num_replicas;
  int num_partitions;
  std::size_t default_assignment_size;
  int* default_assignment;
};
static_assert(sizeof(Client_DefaultDeviceAssignment_Args) == 48);

struct Client_BufferFromHostBuffer_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  const void* data;
  Buffer_Type type;
  const std::int64_t* dims;
  std::size_t num_dims;
  const std::int64_t* byte_strides;
  std::size_t num_byte_strides;
  HostBufferSemantics host_buffer_semantics;
  Device* device;
  Memory* memory;
  Buffer_MemoryLayout* device_layout;
  Event* done_with_host_buffer;
  Buffer* buffer;
};
static_assert(sizeof(Client_BufferFromHostBuffer_Args) == 120);

struct Client_DmaMap_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  void* data;
  std::size_t size;
};
static_assert(sizeof(Client_DmaMap_Args) == 40);

struct Client_DmaUnmap_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  void* data;
};
static_assert(sizeof(Client_DmaUnmap_Args) == 32);

struct Client_TopologyDescription_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  TopologyDescription* topology;
};
static_assert(sizeof(Client_TopologyDescription_Args) == 32);

struct Client_Load_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  Executable* executable;
  const char* compile_options;
  std::size_t compile_options_size;
  LoadedExecutable* loaded_executable;
};
static_assert(sizeof(Client_Load_Args) == 56);

// Devices

struct DeviceDescription_Id_Args {
  std::size_t struct_size;
  Extension* extension_start;
  DeviceDescription* device_description;
  int id;
};
static_assert(sizeof(DeviceDescription_Id_Args) == 32);

struct DeviceDescription_ProcessIndex_Args {
  std::size_t struct_size;
  Extension* extension_start;
  DeviceDescription* device_description;
  int process_index;
};
static_assert(sizeof(DeviceDescription_ProcessIndex_Args) == 32);

struct DeviceDescription_Attributes_Args {
  std::size_t struct_size;
  Extension* extension_start;
  DeviceDescription* device_description;
  std::size_t num_attributes;
  const NamedValue* attributes;
};
static_assert(sizeof(DeviceDescription_Attributes_Args) == 40);

struct DeviceDescription_Kind_Args {
  std::size_t struct_size;
  Extension* extension_start;
  DeviceDescription* device_description;
  const char* device_kind;
  std::size_t device_kind_size;
};
static_assert(sizeof(DeviceDescription_Kind_Args) == 40);

struct DeviceDescription_DebugString_Args {
  std::size_t struct_size;
  Extension* extension_start;
  DeviceDescription* device_description;
  const char* debug_string;
  std::size_t debug_string_size;
};
static_assert(sizeof(DeviceDescription_DebugString_Args) == 40);

struct DeviceDescription_ToString_Args {
  std::size_t struct_size;
  Extension* extension_start;
  DeviceDescription* device_description;
  const char* to_string;
  std::size_t to_string_size;
};
static_assert(sizeof(DeviceDescription_ToString_Args) == 40);

struct Device_GetDescription_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Device* device;
  DeviceDescription* device_description;
};
static_assert(sizeof(Device_GetDescription_Args) == 32);

struct Device_IsAddressable_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Device* device;
  bool is_addressable;
};
static_assert(sizeof(Device_IsAddressable_Args) == 32);

struct Device_LocalHardwareId_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Device* device;
  int local_hardware_id;
};
static_assert(sizeof(Device_LocalHardwareId_Args) == 32);

struct Device_AddressableMemories_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Device* device;
  Memory* const* memories;
  std::size_t num_memories;
};
static_assert(sizeof(Device_AddressableMemories_Args) == 40);

struct Device_DefaultMemory_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Device* device;
  Memory* memory;
};
static_assert(sizeof(Device_DefaultMemory_Args) == 32);

// The order is the interface's. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct Device_MemoryStats_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Device* device;
  std::int64_t bytes_in_use;
  std::int64_t peak_bytes_in_use;
  bool peak_bytes_in_use_is_set;
  std::int64_t num_allocs;
  bool num_allocs_is_set;
  std::int64_t largest_alloc_size;
  bool largest_alloc_size_is_set;
  std::int64_t bytes_limit;
  bool bytes_limit_is_set;
  std::int64_t bytes_reserved;
  bool bytes_reserved_is_set;
  std::int64_t peak_bytes_reserved;
  bool peak_bytes_reserved_is_set;
  std::int64_t bytes_reservable_limit;
  bool bytes_reservable_limit_is_set;
  std::int64_t largest_free_block_bytes;
  bool largest_free_block_bytes_is_set;
  std::int64_t pool_bytes;
  bool pool_bytes_is_set;
  std::int64_t peak_pool_bytes;
  bool peak_pool_bytes_is_set;
  std::int64_t peak_allocated_bytes;
  bool peak_allocated_bytes_is_set;
};
static_assert(sizeof(Device_MemoryStats_Args) == 208);

// Memories

struct Memory_Id_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Memory* memory;
  int id;
};
static_assert(sizeof(Memory_Id_Args) == 32);

struct Memory_Kind_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Memory* memory;
  const char* kind;
  std::size_t kind_size;
};
static_assert(sizeof(Memory_Kind_Args) == 40);

struct Memory_DebugString_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Memory* memory;
  const char* debug_string;
  std::size_t debug_string_size;
};
static_assert(sizeof(Memory_DebugString_Args) == 40);

struct Memory_ToString_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Memory* memory;
  const char* to_string;
  std::size_t to_string_size;
};
static_assert(sizeof(Memory_ToString_Args) == 40);

struct Memory_AddressableByDevices_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Memory* memory;
  Device* const* devices;
  std::size_t num_devices;
};
static_assert(sizeof(Memory_AddressableByDevices_Args) == 40);

static_assert(offsetof(Client_Create_Args, client) == 64);
static_assert(offsetof(Client_BufferFromHostBuffer_Args, done_with_host_buffer) == 104);
static_assert(offsetof(Device_MemoryStats_Args, bytes_limit) == 80);

}  // namespace trainward::pjrt::abi
