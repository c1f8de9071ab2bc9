// Arguments of calls about errors, the plugin itself, and events.
//
// Every call takes one pointer to its struct. The first two fields are the sender's: struct_size
// and extension_start (null). What a call answers comes last, in fields the sender has zeroed;
// newer versions only append, so an older plugin knows a prefix of each struct.
#pragma once

#include "trainer/pjrt/abi/types.hpp"

namespace trainward::pjrt::abi {

// Errors and plugin

struct Error_Destroy_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Error* error;
};
static_assert(sizeof(Error_Destroy_Args) == 24);

struct Error_Message_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const Error* error;
  const char* message;
  std::size_t message_size;
};
static_assert(sizeof(Error_Message_Args) == 40);

struct Error_GetCode_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const Error* error;
  Error_Code code;
};
static_assert(sizeof(Error_GetCode_Args) == 32);

struct Plugin_Initialize_Args {
  std::size_t struct_size;
  Extension* extension_start;
};
static_assert(sizeof(Plugin_Initialize_Args) == 16);

struct Plugin_Attributes_Args {
  std::size_t struct_size;
  Extension* extension_start;
  const NamedValue* attributes;
  std::size_t num_attributes;
};
static_assert(sizeof(Plugin_Attributes_Args) == 32);

// Events

struct Event_Destroy_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Event* event;
};
static_assert(sizeof(Event_Destroy_Args) == 24);

struct Event_IsReady_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Event* event;
  bool is_ready;
};
static_assert(sizeof(Event_IsReady_Args) == 32);

struct Event_Error_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Event* event;
};
static_assert(sizeof(Event_Error_Args) == 24);

struct Event_Await_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Event* event;
};
static_assert(sizeof(Event_Await_Args) == 24);

struct Event_OnReady_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Event* event;
  Event_OnReadyCallback callback;
  void* user_arg;
};
static_assert(sizeof(Event_OnReady_Args) == 40);

struct Event_Create_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Event* event;
};
static_assert(sizeof(Event_Create_Args) == 24);

struct Event_Set_Args {
  std::size_t struct_size;
  Extension* extension_start;
  Event* event;
  Error_Code error_code;
  const char* error_message;
  std::size_t error_message_size;
};
static_assert(sizeof(Event_Set_Args) == 48);

}  // namespace trainward::pjrt::abi
