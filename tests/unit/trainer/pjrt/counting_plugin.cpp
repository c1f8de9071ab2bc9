#include "counting_plugin.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "trainer/pjrt/abi.hpp"

#define EXPORTED __attribute__((visibility("default")))

namespace trainward::pjrt {

using test::Control;

namespace {
Control& control() {
  static Control instance;
  return instance;
}

// Counts itself for as long as it lives.
template <int test::Live::*member>
struct Counted {
  Counted() { ++(control().live.*member); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --(control().live.*member); }
};
}  // namespace

namespace abi {

struct Error : Counted<&test::Live::errors> {
  int code = 0;
  std::string text;
};
struct Event : Counted<&test::Live::events> {
  // Of memory that was lent until this happens.
  Buffer* into = nullptr;  // null: nothing (left) to copy
  const char* from = nullptr;
  std::size_t size = 0;
};
struct Memory {};
struct DeviceDescription {};
struct Device {
  int index = 0;
};
struct Client : Counted<&test::Live::clients> {
  std::thread::id owner = std::this_thread::get_id();
  std::vector<Device> devices;
  std::vector<Device*> pointers;
  int objects = 0;  // made by it and alive
};
struct OfClient {
  explicit OfClient(Client* of) : client(of) { ++client->objects; }
  OfClient(const OfClient&) = delete;
  OfClient& operator=(const OfClient&) = delete;
  ~OfClient() { --client->objects; }

  Client* client;
};
struct Buffer : Counted<&test::Live::buffers>, OfClient {
  using OfClient::OfClient;
  Buffer_Type type = Buffer_Type_INVALID;
  std::vector<std::int64_t> dims;
  std::string bytes;
  bool deleted = false;
  int ready_asked = 0;
  Event* lent_until = nullptr;
};
struct Executable : Counted<&test::Live::executables> {
  std::string text;
};
struct LoadedExecutable : Counted<&test::Live::loaded>, OfClient {
  using OfClient::OfClient;
  std::string text;
};
struct SerializedExecutable : Counted<&test::Live::serialized> {
  std::string bytes;
};
struct TopologyDescription : Counted<&test::Live::topologies> {};

}  // namespace abi

namespace {

constexpr std::string_view serialized_mark = "counted:";

abi::Error* fail(int code, std::string text) {
  auto* error = new abi::Error;
  error->code = code;
  error->text = std::move(text);
  return error;
}

void complain(const std::string& about) { control().complaints.push_back(about); }

template <typename T>
void check_struct(const T& args, const std::string& name) {
  const std::size_t expected = sizeof(T) + control().newer_by;
  if (args.struct_size < expected) {
    complain(name + ": struct_size is " + std::to_string(args.struct_size) + ", expected " +
             std::to_string(expected));
    return;
  }
  if (args.extension_start != nullptr) complain(name + ": an extension");
  const auto* bytes = reinterpret_cast<const unsigned char*>(&args);
  for (std::size_t i = sizeof(T); i < expected; ++i) {
    if (bytes[i] != 0) return complain(name + ": not zero behind the last known field");
  }
}

// In front of every call that can fail: counts it, checks its struct, fails when told to.
template <typename Args>
abi::Error* begin(const std::string& name, Args* args) {
  Control& told = control();
  check_struct(*args, name);
  ++told.calls[name];
  ++told.all_calls;
  const bool counts = told.fail_call.empty() || told.fail_call == name;
  if (counts && told.fail_at > 0 && --told.fail_at == 0)
    return fail(told.fail_code, told.fail_text);
  return nullptr;
}

void check_thread(const abi::Client* client, const std::string& name) {
  if (client->owner != std::this_thread::get_id()) complain(name + ": another thread's client");
}

int number(const std::string& text, const std::string& word, int otherwise) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each.starts_with(word + "=")) return std::stoi(each.substr(word.size() + 1));
  }
  return otherwise;
}

// --- errors, plugin, events ---

void error_destroy(abi::Error_Destroy_Args* args) {
  check_struct(*args, "Error_Destroy");
  delete args->error;
}

void error_message(abi::Error_Message_Args* args) {
  check_struct(*args, "Error_Message");
  args->message = args->error->text.data();
  args->message_size = args->error->text.size();
}

