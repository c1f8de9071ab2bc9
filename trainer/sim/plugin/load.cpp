#include "trainer/sim/plugin/load.hpp"

#include "trainer/sim/device_text.hpp"
#include "trainer/sim/unpadded.hpp"

namespace trainward::n300 {

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

}  // namespace trainward::n300
