// The plugin's exported functions, and the table they lead to.
#include <cstring>

#include "trainer/n300_sim/plugin/call.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;

Answer<void> not_there(int& /*any arguments*/) { return fail_unimplemented(); }

abi::Api make_api() {
  abi::Api api{};
  // Every entry answers, as in the real plugin: all of them are pointers of one size, and those
  // that nothing below fills in say UNIMPLEMENTED whatever their arguments are.
  const auto stub = entry<&not_there>;
  constexpr std::size_t first = offsetof(abi::Api, Error_Destroy);
  for (std::size_t at = first; at < sizeof(api); at += sizeof(stub)) {
    std::memcpy(reinterpret_cast<std::byte*>(&api) + at, &stub, sizeof(stub));
  }
  api.struct_size = sizeof(api);
  api.pjrt_api_version.struct_size = sizeof(api.pjrt_api_version);
  api.pjrt_api_version.major_version = abi::api_major;
  api.pjrt_api_version.minor_version = abi::api_minor;
  bind_plugin_calls(api);
  bind_event_calls(api);
  bind_client_calls(api);
  bind_device_calls(api);
  bind_buffer_calls(api);
  bind_transfer_calls(api);
  bind_executable_calls(api);
  bind_execute_calls(api);
  bind_topology_calls(api);
  return api;
}

}  // namespace
}  // namespace trainward::n300

extern "C" {

__attribute__((visibility("default"))) const trainward::pjrt::abi::Api* GetPjrtApi() {
  static const trainward::pjrt::abi::Api api = trainward::n300::make_api();
  return &api;
}

__attribute__((visibility("default"))) int GetPjrtApiVersion() { return 1; }

// The real plugin drains a thread of its own here; this one has none.
__attribute__((visibility("default"))) void tt_pjrt_shutdown() {}

}  // extern "C"