abi::Error* error_get_code(abi::Error_GetCode_Args* args) {
  check_struct(*args, "Error_GetCode");
  args->code = static_cast<abi::Error_Code>(args->error->code);
  return nullptr;
}

abi::Error* plugin_initialize(abi::Plugin_Initialize_Args* args) {
  return begin("Plugin_Initialize", args);
}

abi::Error* plugin_attributes(abi::Plugin_Attributes_Args* args) {
  if (auto* error = begin("Plugin_Attributes", args)) return error;
  static const std::int64_t version[] = {1, 12, 0};
  static abi::NamedValue values[3];
  for (auto& value : values) value.struct_size = sizeof(value);
  values[0].name = "stablehlo_current_version";
  values[0].name_size = std::strlen(values[0].name);
  values[0].type = abi::NamedValue_Int64List;
  values[0].int64_array_value = version;
  values[0].value_size = 3;
  values[1].name = "vendor";
  values[1].name_size = std::strlen(values[1].name);
  values[1].type = abi::NamedValue_String;
  values[1].string_value = "nobody";
  values[1].value_size = 6;
  values[2].name = "fast";
  values[2].name_size = 4;
  values[2].type = abi::NamedValue_Bool;
  values[2].bool_value = false;
  values[2].value_size = 1;
  args->attributes = values;
  args->num_attributes = 3;
  return nullptr;
}

abi::Error* event_destroy(abi::Event_Destroy_Args* args) {
  if (args->event->into != nullptr) {
    complain("Event_Destroy: nobody waited for the memory that was lent");
    args->event->into->lent_until = nullptr;
  }
  delete args->event;
  return begin("Event_Destroy", args);
}

abi::Error* event_await(abi::Event_Await_Args* args) {
  if (auto* into = std::exchange(args->event->into, nullptr); into != nullptr) {
    into->bytes.assign(args->event->from, args->event->size);
    into->lent_until = nullptr;
  }
  return begin("Event_Await", args);
}

// --- clients and devices ---

abi::Error* client_create(abi::Client_Create_Args* args) {
  if (auto* error = begin("Client_Create", args)) return error;
  control().options.clear();
  for (std::size_t i = 0; i < args->num_options; ++i) {
    const auto& value = args->create_options[i];
    std::ostringstream text;
    switch (value.type) {
      case abi::NamedValue_String:
        text << std::string(value.string_value, value.value_size);
        break;
      case abi::NamedValue_Int64:
        text << value.int64_value;
        break;
      case abi::NamedValue_Int64List:
        for (std::size_t k = 0; k < value.value_size; ++k)
          text << value.int64_array_value[k] << ' ';
        break;
      case abi::NamedValue_Float:
        text << value.float_value;
        break;
      case abi::NamedValue_Bool:
        text << std::boolalpha << value.bool_value;
        break;
    }
    control().options[std::string(value.name, value.name_size)] = text.str();
  }
  auto* client = new abi::Client;
  client->devices.resize(static_cast<std::size_t>(control().devices));
  for (auto& device : client->devices) {
    device.index = static_cast<int>(client->pointers.size());
    client->pointers.push_back(&device);
  }
  args->client = client;
  return nullptr;
}

abi::Error* client_destroy(abi::Client_Destroy_Args* args) {
  if (args->client->objects > 0) complain("Client_Destroy: not the last");
  check_thread(args->client, "Client_Destroy");
  delete args->client;
  return begin("Client_Destroy", args);
}

abi::Error* client_platform_name(abi::Client_PlatformName_Args* args) {
  if (auto* error = begin("Client_PlatformName", args)) return error;
  args->platform_name = "counting";
  args->platform_name_size = 8;
  return nullptr;
}

abi::Error* client_platform_version(abi::Client_PlatformVersion_Args* args) {
  if (auto* error = begin("Client_PlatformVersion", args)) return error;
  args->platform_version = control().version.data();
  args->platform_version_size = control().version.size();
  return nullptr;
}

abi::Error* client_addressable_devices(abi::Client_AddressableDevices_Args* args) {
  if (auto* error = begin("Client_AddressableDevices", args)) return error;
  args->addressable_devices = args->client->pointers.data();
  args->num_addressable_devices = args->client->pointers.size();
  return nullptr;
}

