// Arguments of calls about buffers.
//
// Every call takes one pointer to its struct. The first two fields are the sender's: struct_size
// and extension_start (null). What a call answers comes last, in fields the sender has zeroed;
// newer versions only append, so an older plugin knows a prefix of each struct.
#pragma once

#include "trainer/pjrt/abi/types.hpp"

namespace trainward::pjrt::abi {

// Buffers

struct Buffer_Destroy_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
};
static_assert(sizeof(Buffer_Destroy_Args) == 24);

struct Buffer_ElementType_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  Buffer_Type type;
};
static_assert(sizeof(Buffer_ElementType_Args) == 32);

struct Buffer_Dimensions_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  const std::int64_t* dims;
  std::size_t num_dims;
};
static_assert(sizeof(Buffer_Dimensions_Args) == 40);

struct Buffer_UnpaddedDimensions_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  const std::int64_t* unpadded_dims;
  std::size_t num_dims;
};
static_assert(sizeof(Buffer_UnpaddedDimensions_Args) == 40);

struct Buffer_DynamicDimensionIndices_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  const std::size_t* dynamic_dim_indices;
  std::size_t num_dynamic_dims;
};
static_assert(sizeof(Buffer_DynamicDimensionIndices_Args) == 40);

struct Buffer_OnDeviceSizeInBytes_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  std::size_t on_device_size_in_bytes;
};
static_assert(sizeof(Buffer_OnDeviceSizeInBytes_Args) == 32);

struct Buffer_Device_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  Device* device;
};
static_assert(sizeof(Buffer_Device_Args) == 32);

struct Buffer_Memory_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  Memory* memory;
};
static_assert(sizeof(Buffer_Memory_Args) == 32);

struct Buffer_Delete_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
};
static_assert(sizeof(Buffer_Delete_Args) == 24);

struct Buffer_IsDeleted_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  bool is_deleted;
};
static_assert(sizeof(Buffer_IsDeleted_Args) == 32);

struct Buffer_CopyToDevice_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  Device* dst_device;
  Buffer* dst_buffer;
};
static_assert(sizeof(Buffer_CopyToDevice_Args) == 40);

struct Buffer_ToHostBuffer_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* src;
  Buffer_MemoryLayout* host_layout;
  void* dst;
  std::size_t dst_size;
  Event* event;
};
static_assert(sizeof(Buffer_ToHostBuffer_Args) == 56);

struct Buffer_IsOnCpu_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  bool is_on_cpu;
};
static_assert(sizeof(Buffer_IsOnCpu_Args) == 32);

struct Buffer_ReadyEvent_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  Event* event;
};
static_assert(sizeof(Buffer_ReadyEvent_Args) == 32);

struct Buffer_CopyToMemory_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Buffer* buffer;
  Memory* dst_memory;
  Buffer* dst_buffer;
};
static_assert(sizeof(Buffer_CopyToMemory_Args) == 40);

static_assert(offsetof(Buffer_ToHostBuffer_Args, event) == 48);

}  // namespace trainward::pjrt::abi
