#include "trainer/pjrt/topology.hpp"

#include "trainer/pjrt/answers.hpp"
#include "trainer/pjrt/compile_options.hpp"
#include "trainer/pjrt/executable.hpp"
#include "trainer/pjrt/pjrt_program.hpp"

namespace trainward::pjrt {

Outcome<std::unique_ptr<Topology>> Topology::create(std::shared_ptr<const Plugin> plugin,
                                                    const std::string& name,
                                                    std::span<const ClientOption> options) {
  const auto values = named_values(options);
  abi::TopologyDescription_Create_Args args{};
  args.topology_name = name.data();
  args.topology_name_size = name.size();
  args.create_options = values.data();
  args.num_options = values.size();
  auto created = plugin->calls().make(&abi::Api::TopologyDescription_Create,
                                      "TopologyDescription_Create", args);
  if (!created) return propagate(created);
  std::unique_ptr<Topology> topology(new Topology(std::move(plugin), args.topology));
  if (auto read = topology->read_platform(); !read) return propagate(read);
  return topology;
}

Topology::~Topology() {
  abi::TopologyDescription_Destroy_Args args{};
  args.topology = description_;
  (void)plugin_->calls().make(&abi::Api::TopologyDescription_Destroy, "TopologyDescription_Destroy",
                              args);
}

Outcome<void> Topology::read_platform() {
  const Calls& calls = plugin_->calls();
  abi::TopologyDescription_PlatformName_Args name{};
  name.topology = description_;
  auto asked = calls.make(&abi::Api::TopologyDescription_PlatformName,
                          "TopologyDescription_PlatformName", name);
  if (!asked) return asked;
  platform_.name = text_of(name.platform_name, name.platform_name_size);

  abi::TopologyDescription_PlatformVersion_Args version{};
  version.topology = description_;
  asked = if_told(calls.make(&abi::Api::TopologyDescription_PlatformVersion,
                             "TopologyDescription_PlatformVersion", version));
  if (!asked) return asked;
  platform_.version = text_of(version.platform_version, version.platform_version_size);

  abi::TopologyDescription_GetDeviceDescriptions_Args devices{};
  devices.topology = description_;
  asked = if_told(calls.make(&abi::Api::TopologyDescription_GetDeviceDescriptions,
                             "TopologyDescription_GetDeviceDescriptions", devices));
  if (!asked || devices.num_descriptions == 0) return asked;
  platform_.device_count = devices.num_descriptions;

  abi::DeviceDescription_Kind_Args kind{};
  kind.device_description = devices.descriptions[0];
  asked = if_told(calls.make(&abi::Api::DeviceDescription_Kind, "DeviceDescription_Kind", kind));
  platform_.device_kind = text_of(kind.device_kind, kind.device_kind_size);
  return asked;
}

Outcome<std::string> Topology::compile(std::string_view stablehlo, std::int64_t replicas) const {
  const Calls& calls = plugin_->calls();
  const Program program(calls, stablehlo);
  const std::string options = compile_options(replicas);
  abi::Compile_Args args{};
  args.topology = description_;
  args.program = program.get();
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  auto compiled = calls.make(&abi::Api::Compile, "Compile", args);
  if (!compiled) return propagate(compiled);
  auto bytes = serialize(calls, args.executable);
  abi::Executable_Destroy_Args destroy{};
  destroy.executable = args.executable;
  (void)calls.make(&abi::Api::Executable_Destroy, "Executable_Destroy", destroy);
  return bytes;
}

}  // namespace trainward::pjrt
