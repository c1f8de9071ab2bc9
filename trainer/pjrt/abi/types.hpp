// Plain values of the PJRT C interface: handles, enumerations, and the structs that several calls
// share.
//
// Declared by us from the published layout of version 0.114, for 64-bit machines; the names are the
// interface's own without its prefix PJRT_, so that its documentation applies. Nothing here owns
// anything. Who sends a struct zeroes it and sets struct_size; extension_start is always null.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainward::pjrt::abi {

// Handles. What is behind them is the plugin's own.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Buffer;
struct Executable;
struct LoadedExecutable;
struct SerializedExecutable;
struct DeviceAssignmentSerialized;
struct TopologyDescription;
struct Extension;
struct ExecuteContext;
struct MultiSlice_Config;
struct SendCallbackInfo;
struct RecvCallbackInfo;
struct HloOutputCallbackInfo;

enum Error_Code : int {
  Error_Code_OK = 0,
  Error_Code_CANCELLED = 1,
  Error_Code_UNKNOWN = 2,
  Error_Code_INVALID_ARGUMENT = 3,
  Error_Code_DEADLINE_EXCEEDED = 4,
  Error_Code_NOT_FOUND = 5,
  Error_Code_ALREADY_EXISTS = 6,
  Error_Code_PERMISSION_DENIED = 7,
  Error_Code_RESOURCE_EXHAUSTED = 8,
  Error_Code_FAILED_PRECONDITION = 9,
  Error_Code_ABORTED = 10,
  Error_Code_OUT_OF_RANGE = 11,
  Error_Code_UNIMPLEMENTED = 12,
  Error_Code_INTERNAL = 13,
  Error_Code_UNAVAILABLE = 14,
  Error_Code_DATA_LOSS = 15,
  Error_Code_UNAUTHENTICATED = 16,
};

enum NamedValue_Type : int {
  NamedValue_String = 0,
  NamedValue_Int64 = 1,
  NamedValue_Int64List = 2,
  NamedValue_Float = 3,
  NamedValue_Bool = 4,
};

// Those that have a C++ type or are asked for by name; the interface knows more (4-bit and 8-bit
// floats).
enum Buffer_Type : int {
  Buffer_Type_INVALID = 0,
  Buffer_Type_PRED = 1,
  Buffer_Type_S8 = 2,
  Buffer_Type_S16 = 3,
  Buffer_Type_S32 = 4,
  Buffer_Type_S64 = 5,
  Buffer_Type_U8 = 6,
  Buffer_Type_U16 = 7,
  Buffer_Type_U32 = 8,
  Buffer_Type_U64 = 9,
  Buffer_Type_F16 = 10,
  Buffer_Type_F32 = 11,
  Buffer_Type_F64 = 12,
  Buffer_Type_BF16 = 13,
  Buffer_Type_C64 = 14,
  Buffer_Type_C128 = 15,
};

enum HostBufferSemantics : int {
  HostBufferSemantics_ImmutableOnlyDuringCall = 0,
  HostBufferSemantics_ImmutableUntilTransferCompletes = 1,
  HostBufferSemantics_ImmutableZeroCopy = 2,
  HostBufferSemantics_MutableZeroCopy = 3,
};

enum Buffer_MemoryLayout_Type : int {
  Buffer_MemoryLayout_Type_Tiled = 0,
  Buffer_MemoryLayout_Type_Strides = 1,
};

using Event_OnReadyCallback = void (*)(Error* error, void* user_arg);
// The key-value callbacks are never given; what they take is left undeclared.
using KeyValueGetCallback = Error* (*)(void* args);
using KeyValuePutCallback = Error* (*)(void* args);
using KeyValueTryGetCallback = Error* (*)(void* args);

struct Api_Version {
  std::size_t struct_size;
  Extension* extension_start;
  int major_version;
  int minor_version;
};
static_assert(sizeof(Api_Version) == 24);

struct NamedValue {
  std::size_t struct_size;
  Extension* extension_start;
  const char* name;
  std::size_t name_size;
  NamedValue_Type type;
  union {
    const char* string_value;
    std::int64_t int64_value;
    const std::int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  std::size_t value_size;
};
static_assert(sizeof(NamedValue) == 56);

struct Program {
  std::size_t struct_size;
  Extension* extension_start;
  char* code;
  std::size_t code_size;
  const char* format;
  std::size_t format_size;
};
static_assert(sizeof(Program) == 48);

struct Buffer_MemoryLayout_Tiled {
  std::size_t struct_size;
  Extension* extension_start;
  const std::int64_t* minor_to_major;
  std::size_t minor_to_major_size;
  const std::int64_t* tile_dims;
  const std::size_t* tile_dim_sizes;
  std::size_t num_tiles;
};
static_assert(sizeof(Buffer_MemoryLayout_Tiled) == 56);

struct Buffer_MemoryLayout_Strides {
  std::size_t struct_size;
  Extension* extension_start;
  const std::int64_t* byte_strides;
  std::size_t num_byte_strides;
};
static_assert(sizeof(Buffer_MemoryLayout_Strides) == 32);

struct Buffer_MemoryLayout {
  std::size_t struct_size;
  Extension* extension_start;
  union {
    Buffer_MemoryLayout_Tiled tiled;
    Buffer_MemoryLayout_Strides strides;
  };
  Buffer_MemoryLayout_Type type;
};
static_assert(sizeof(Buffer_MemoryLayout) == 80);

struct LoadOptions {
  std::size_t struct_size;
  const std::int32_t* computation_origin;
  std::size_t computation_origin_size;
  MultiSlice_Config* multi_slice_config;
};
static_assert(sizeof(LoadOptions) == 32);

struct ExecuteOptions {
  std::size_t struct_size;
  Extension* extension_start;
  SendCallbackInfo** send_callbacks;
  RecvCallbackInfo** recv_callbacks;
  std::size_t num_send_ops;
  std::size_t num_recv_ops;
  int launch_id;
  const std::int64_t* non_donatable_input_indices;
  std::size_t num_non_donatable_input_indices;
  ExecuteContext* context;
  const char* call_location;
  std::size_t num_tasks;
  int* task_ids;
  std::int64_t* incarnation_ids;
  MultiSlice_Config* multi_slice_config;
  bool use_major_to_minor_data_layout_for_callbacks;
  HloOutputCallbackInfo* hlo_output_callbacks;
  std::size_t num_hlo_output_callbacks;
};
static_assert(sizeof(ExecuteOptions) == 144);

// Where a reader of these structs looks first; the sizes above catch the rest.
static_assert(offsetof(NamedValue, string_value) == 40 && offsetof(NamedValue, value_size) == 48);
static_assert(offsetof(Program, format) == 32);
static_assert(offsetof(Buffer_MemoryLayout, type) == 72);
static_assert(offsetof(ExecuteOptions, non_donatable_input_indices) == 56);

}  // namespace trainward::pjrt::abi
