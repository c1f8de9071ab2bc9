#include "trainer/n300_sim/plugin/plugin_image.hpp"

#include <chrono>
#include <thread>

#include "common/base/digest.hpp"
#include "trainer/n300_sim/device_text.hpp"
#include "trainer/n300_sim/kernel_cache.hpp"
#include "trainer/pjrt/elements.hpp"
#include "trainer/stablehlo/text/parse_text.hpp"
#include "trainer/stablehlo/tiles.hpp"

namespace trainward::n300 {
namespace {

namespace op = graph::op;

std::vector<std::string_view> operations_of(const graph::Graph& graph) {
  std::vector<std::string_view> names;
  for (const graph::Node& node : graph.nodes) {
    if (std::holds_alternative<op::Parameter>(node.op)) continue;
    if (std::holds_alternative<op::Constant>(node.op)) continue;
    names.push_back(graph::name_of(node.op));
  }
  return names;
}

void list_outputs(Image& image) {
  for (const graph::Type& type : image.outputs) {
    image.output_types.push_back(pjrt::buffer_type(type.element));
    image.output_ranks.push_back(type.shape.size());
    image.output_dimensions.insert(image.output_dimensions.end(), type.shape.begin(),
                                   type.shape.end());
  }
}

}  // namespace

Answer<std::shared_ptr<const Image>> Compiler::load(std::string_view text) const {
  auto module = stablehlo::parse(text, "program");
  if (!module) return fail_internally(compiler_report(module.error().message()));
  if (const auto whole = stablehlo::check_tiles(module->graph); !whole) {
    return fail_internally(
        compiler_report(fmt::format("failed to legalize operation 'stablehlo': {}: {}",
                                    module->name, whole.error().message())));
  }
  if (module->replicas < 1 ||
      static_cast<std::size_t>(module->replicas) > settings_.card.chips.size()) {
    return fail_internally(chips_missing_report(module->replicas));
  }
  auto image = std::make_shared<Image>();
  image->name = std::move(module->name);
  image->text = text;
  image->fingerprint = sha256_hex(text);
  image->replicas = module->replicas;
  image->graph = std::move(module->graph);
  for (const graph::Value parameter : image->graph.parameters) {
    image->parameters.push_back(image->graph.type(parameter));
  }
  for (const graph::Value output : image->graph.outputs) {
    image->outputs.push_back(image->graph.type(output));
  }
  list_outputs(*image);
  return image;
}

Answer<void> Compiler::build_kernels(const Image& image) {
  const std::chrono::milliseconds one(
      settings_.card.script().compile_ms_per_op_in(settings_.attempt));
  const KernelCache::Kernel kernel{image.name, image.text, operations_of(image.graph)};
  // Compiling is what the device's compiler does with its time; nothing else waits for it.
  const auto compile_one = [&] {
    if (one.count() > 0) std::this_thread::sleep_for(one);
  };
  if (!settings_.kernels) {
    for (std::size_t i = 0; i < kernel.operations.size(); ++i) compile_one();
    return {};
  }
  const KernelCache cache(*settings_.kernels);
  if (settings_.card.script().corrupt_kernel_cache == settings_.attempt && !damaged_) {
    damaged_ = true;
    if (const auto ok = cache.damage(kernel); !ok) {
      return fail_internally(kernel_unwritable_report(image.name, ok.error().message()));
    }
  }
  const auto found = cache.has(kernel);
  if (!found) {
    return fail_internally(kernel_unreadable_report(found.error().where, found.error().what));
  }
  if (*found) return {};
  if (const auto ok = cache.compile(kernel, compile_one); !ok) {
    return fail_internally(kernel_unwritable_report(image.name, ok.error().message()));
  }
  return {};
}

Answer<std::shared_ptr<const Image>> Compiler::compile(std::string_view text,
                                                       std::string_view format) {
  if (format != "mlir") {
    return fail_internally(
        fmt::format("Program code format \"{}\" is not supported. Only \"mlir\" format is "
                    "currently supported.",
                    format));
  }
  auto image = load(text);
  if (!image) return image;
  if (auto built = build_kernels(**image); !built) return pass_on(built);
  return image;
}

}  // namespace trainward::n300
