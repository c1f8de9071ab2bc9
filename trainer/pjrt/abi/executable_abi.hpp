// Arguments of calls about executables, and of compiling without a device.
//
// Every call takes one pointer to its struct. The first two fields are the sender's: struct_size
// and extension_start (null). What a call answers comes last, in fields the sender has zeroed;
// newer versions only append, so an older plugin knows a prefix of each struct.
#pragma once

#include "trainer/pjrt/abi/types.hpp"

namespace trainward::pjrt::abi {

// Executables

struct Executable_Destroy_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
};
static_assert(sizeof(Executable_Destroy_Args) == 24);

struct Executable_Name_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  const char* executable_name;
  std::size_t executable_name_size;
};
static_assert(sizeof(Executable_Name_Args) == 40);

struct Executable_NumReplicas_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  std::size_t num_replicas;
};
static_assert(sizeof(Executable_NumReplicas_Args) == 32);

struct Executable_NumPartitions_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  std::size_t num_partitions;
};
static_assert(sizeof(Executable_NumPartitions_Args) == 32);

struct Executable_NumOutputs_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  std::size_t num_outputs;
};
static_assert(sizeof(Executable_NumOutputs_Args) == 32);

struct Executable_SizeOfGeneratedCodeInBytes_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  std::int64_t size_in_bytes;
};
static_assert(sizeof(Executable_SizeOfGeneratedCodeInBytes_Args) == 32);

struct Executable_OutputMemoryKinds_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  std::size_t num_outputs;
  const char* const* memory_kinds;
  const std::size_t* memory_kind_sizes;
};
static_assert(sizeof(Executable_OutputMemoryKinds_Args) == 48);

struct Executable_OptimizedProgram_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  Program* program;
};
static_assert(sizeof(Executable_OptimizedProgram_Args) == 32);

struct Executable_Serialize_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const Executable* executable;
  const char* serialized_bytes;
  std::size_t serialized_bytes_size;
  SerializedExecutable* serialized_executable;
  void (*serialized_executable_deleter)(SerializedExecutable* exec);
};
static_assert(sizeof(Executable_Serialize_Args) == 56);

struct LoadedExecutable_Destroy_Args {
  std::size_t struct_size;
  Extension* extension_start;
  LoadedExecutable* executable;
};
static_assert(sizeof(LoadedExecutable_Destroy_Args) == 24);

struct LoadedExecutable_GetExecutable_Args {
  std::size_t struct_size;
  Extension* extension_start;
  LoadedExecutable* loaded_executable;
  Executable* executable;
};
static_assert(sizeof(LoadedExecutable_GetExecutable_Args) == 32);

struct LoadedExecutable_AddressableDevices_Args {
  std::size_t struct_size;
  Extension* extension_start;
  LoadedExecutable* executable;
  Device* const* addressable_devices;
  std::size_t num_addressable_devices;
};
static_assert(sizeof(LoadedExecutable_AddressableDevices_Args) == 40);

struct LoadedExecutable_Delete_Args {
  std::size_t struct_size;
  Extension* extension_start;
  LoadedExecutable* executable;
};
static_assert(sizeof(LoadedExecutable_Delete_Args) == 24);

struct LoadedExecutable_IsDeleted_Args {
  std::size_t struct_size;
  Extension* extension_start;
  LoadedExecutable* executable;
  bool is_deleted;
};
static_assert(sizeof(LoadedExecutable_IsDeleted_Args) == 32);

struct LoadedExecutable_Execute_Args {
  std::size_t struct_size;
  Extension* extension_start;
  LoadedExecutable* executable;
  ExecuteOptions* options;
  Buffer* const* const* argument_lists;
  std::size_t num_devices;
  std::size_t num_args;
  Buffer** const* output_lists;
  Event** device_complete_events;
  Device* execute_device;
};
static_assert(sizeof(LoadedExecutable_Execute_Args) == 80);

