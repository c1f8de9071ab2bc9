// Compiling without a device, which the real plugin cannot: only when the script says
// compiles_without_device.
#include <memory>

#include "trainer/n300_sim/plugin/call.hpp"
#include "trainer/n300_sim/plugin/handles.hpp"

namespace trainward::n300 {
namespace {

namespace abi = pjrt::abi;

Answer<void> create(abi::TopologyDescription_Create_Args& args) {
  const auto settings = read_settings();
  if (!settings) {
    return fail_with(abi::Error_Code_INVALID_ARGUMENT, settings.error().message());
  }
  if (!settings->card.script().compiles_without_device) return fail_unimplemented();
  args.topology = std::make_unique<abi::TopologyDescription>(*settings).release();
  return {};
}

Answer<void> destroy(abi::TopologyDescription_Destroy_Args& args) {
  dispose(args.topology);
  return {};
}

Answer<void> name(abi::TopologyDescription_PlatformName_Args& args) {
  args.platform_name = platform_name().data();
  args.platform_name_size = platform_name().size();
  return {};
}

Answer<void> version(abi::TopologyDescription_PlatformVersion_Args& args) {
  args.platform_version = platform_version().data();
  args.platform_version_size = platform_version().size();
  return {};
}

Answer<void> descriptions(abi::TopologyDescription_GetDeviceDescriptions_Args& args) {
  args.descriptions = args.topology->description_list.data();
  args.num_descriptions = args.topology->description_list.size();
  return {};
}

// `topology` is there for good only if create() made it.
Answer<void> compile(abi::Compile_Args& args) {
  if (args.topology == nullptr) return fail_unimplemented();
  // A copy, since the handle is const: the script's one corrupt kernel is for clients.
  Compiler compiler = args.topology->compiler;
  auto image = compiler.compile({args.program->code, args.program->code_size},
                                {args.program->format, args.program->format_size});
  if (!image) return pass_on(image);
  args.executable = std::make_unique<abi::Executable>(abi::Executable{*std::move(image)}).release();
  return {};
}

}  // namespace

void bind_topology_calls(abi::Api& api) {
  api.TopologyDescription_Create = entry<&create>;
  api.TopologyDescription_Destroy = entry<&destroy>;
  api.TopologyDescription_PlatformName = entry<&name>;
  api.TopologyDescription_PlatformVersion = entry<&version>;
  api.TopologyDescription_GetDeviceDescriptions = entry<&descriptions>;
  api.Compile = entry<&compile>;
}

}  // namespace trainward::n300
