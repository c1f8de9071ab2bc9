// Clients: one at a time on a thread, used and destroyed on that thread.
#include <algorithm>
#include <memory>

#include "trainer/n300_sim/device_text.hpp"
#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"
#include "trainer/n300_sim/serialized.hpp"
#include "trainer/n300_sim/unpadded.hpp"

namespace trainward::n300 {
namespace {

// Puts a compiled image onto a client's devices. Error 13 for what the processor behind the device
// cannot compute.
Answer<std::unique_ptr<pjrt::abi::LoadedExecutable>> load_image(
    pjrt::abi::Client& client, std::shared_ptr<const Image> image) {
  auto graph = without_padding(image->graph);
  if (!graph) return fail_internally(compiler_report(graph.error().message()));
  auto program = StagedProgram::compile(*graph, client.machine->runtime());
  if (!program) return fail_internally(compiler_report(program.error().message()));
  auto loaded = std::make_unique<pjrt::abi::LoadedExecutable>();
  loaded->client = &client;
  loaded->machine = client.machine;
  loaded->devices.assign(client.device_list.begin(), client.device_list.begin() + image->replicas);
  loaded->image = std::move(image);
  loaded->program = *std::move(program);
  return loaded;
}

namespace abi = pjrt::abi;

constexpr int default_threads = 2;
constexpr std::string_view threads_option = "threads";

// As in the real plugin, whose client is a singleton of its thread.
thread_local bool thread_has_client = false;

// The real plugin ignores every option; this one has one, and ignores the others.
Answer<int> threads_of(const abi::Client_Create_Args& args) {
  int threads = default_threads;
  for (std::size_t i = 0; i < args.num_options; ++i) {
    const abi::NamedValue& option = args.create_options[i];
    if (std::string_view(option.name, option.name_size) != threads_option) continue;
    if (option.type != abi::NamedValue_Int64 || option.int64_value < 1 ||
        option.int64_value > 1024) {
      return fail_with(abi::Error_Code_INVALID_ARGUMENT,
                       "option threads is a number from 1 to 1024");
    }
    threads = static_cast<int>(option.int64_value);
  }
  return threads;
}

Answer<void> create(abi::Client_Create_Args& args) {
  if (thread_has_client) return fail_internally("this thread has a client already");
  const auto threads = threads_of(args);
  if (!threads) return tl::unexpected<Failure>(threads.error());
  const auto settings = read_settings();
  if (!settings) {
    return fail_with(abi::Error_Code_INVALID_ARGUMENT, settings.error().message());
  }
  auto machine = Machine::create(*settings, *threads);
  if (!machine) return fail_internally(machine.error().message());
  args.client = std::make_unique<abi::Client>(*std::move(machine)).release();
  thread_has_client = true;
  return {};
}

Answer<void> destroy(abi::Client_Destroy_Args& args) {
  if (auto ok = args.client->machine->check_thread(); !ok) return ok;
  // Nothing happens on the chips of a client that is gone, so nobody waits for it.
  args.client->machine->alarm()->stop();
  dispose(args.client);
  thread_has_client = false;
  return {};
}

Answer<void> name(abi::Client_PlatformName_Args& args) {
  args.platform_name = platform_name().data();
  args.platform_name_size = platform_name().size();
  return {};
}

Answer<void> version(abi::Client_PlatformVersion_Args& args) {
  args.platform_version = platform_version().data();
  args.platform_version_size = platform_version().size();
  return {};
}

Answer<void> process_index(abi::Client_ProcessIndex_Args& args) {
  args.process_index = 0;
  return {};
}

Answer<void> devices(abi::Client_Devices_Args& args) {
  args.devices = args.client->device_list.data();
  args.num_devices = args.client->device_list.size();
  return {};
}

Answer<void> addressable_devices(abi::Client_AddressableDevices_Args& args) {
  args.addressable_devices = args.client->device_list.data();
  args.num_addressable_devices = args.client->device_list.size();
  return {};
}

Answer<abi::Device*> look_up(const abi::Client& client, int id) {
  const std::vector<abi::Device*>& list = client.device_list;
  if (id < 0 || static_cast<std::size_t>(id) >= list.size()) {
    return fail_internally(fmt::format("Client device with ID {} not found.", id));
  }
  return list[static_cast<std::size_t>(id)];
}

Answer<void> look_up_device(abi::Client_LookupDevice_Args& args) {
  return look_up(*args.client, args.id).map([&](abi::Device* device) { args.device = device; });
}

Answer<void> look_up_addressable(abi::Client_LookupAddressableDevice_Args& args) {
  return look_up(*args.client, args.local_hardware_id).map([&](abi::Device* device) {
    args.addressable_device = device;
  });
}

Answer<void> memories(abi::Client_AddressableMemories_Args& args) {
  args.addressable_memories = args.client->memory_list.data();
  args.num_addressable_memories = args.client->memory_list.size();
  return {};
}

// Options change nothing here: how many devices run a program is in its text.
Answer<void> compile(abi::Client_Compile_Args& args) {
  abi::Client& client = *args.client;
  if (auto ok = client.machine->check_thread(); !ok) return ok;
  auto image = client.compiler.compile({args.program->code, args.program->code_size},
                                       {args.program->format, args.program->format_size});
  if (!image) return pass_on(image);
  return load_image(client, *std::move(image)).map([&](std::unique_ptr<abi::LoadedExecutable> it) {
    args.executable = it.release();
  });
}

Answer<void> deserialize(abi::Executable_DeserializeAndLoad_Args& args) {
  abi::Client& client = *args.client;
  if (!client.machine->settings().card.script().loads_executables) return fail_unimplemented();
  if (auto ok = client.machine->check_thread(); !ok) return ok;
  const auto text = open_program({args.serialized_executable, args.serialized_executable_size});
  if (!text) {
    return fail_with(abi::Error_Code_INVALID_ARGUMENT,
                     fmt::format("Failed to deserialize executable: {}", text.error().what));
  }
  auto image = client.compiler.load(*text);
  if (!image) return pass_on(image);
  return load_image(client, *std::move(image)).map([&](std::unique_ptr<abi::LoadedExecutable> it) {
    args.loaded_executable = it.release();
  });
}

Answer<void> default_assignment(abi::Client_DefaultDeviceAssignment_Args& args) {
  std::fill_n(args.default_assignment, args.default_assignment_size, 0);
  return {};
}

}  // namespace

void bind_client_calls(abi::Api& api) {
  api.Client_Create = entry<&create>;
  api.Client_Destroy = entry<&destroy>;
  api.Client_PlatformName = entry<&name>;
  api.Client_PlatformVersion = entry<&version>;
  api.Client_ProcessIndex = entry<&process_index>;
  api.Client_Devices = entry<&devices>;
  api.Client_AddressableDevices = entry<&addressable_devices>;
  api.Client_LookupDevice = entry<&look_up_device>;
  api.Client_LookupAddressableDevice = entry<&look_up_addressable>;
  api.Client_AddressableMemories = entry<&memories>;
  api.Client_Compile = entry<&compile>;
  api.Client_DefaultDeviceAssignment = entry<&default_assignment>;
  api.Executable_DeserializeAndLoad = entry<&deserialize>;
}

}  // namespace trainward::n300