abi::DeviceDescription the_description;

abi::Error* device_get_description(abi::Device_GetDescription_Args* args) {
  if (auto* error = begin("Device_GetDescription", args)) return error;
  args->device_description = &the_description;
  return nullptr;
}

abi::Error* description_kind(abi::DeviceDescription_Kind_Args* args) {
  if (auto* error = begin("DeviceDescription_Kind", args)) return error;
  args->device_kind = "abacus";
  args->device_kind_size = 6;
  return nullptr;
}

abi::Error* device_memory_stats(abi::Device_MemoryStats_Args* args) {
  if (auto* error = begin("Device_MemoryStats", args)) return error;
  args->bytes_in_use = 1000 + args->device->index;
  args->bytes_limit = 5000;
  args->bytes_limit_is_set = true;
  return nullptr;
}

// --- programs ---

abi::Error* check_program(const abi::Program* program) {
  check_struct(*program, "Program");
  if (std::string(program->format, program->format_size) != "mlir") complain("Program: not mlir");
  const std::string text(program->code, program->code_size);
  if (text.find("wrong") != std::string::npos) return fail(3, "cannot parse the program");
  return nullptr;
}

abi::Error* client_compile(abi::Client_Compile_Args* args) {
  if (auto* error = begin("Client_Compile", args)) return error;
  check_thread(args->client, "Client_Compile");
  if (auto* error = check_program(args->program)) return error;
  if (control().while_compiling) control().while_compiling();
  control().compile_options.assign(args->compile_options, args->compile_options_size);
  args->executable = new abi::LoadedExecutable(args->client);
  args->executable->text.assign(args->program->code, args->program->code_size);
  return nullptr;
}

abi::Error* loaded_destroy(abi::LoadedExecutable_Destroy_Args* args) {
  check_thread(args->executable->client, "LoadedExecutable_Destroy");
  delete args->executable;
  return begin("LoadedExecutable_Destroy", args);
}

abi::Error* loaded_get_executable(abi::LoadedExecutable_GetExecutable_Args* args) {
  if (auto* error = begin("LoadedExecutable_GetExecutable", args)) return error;
  args->executable = new abi::Executable;
  args->executable->text = args->loaded_executable->text;
  return nullptr;
}

abi::Error* executable_destroy(abi::Executable_Destroy_Args* args) {
  delete args->executable;
  return begin("Executable_Destroy", args);
}

abi::Error* executable_num_outputs(abi::Executable_NumOutputs_Args* args) {
  if (auto* error = begin("Executable_NumOutputs", args)) return error;
  args->num_outputs = static_cast<std::size_t>(number(args->executable->text, "copies", 0));
  return nullptr;
}

abi::Error* executable_serialize(abi::Executable_Serialize_Args* args) {
  if (auto* error = begin("Executable_Serialize", args)) return error;
  if (!control().serializes) return fail(12, "cannot serialize");
  auto* serialized = new abi::SerializedExecutable;
  serialized->bytes = std::string(serialized_mark) + args->executable->text;
  args->serialized_executable = serialized;
  args->serialized_bytes = serialized->bytes.data();
  args->serialized_bytes_size = serialized->bytes.size();
  args->serialized_executable_deleter = [](abi::SerializedExecutable* it) { delete it; };
  return nullptr;
}

abi::Error* deserialize_and_load(abi::Executable_DeserializeAndLoad_Args* args) {
  if (auto* error = begin("Executable_DeserializeAndLoad", args)) return error;
  check_thread(args->client, "Executable_DeserializeAndLoad");
  if (!control().loads) return fail(12, "cannot load");
  if (control().refuses_load) return fail(3, "made by another version");
  const std::string_view bytes(args->serialized_executable, args->serialized_executable_size);
  if (!bytes.starts_with(serialized_mark)) return fail(3, "not an executable");
  args->loaded_executable = new abi::LoadedExecutable(args->client);
  args->loaded_executable->text = bytes.substr(serialized_mark.size());
  return nullptr;
}

abi::Buffer* copy(const abi::Buffer& buffer) {
  auto* made = new abi::Buffer(buffer.client);
  made->type = buffer.type;
  made->dims = buffer.dims;
  made->bytes = buffer.bytes;
  return made;
}

