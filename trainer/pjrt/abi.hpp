// The PJRT C interface, version 0.114, as this project declares it: the table of calls a plugin
// answers.
//
// A plugin exports `const abi::Api* GetPjrtApi()`. Its table may be shorter than ours (an older
// plugin) or longer (a newer one): a call exists if it lies within the plugin's struct_size and is
// not null. Calls return null or an Error that the caller destroys. Entries of type Undeclared are
// there for their place only.
#pragma once

#include "trainer/pjrt/abi/buffer_abi.hpp"
#include "trainer/pjrt/abi/client_abi.hpp"
#include "trainer/pjrt/abi/executable_abi.hpp"
#include "trainer/pjrt/abi/plugin_abi.hpp"
#include "trainer/pjrt/abi/types.hpp"

namespace trainward::pjrt::abi {

inline constexpr int api_major = 0;
inline constexpr int api_minor = 114;

template <typename Args>
using Call = Error* (*)(Args* args);
using Undeclared = Error* (*)(void* args);

struct Api {
  std::size_t struct_size;
  Extension* extension_start;
  Api_Version pjrt_api_version;

  void (*Error_Destroy)(Error_Destroy_Args* args);
  void (*Error_Message)(Error_Message_Args* args);
  Call<Error_GetCode_Args> Error_GetCode;
  Call<Plugin_Initialize_Args> Plugin_Initialize;
  Call<Plugin_Attributes_Args> Plugin_Attributes;
  Call<Event_Destroy_Args> Event_Destroy;
  Call<Event_IsReady_Args> Event_IsReady;
  Call<Event_Error_Args> Event_Error;
  Call<Event_Await_Args> Event_Await;
  Call<Event_OnReady_Args> Event_OnReady;
  Call<Client_Create_Args> Client_Create;
  Call<Client_Destroy_Args> Client_Destroy;
  Call<Client_PlatformName_Args> Client_PlatformName;
  Call<Client_ProcessIndex_Args> Client_ProcessIndex;
  Call<Client_PlatformVersion_Args> Client_PlatformVersion;
  Call<Client_Devices_Args> Client_Devices;
  Call<Client_AddressableDevices_Args> Client_AddressableDevices;
  Call<Client_LookupDevice_Args> Client_LookupDevice;
  Call<Client_LookupAddressableDevice_Args> Client_LookupAddressableDevice;
  Call<Client_AddressableMemories_Args> Client_AddressableMemories;
  Call<Client_Compile_Args> Client_Compile;
  Call<Client_DefaultDeviceAssignment_Args> Client_DefaultDeviceAssignment;
  Call<Client_BufferFromHostBuffer_Args> Client_BufferFromHostBuffer;
  Call<DeviceDescription_Id_Args> DeviceDescription_Id;
  Call<DeviceDescription_ProcessIndex_Args> DeviceDescription_ProcessIndex;
  Call<DeviceDescription_Attributes_Args> DeviceDescription_Attributes;
  Call<DeviceDescription_Kind_Args> DeviceDescription_Kind;
  Call<DeviceDescription_DebugString_Args> DeviceDescription_DebugString;
  Call<DeviceDescription_ToString_Args> DeviceDescription_ToString;
  Call<Device_GetDescription_Args> Device_GetDescription;
  Call<Device_IsAddressable_Args> Device_IsAddressable;
  Call<Device_LocalHardwareId_Args> Device_LocalHardwareId;
  Call<Device_AddressableMemories_Args> Device_AddressableMemories;
  Call<Device_DefaultMemory_Args> Device_DefaultMemory;
  Call<Device_MemoryStats_Args> Device_MemoryStats;
  Call<Memory_Id_Args> Memory_Id;
  Call<Memory_Kind_Args> Memory_Kind;
  Call<Memory_DebugString_Args> Memory_DebugString;
  Call<Memory_ToString_Args> Memory_ToString;
  Call<Memory_AddressableByDevices_Args> Memory_AddressableByDevices;
  Call<Executable_Destroy_Args> Executable_Destroy;
  Call<Executable_Name_Args> Executable_Name;
  Call<Executable_NumReplicas_Args> Executable_NumReplicas;
  Call<Executable_NumPartitions_Args> Executable_NumPartitions;
  Call<Executable_NumOutputs_Args> Executable_NumOutputs;
  Call<Executable_SizeOfGeneratedCodeInBytes_Args> Executable_SizeOfGeneratedCodeInBytes;
  Undeclared Executable_GetCostAnalysis;
  Call<Executable_OutputMemoryKinds_Args> Executable_OutputMemoryKinds;
  Call<Executable_OptimizedProgram_Args> Executable_OptimizedProgram;
  Call<Executable_Serialize_Args> Executable_Serialize;
  Call<LoadedExecutable_Destroy_Args> LoadedExecutable_Destroy;
  Call<LoadedExecutable_GetExecutable_Args> LoadedExecutable_GetExecutable;
  Call<LoadedExecutable_AddressableDevices_Args> LoadedExecutable_AddressableDevices;
  Call<LoadedExecutable_Delete_Args> LoadedExecutable_Delete;
  Call<LoadedExecutable_IsDeleted_Args> LoadedExecutable_IsDeleted;
  Call<LoadedExecutable_Execute_Args> LoadedExecutable_Execute;
  Call<Executable_DeserializeAndLoad_Args> Executable_DeserializeAndLoad;
  Undeclared LoadedExecutable_Fingerprint;
  Call<Buffer_Destroy_Args> Buffer_Destroy;
  Call<Buffer_ElementType_Args> Buffer_ElementType;
  Call<Buffer_Dimensions_Args> Buffer_Dimensions;
  Call<Buffer_UnpaddedDimensions_Args> Buffer_UnpaddedDimensions;
  Call<Buffer_DynamicDimensionIndices_Args> Buffer_DynamicDimensionIndices;
  Undeclared Buffer_GetMemoryLayout;
  Call<Buffer_OnDeviceSizeInBytes_Args> Buffer_OnDeviceSizeInBytes;
  Call<Buffer_Device_Args> Buffer_Device;
  Call<Buffer_Memory_Args> Buffer_Memory;
  Call<Buffer_Delete_Args> Buffer_Delete;
  Call<Buffer_IsDeleted_Args> Buffer_IsDeleted;
  Call<Buffer_CopyToDevice_Args> Buffer_CopyToDevice;
  Call<Buffer_ToHostBuffer_Args> Buffer_ToHostBuffer;
  Call<Buffer_IsOnCpu_Args> Buffer_IsOnCpu;
  Call<Buffer_ReadyEvent_Args> Buffer_ReadyEvent;
  Undeclared Buffer_UnsafePointer;
  Undeclared Buffer_IncreaseExternalReferenceCount;
  Undeclared Buffer_DecreaseExternalReferenceCount;
  Undeclared Buffer_OpaqueDeviceMemoryDataPointer;
  Undeclared CopyToDeviceStream_Destroy;
  Undeclared CopyToDeviceStream_AddChunk;
  Undeclared CopyToDeviceStream_TotalBytes;
  Undeclared CopyToDeviceStream_GranuleSize;
  Undeclared CopyToDeviceStream_CurrentBytes;
  Call<TopologyDescription_Create_Args> TopologyDescription_Create;
  Call<TopologyDescription_Destroy_Args> TopologyDescription_Destroy;
  Call<TopologyDescription_PlatformName_Args> TopologyDescription_PlatformName;
  Call<TopologyDescription_PlatformVersion_Args> TopologyDescription_PlatformVersion;
  Call<TopologyDescription_GetDeviceDescriptions_Args> TopologyDescription_GetDeviceDescriptions;
  Undeclared TopologyDescription_Serialize;
  Undeclared TopologyDescription_Attributes;
  Call<Compile_Args> Compile;
  Call<Executable_OutputElementTypes_Args> Executable_OutputElementTypes;
  Call<Executable_OutputDimensions_Args> Executable_OutputDimensions;
  Call<Buffer_CopyToMemory_Args> Buffer_CopyToMemory;
  Undeclared Client_CreateViewOfDeviceBuffer;
  Call<Executable_Fingerprint_Args> Executable_Fingerprint;
  Call<Client_TopologyDescription_Args> Client_TopologyDescription;
  Call<Executable_GetCompiledMemoryStats_Args> Executable_GetCompiledMemoryStats;
  Undeclared Memory_Kind_Id;
  Undeclared ExecuteContext_Create;
  Undeclared ExecuteContext_Destroy;
  Undeclared Buffer_CopyRawToHost;
  Undeclared AsyncHostToDeviceTransferManager_Destroy;
  Undeclared AsyncHostToDeviceTransferManager_TransferData;
  Undeclared Client_CreateBuffersForAsyncHostToDevice;
  Undeclared AsyncHostToDeviceTransferManager_RetrieveBuffer;
  Undeclared AsyncHostToDeviceTransferManager_Device;
  Undeclared AsyncHostToDeviceTransferManager_BufferCount;
  Undeclared AsyncHostToDeviceTransferManager_BufferSize;
  Undeclared AsyncHostToDeviceTransferManager_SetBufferError;
  Undeclared AsyncHostToDeviceTransferManager_AddMetadata;
  Call<Client_DmaMap_Args> Client_DmaMap;
  Call<Client_DmaUnmap_Args> Client_DmaUnmap;
  Undeclared Client_CreateUninitializedBuffer;
  Undeclared Client_UpdateGlobalProcessInfo;
  Undeclared TopologyDescription_Deserialize;
  Undeclared Client_CreateAliasBuffer;
  Undeclared Client_FulfillAliasBuffer;
  Call<LoadedExecutable_GetDeviceAssignment_Args> LoadedExecutable_GetDeviceAssignment;
  Undeclared Client_CreateErrorBuffer;
  Undeclared AsyncHostToDeviceTransferManager_TransferLiteral;
  Undeclared Buffer_CopyRawToHostFuture;
  Undeclared Device_PoisonExecution;
  Undeclared Device_CreateAsyncTrackingEvent;
  Undeclared AsyncTrackingEvent_Destroy;
  Undeclared Executable_GetCompileOptions;
  Undeclared Buffer_DonateWithControlDependency;
  Call<Event_Create_Args> Event_Create;
  Call<Event_Set_Args> Event_Set;
  Undeclared Device_GetAttributes;
  Call<Client_Load_Args> Client_Load;
  Undeclared LoadedExecutable_AddressableDeviceLogicalIds;
  Undeclared Buffer_Bitcast;
  Undeclared Error_ForEachPayload;
  Undeclared TopologyDescription_Fingerprint;
  Undeclared Executable_ParameterMemoryKinds;
  Undeclared Device_ClearMemoryStats;
  Undeclared TopologyDescription_MakeCanonicalShapeForMemorySpace;
  Undeclared TopologyDescription_GetMemorySpaceKindIds;
};

// Entry k, counted from 1, lies at 32 + 8k.
static_assert(sizeof(Api) == 1144);
static_assert(offsetof(Api, Error_Destroy) == 32 + 8 * 1);
static_assert(offsetof(Api, Client_Create) == 32 + 8 * 11);
static_assert(offsetof(Api, Client_Compile) == 32 + 8 * 21);
static_assert(offsetof(Api, Client_BufferFromHostBuffer) == 32 + 8 * 23);
static_assert(offsetof(Api, Executable_Serialize) == 32 + 8 * 50);
static_assert(offsetof(Api, LoadedExecutable_Execute) == 32 + 8 * 56);
static_assert(offsetof(Api, Executable_DeserializeAndLoad) == 32 + 8 * 57);
static_assert(offsetof(Api, Buffer_ToHostBuffer) == 32 + 8 * 71);
static_assert(offsetof(Api, Buffer_ReadyEvent) == 32 + 8 * 73);
static_assert(offsetof(Api, Compile) == 32 + 8 * 90);
static_assert(offsetof(Api, Client_Load) == 32 + 8 * 130);
static_assert(offsetof(Api, TopologyDescription_GetMemorySpaceKindIds) == 32 + 8 * 138);

using GetApi = const Api* (*)();

}  // namespace trainward::pjrt::abi