struct Executable_DeserializeAndLoad_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Client* client;
  const char* serialized_executable;
  std::size_t serialized_executable_size;
  LoadedExecutable* loaded_executable;
  const char* overridden_serialized_compile_options;
  std::size_t overridden_serialized_compile_options_size;
  LoadOptions* load_options;
};
static_assert(sizeof(Executable_DeserializeAndLoad_Args) == 72);

struct Executable_OutputElementTypes_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  Buffer_Type* output_types;
  std::size_t num_output_types;
};
static_assert(sizeof(Executable_OutputElementTypes_Args) == 40);

struct Executable_OutputDimensions_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  std::size_t num_outputs;
  const std::int64_t* dims;
  const std::size_t* dim_sizes;
};
static_assert(sizeof(Executable_OutputDimensions_Args) == 48);

struct Executable_Fingerprint_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  const char* executable_fingerprint;
  std::size_t executable_fingerprint_size;
};
static_assert(sizeof(Executable_Fingerprint_Args) == 40);

struct Executable_GetCompiledMemoryStats_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Executable* executable;
  std::int64_t generated_code_size_in_bytes;
  std::int64_t argument_size_in_bytes;
  std::int64_t output_size_in_bytes;
  std::int64_t alias_size_in_bytes;
  std::int64_t temp_size_in_bytes;
  std::int64_t host_generated_code_size_in_bytes;
  std::int64_t host_argument_size_in_bytes;
  std::int64_t host_output_size_in_bytes;
  std::int64_t host_alias_size_in_bytes;
  std::int64_t host_temp_size_in_bytes;
  std::int64_t peak_memory_in_bytes;
  std::int64_t total_size_in_bytes;
  std::int64_t total_allocation_bytes;
  std::int64_t indefinite_allocations;
  std::int64_t peak_unpadded_heap_bytes;
};
static_assert(sizeof(Executable_GetCompiledMemoryStats_Args) == 144);

struct LoadedExecutable_GetDeviceAssignment_Args {
  std::size_t struct_size;
  Extension* extension_start;
  LoadedExecutable* executable;
  const char* serialized_bytes;
  std::size_t serialized_bytes_size;
  DeviceAssignmentSerialized* serialized_device_assignment;
  void (*serialized_device_assignment_deleter)(DeviceAssignmentSerialized* assignment);
};
static_assert(sizeof(LoadedExecutable_GetDeviceAssignment_Args) == 56);

// Compiling without a device

struct TopologyDescription_Create_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const char* topology_name;
  std::size_t topology_name_size;
  const NamedValue* create_options;
  std::size_t num_options;
  TopologyDescription* topology;
};
static_assert(sizeof(TopologyDescription_Create_Args) == 56);

struct TopologyDescription_Destroy_Args {
  std::size_t struct_size;
  Extension* extension_start;
  TopologyDescription* topology;
};
static_assert(sizeof(TopologyDescription_Destroy_Args) == 24);

struct TopologyDescription_PlatformName_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const TopologyDescription* topology;
  const char* platform_name;
  std::size_t platform_name_size;
};
static_assert(sizeof(TopologyDescription_PlatformName_Args) == 40);

struct TopologyDescription_PlatformVersion_Args {
  std::size_t struct_size;
  Extension* extension_start;
  TopologyDescription* topology;
  const char* platform_version;
  std::size_t platform_version_size;
};
static_assert(sizeof(TopologyDescription_PlatformVersion_Args) == 40);

struct TopologyDescription_GetDeviceDescriptions_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const TopologyDescription* topology;
  DeviceDescription* const* descriptions;
  std::size_t num_descriptions;
};
static_assert(sizeof(TopologyDescription_GetDeviceDescriptions_Args) == 40);

struct Compile_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const TopologyDescription* topology;
  const Program* program;
  const char* compile_options;
  std::size_t compile_options_size;
  Client* client;
  Executable* executable;
};
static_assert(sizeof(Compile_Args) == 64);

static_assert(offsetof(Executable_Serialize_Args, serialized_executable_deleter) == 48);
static_assert(offsetof(LoadedExecutable_Execute_Args, output_lists) == 56);
static_assert(offsetof(Compile_Args, executable) == 56);

}  // namespace trainward::pjrt::abi