abi::Error* execute(abi::LoadedExecutable_Execute_Args* args) {
  if (auto* error = begin("LoadedExecutable_Execute", args)) return error;
  check_thread(args->executable->client, "LoadedExecutable_Execute");
  if (args->options == nullptr) return fail(3, "no options");
  check_struct(*args->options, "ExecuteOptions");
  if (args->device_complete_events != nullptr) complain("Execute: unexpected events");
  const auto copies = static_cast<std::size_t>(number(args->executable->text, "copies", 0));
  const int donates = number(args->executable->text, "donates", -1);
  if (copies > 0 && args->num_args == 0) return fail(3, "nothing to copy");
  for (std::size_t device = 0; device < args->num_devices; ++device) {
    for (std::size_t k = 0; k < args->num_args; ++k) {
      if (args->argument_lists[device][k]->deleted) return fail(3, "buffer has been donated");
    }
  }
  for (std::size_t device = 0; device < args->num_devices; ++device) {
    for (std::size_t k = 0; k < copies; ++k) {
      if (control().null_result && k + 1 == copies) continue;
      args->output_lists[device][k] = copy(*args->argument_lists[device][k % args->num_args]);
    }
    if (donates >= 0) {
      args->argument_lists[device][static_cast<std::size_t>(donates)]->deleted = true;
    }
  }
  return nullptr;
}

// --- buffers ---

std::size_t element_size(abi::Buffer_Type type) {
  switch (type) {
    case abi::Buffer_Type_PRED:
      return 1;
    case abi::Buffer_Type_BF16:
      return 2;
    case abi::Buffer_Type_F64:
      return 8;
    default:
      return 4;
  }
}

abi::Error* buffer_from_host(abi::Client_BufferFromHostBuffer_Args* args) {
  if (auto* error = begin("Client_BufferFromHostBuffer", args)) return error;
  check_thread(args->client, "Client_BufferFromHostBuffer");
  const bool lent =
      args->host_buffer_semantics == abi::HostBufferSemantics_ImmutableUntilTransferCompletes;
  if (!lent && args->host_buffer_semantics != abi::HostBufferSemantics_ImmutableOnlyDuringCall) {
    complain("BufferFromHostBuffer: keeps the caller's memory");
  }
#ifdef WITH_SHUTDOWN
  if (lent) complain("BufferFromHostBuffer: Tenstorrent's would never give the memory back");
#endif
  if (args->device == nullptr) return fail(3, "no device");
  if (args->device_layout != nullptr) return fail(12, "layouts of devices");
  auto* buffer = new abi::Buffer(args->client);
  buffer->type = args->type;
  buffer->dims.assign(args->dims, args->dims + args->num_dims);
  std::size_t size = element_size(args->type);
  for (const auto dim : buffer->dims) size *= static_cast<std::size_t>(dim);
  auto* event = new abi::Event;
  const auto* data = static_cast<const char*>(args->data);
  if (lent) {
    event->into = buffer;
    event->from = data;
    event->size = size;
    buffer->lent_until = event;
  } else {
    buffer->bytes.assign(data, size);
  }
  args->buffer = buffer;
  args->done_with_host_buffer = event;
  return nullptr;
}

abi::Error* buffer_destroy(abi::Buffer_Destroy_Args* args) {
  check_thread(args->buffer->client, "Buffer_Destroy");
  if (args->buffer->lent_until != nullptr) args->buffer->lent_until->into = nullptr;
  delete args->buffer;
  return begin("Buffer_Destroy", args);
}

abi::Error* buffer_element_type(abi::Buffer_ElementType_Args* args) {
  if (auto* error = begin("Buffer_ElementType", args)) return error;
  args->type = args->buffer->type;
  return nullptr;
}

abi::Error* buffer_dimensions(abi::Buffer_Dimensions_Args* args) {
  if (auto* error = begin("Buffer_Dimensions", args)) return error;
  args->dims = args->buffer->dims.data();
  args->num_dims = args->buffer->dims.size();
  return nullptr;
}

