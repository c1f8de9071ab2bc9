#include "trainer/pjrt/pjrt_client.hpp"

#include "trainer/pjrt/answers.hpp"
#include "trainer/pjrt/compile_options.hpp"
#include "trainer/pjrt/elements.hpp"
#include "trainer/pjrt/pjrt_program.hpp"

namespace trainward::pjrt {

Outcome<MappedMemory> MappedMemory::map(const std::shared_ptr<Session>& session,
                                        std::span<std::byte> memory) {
  constexpr const char* call = "Client_DmaMap";
  if (auto owned = session->own(call); !owned) return propagate(owned);
  abi::Client_DmaMap_Args args{};
  args.client = session->client();
  args.data = memory.data();
  args.size = memory.size();
  auto mapped = session->calls().make(&abi::Api::Client_DmaMap, call, args);
  if (!mapped) return propagate(mapped);
  return MappedMemory(session, memory.data());
}

MappedMemory::~MappedMemory() {
  if (data_ == nullptr || !session_->own("Client_DmaUnmap")) return;
  abi::Client_DmaUnmap_Args args{};
  args.client = session_->client();
  args.data = data_;
  // What cannot be taken back ends with the process.
  (void)session_->calls().make(&abi::Api::Client_DmaUnmap, "Client_DmaUnmap", args);
}

Outcome<std::unique_ptr<Client>> Client::create(std::shared_ptr<const Plugin> plugin,
                                                std::span<const ClientOption> options) {
  constexpr const char* call = "Client_Create";
  if (plugin->is_shut_down()) {
    return refuse(ErrorCode::failed_precondition, call, "the plugin has been shut down");
  }
  const auto values = named_values(options);
  abi::Client_Create_Args args{};
  args.create_options = values.data();
  args.num_options = values.size();
  auto created = plugin->calls().make(&abi::Api::Client_Create, call, args);
  if (!created) return propagate(created);
  std::unique_ptr<Client> client(
      new Client(std::make_shared<Session>(std::move(plugin), args.client)));
  if (auto read = client->read_platform(); !read) return propagate(read);
  return client;
}

Outcome<void> Client::read_platform() {
  const Calls& calls = session_->calls();
  abi::Client_PlatformName_Args name{};
  name.client = session_->client();
  auto asked = calls.make(&abi::Api::Client_PlatformName, "Client_PlatformName", name);
  if (!asked) return asked;
  platform_.name = text_of(name.platform_name, name.platform_name_size);

  abi::Client_PlatformVersion_Args version{};
  version.client = session_->client();
  asked = if_told(calls.make(&abi::Api::Client_PlatformVersion, "Client_PlatformVersion", version));
  if (!asked) return asked;
  platform_.version = text_of(version.platform_version, version.platform_version_size);

  abi::Client_AddressableDevices_Args devices{};
  devices.client = session_->client();
  asked = calls.make(&abi::Api::Client_AddressableDevices, "Client_AddressableDevices", devices);
  if (!asked) return asked;
  if (devices.num_addressable_devices == 0) {
    return refuse(ErrorCode::not_found, "Client_AddressableDevices", "the plugin has no device");
  }
  devices_.assign(devices.addressable_devices,
                  devices.addressable_devices + devices.num_addressable_devices);
  platform_.device_count = devices_.size();

  abi::Device_GetDescription_Args description{};
  description.device = devices_.front();
  asked = calls.make(&abi::Api::Device_GetDescription, "Device_GetDescription", description);
  if (!asked) return asked;
  abi::DeviceDescription_Kind_Args kind{};
  kind.device_description = description.device_description;
  asked = if_told(calls.make(&abi::Api::DeviceDescription_Kind, "DeviceDescription_Kind", kind));
  if (!asked) return asked;
  platform_.device_kind = text_of(kind.device_kind, kind.device_kind_size);
  return {};
}

Outcome<void> Client::check_replicas(const char* call, std::int64_t replicas) const {
  if (auto owned = session_->own(call); !owned) return owned;
  if (replicas < 1 || static_cast<std::size_t>(replicas) > devices_.size()) {
    return refuse(
        ErrorCode::invalid_argument, call,
        fmt::format("the program is for {} devices; there are {}", replicas, devices_.size()));
  }
  return {};
}

Outcome<Executable> Client::compile(std::string_view stablehlo, std::int64_t replicas) {
  constexpr const char* call = "Client_Compile";
  if (auto checked = check_replicas(call, replicas); !checked) return propagate(checked);
  const Program program(session_->calls(), stablehlo);
  const std::string options = compile_options(replicas);
  abi::Client_Compile_Args args{};
  args.client = session_->client();
  args.program = program.get();
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  auto compiled = session_->calls().make(&abi::Api::Client_Compile, call, args);
  if (!compiled) return propagate(compiled);
  return Executable::take(session_, args.executable, replicas);
}

Outcome<Executable> Client::load(std::string_view serialized, std::int64_t replicas) {
  constexpr const char* call = "Executable_DeserializeAndLoad";
  if (auto checked = check_replicas(call, replicas); !checked) return propagate(checked);
  abi::Executable_DeserializeAndLoad_Args args{};
  args.client = session_->client();
  args.serialized_executable = serialized.data();
  args.serialized_executable_size = serialized.size();
  auto loaded = session_->calls().make(&abi::Api::Executable_DeserializeAndLoad, call, args);
  if (!loaded) return propagate(loaded);
  return Executable::take(session_, args.loaded_executable, replicas);
}

Outcome<Buffer> Client::upload(std::size_t device, const graph::Type& type, const void* data) {
  abi::Event* done = nullptr;
  auto buffer = upload(device, type, data, abi::HostBufferSemantics_ImmutableOnlyDuringCall, done);
  // It tells when `data` is free again, which it is.
  session_->calls().destroy(done);
  return buffer;
}

Outcome<Buffer> Client::begin_upload(std::size_t device, const graph::Type& type, const void* data,
                                     abi::Event*& done) {
  return upload(device, type, data, abi::HostBufferSemantics_ImmutableUntilTransferCompletes, done);
}

Outcome<Buffer> Client::upload(std::size_t device, const graph::Type& type, const void* data,
                               abi::HostBufferSemantics until, abi::Event*& done) {
  constexpr const char* call = "Client_BufferFromHostBuffer";
  if (auto owned = session_->own(call); !owned) return propagate(owned);
  if (device >= devices_.size()) {
    return refuse(ErrorCode::invalid_argument, call,
                  fmt::format("there is no device {}; there are {}", device, devices_.size()));
  }
  abi::Client_BufferFromHostBuffer_Args args{};
  args.client = session_->client();
  args.data = data;
  args.type = buffer_type(type.element);
  args.dims = type.shape.data();
  args.num_dims = type.shape.size();
  args.host_buffer_semantics = until;
  args.device = devices_[device];
  auto uploaded = session_->calls().make(&abi::Api::Client_BufferFromHostBuffer, call, args);
  if (!uploaded) return propagate(uploaded);
  done = args.done_with_host_buffer;
  return Buffer(Handle<abi::Buffer>(session_, args.buffer));
}

std::optional<MemoryStats> Client::memory(std::size_t device) const {
  constexpr const char* call = "Device_MemoryStats";
  if (device >= devices_.size() || !session_->own(call)) return std::nullopt;
  abi::Device_MemoryStats_Args args{};
  args.device = devices_[device];
  if (!session_->calls().make(&abi::Api::Device_MemoryStats, call, args)) return std::nullopt;
  MemoryStats stats{args.bytes_in_use, {}, {}};
  if (args.peak_bytes_in_use_is_set) stats.peak = args.peak_bytes_in_use;
  if (args.bytes_limit_is_set) stats.limit = args.bytes_limit;
  return stats;
}

}  // namespace trainward::pjrt