abi::Error* buffer_to_host(abi::Buffer_ToHostBuffer_Args* args) {
  if (auto* error = begin("Buffer_ToHostBuffer", args)) return error;
  check_thread(args->src->client, "Buffer_ToHostBuffer");
  if (args->src->deleted) return fail(3, "buffer has been donated");
  if (args->host_layout == nullptr) return fail(3, "no layout: the device's order is not yours");
  check_struct(*args->host_layout, "Buffer_MemoryLayout");
  const auto& tiled = args->host_layout->tiled;
  // It lies within the other and cannot grow.
  if (tiled.struct_size != sizeof(tiled)) complain("Buffer_MemoryLayout_Tiled: struct_size");
  if (tiled.minor_to_major_size != args->src->dims.size() || tiled.num_tiles != 0) {
    return fail(3, "the layout is of another rank");
  }
  for (std::size_t i = 0; i < tiled.minor_to_major_size; ++i) {
    if (tiled.minor_to_major[i] != static_cast<std::int64_t>(tiled.minor_to_major_size - 1 - i)) {
      complain("ToHostBuffer: not row-major");
    }
  }
  if (args->dst == nullptr) return fail(3, "only the size was asked for");
  if (args->dst_size < args->src->bytes.size()) return fail(3, "too small");
  std::memcpy(args->dst, args->src->bytes.data(), args->src->bytes.size());
  args->event = new abi::Event;
  return nullptr;
}

abi::Error* buffer_ready_event(abi::Buffer_ReadyEvent_Args* args) {
  if (auto* error = begin("Buffer_ReadyEvent", args)) return error;
  if (++args->buffer->ready_asked > 1) complain("ReadyEvent: asked twice");
  args->event = new abi::Event;
  return nullptr;
}

// --- without a device ---

abi::Error* topology_create(abi::TopologyDescription_Create_Args* args) {
  if (auto* error = begin("TopologyDescription_Create", args)) return error;
  if (std::string(args->topology_name, args->topology_name_size) == "unknown") {
    return fail(5, "no such topology");
  }
  args->topology = new abi::TopologyDescription;
  return nullptr;
}

abi::Error* topology_destroy(abi::TopologyDescription_Destroy_Args* args) {
  delete args->topology;
  return begin("TopologyDescription_Destroy", args);
}

abi::Error* topology_name(abi::TopologyDescription_PlatformName_Args* args) {
  if (auto* error = begin("TopologyDescription_PlatformName", args)) return error;
  args->platform_name = "counting";
  args->platform_name_size = 8;
  return nullptr;
}

abi::Error* topology_version(abi::TopologyDescription_PlatformVersion_Args* args) {
  if (auto* error = begin("TopologyDescription_PlatformVersion", args)) return error;
  args->platform_version = control().version.data();
  args->platform_version_size = control().version.size();
  return nullptr;
}

abi::Error* topology_devices(abi::TopologyDescription_GetDeviceDescriptions_Args* args) {
  if (auto* error = begin("TopologyDescription_GetDeviceDescriptions", args)) return error;
  static abi::DeviceDescription* descriptions[] = {&the_description, &the_description};
  args->descriptions = descriptions;
  args->num_descriptions = 2;
  return nullptr;
}

abi::Error* compile(abi::Compile_Args* args) {
  if (auto* error = begin("Compile", args)) return error;
  if (auto* error = check_program(args->program)) return error;
  control().compile_options.assign(args->compile_options, args->compile_options_size);
  args->executable = new abi::Executable;
  args->executable->text.assign(args->program->code, args->program->code_size);
  return nullptr;
}

// --- the table ---

abi::Api full_table() {
  abi::Api api{};
  api.struct_size = sizeof(api);
  api.pjrt_api_version.struct_size = sizeof(api.pjrt_api_version);
  api.pjrt_api_version.major_version = control().major;
  api.pjrt_api_version.minor_version = control().minor;
  const auto has = [](const char* name) { return !control().missing.contains(name); };
  if (has("Error_Destroy")) api.Error_Destroy = error_destroy;
  if (has("Error_Message")) api.Error_Message = error_message;
  if (has("Error_GetCode")) api.Error_GetCode = error_get_code;
  if (has("Plugin_Initialize")) api.Plugin_Initialize = plugin_initialize;
  if (has("Plugin_Attributes")) api.Plugin_Attributes = plugin_attributes;
  if (has("Event_Destroy")) api.Event_Destroy = event_destroy;
  if (has("Event_Await")) api.Event_Await = event_await;
  if (has("Client_Create")) api.Client_Create = client_create;
  if (has("Client_Destroy")) api.Client_Destroy = client_destroy;
  if (has("Client_PlatformName")) api.Client_PlatformName = client_platform_name;
  if (has("Client_PlatformVersion")) api.Client_PlatformVersion = client_platform_version;
  if (has("Client_AddressableDevices")) api.Client_AddressableDevices = client_addressable_devices;
  if (has("Client_Compile")) api.Client_Compile = client_compile;
  if (has("Client_BufferFromHostBuffer")) api.Client_BufferFromHostBuffer = buffer_from_host;
  if (has("Device_GetDescription")) api.Device_GetDescription = device_get_description;
  if (has("DeviceDescription_Kind")) api.DeviceDescription_Kind = description_kind;
  if (has("Device_MemoryStats")) api.Device_MemoryStats = device_memory_stats;
  if (has("Executable_Destroy")) api.Executable_Destroy = executable_destroy;
  if (has("Executable_NumOutputs")) api.Executable_NumOutputs = executable_num_outputs;
  if (has("Executable_Serialize")) api.Executable_Serialize = executable_serialize;
  if (has("Executable_DeserializeAndLoad")) {
    api.Executable_DeserializeAndLoad = deserialize_and_load;
  }
  if (has("LoadedExecutable_Destroy")) api.LoadedExecutable_Destroy = loaded_destroy;
  if (has("LoadedExecutable_GetExecutable")) {
    api.LoadedExecutable_GetExecutable = loaded_get_executable;
  }
  if (has("LoadedExecutable_Execute")) api.LoadedExecutable_Execute = execute;
  if (has("Buffer_Destroy")) api.Buffer_Destroy = buffer_destroy;
  if (has("Buffer_ElementType")) api.Buffer_ElementType = buffer_element_type;
  if (has("Buffer_Dimensions")) api.Buffer_Dimensions = buffer_dimensions;
  if (has("Buffer_ToHostBuffer")) api.Buffer_ToHostBuffer = buffer_to_host;
  if (has("Buffer_ReadyEvent")) api.Buffer_ReadyEvent = buffer_ready_event;
  if (has("TopologyDescription_Create")) api.TopologyDescription_Create = topology_create;
  if (has("TopologyDescription_Destroy")) api.TopologyDescription_Destroy = topology_destroy;
  if (has("TopologyDescription_PlatformName")) {
    api.TopologyDescription_PlatformName = topology_name;
  }
  if (has("TopologyDescription_PlatformVersion")) {
    api.TopologyDescription_PlatformVersion = topology_version;
  }
  if (has("TopologyDescription_GetDeviceDescriptions")) {
    api.TopologyDescription_GetDeviceDescriptions = topology_devices;
  }
  if (has("Compile")) api.Compile = compile;
  return api;
}

}  // namespace
}  // namespace trainward::pjrt

extern "C" EXPORTED trainward::pjrt::test::Control* counting_plugin_control() {
  return &trainward::pjrt::control();
}

extern "C" EXPORTED const trainward::pjrt::abi::Api* GetPjrtApi() {
  namespace pjrt = trainward::pjrt;
  if (pjrt::control().without_table) return nullptr;
  // As long as it says and no longer, so that a sanitizer sees who reads behind its end.
  static std::unique_ptr<std::byte[]> shown;
  pjrt::abi::Api api = pjrt::full_table();
  if (pjrt::control().table_size != 0) api.struct_size = pjrt::control().table_size;
  shown = std::make_unique<std::byte[]>(api.struct_size);
  std::memcpy(shown.get(), &api, std::min(api.struct_size, sizeof(api)));
  return reinterpret_cast<const pjrt::abi::Api*>(shown.get());
}

#ifdef WITH_SHUTDOWN
extern "C" EXPORTED void tt_pjrt_shutdown() {
  auto& control = trainward::pjrt::control();
  ++control.shutdowns;
  control.clients_at_shutdown = control.live.clients;
}
#endif
