// A config.json of the Llama family. Input: its text. What is accepted is a model that can be
// listed tensor by tensor, and is read as the same model when it is written again.
#include "checkpoint/huggingface/model/model_folder.hpp"
#include "require.hpp"
#include "trainer/model/llama/llama_config.hpp"
#include "trainer/model/llama/llama_spec.hpp"
#include "trainer/model/llama/rope.hpp"

namespace trainward::fuzz {
namespace {

using trainer::ModelSpec;

void check_sizes(const ModelSpec& model) {
  for (const std::int64_t size :
       {model.width, model.layers, model.heads, model.vocabulary, llama_part(model).inner,
        llama_part(model).kv_heads, model.head_width()}) {
    require(size > 0, "sizes are above zero");
  }
  require(model.heads % llama_part(model).kv_heads == 0, "heads share those of keys evenly");
  for (const double angle : trainer::rope_frequencies(llama_part(model).rope, model.head_width())) {
    require(angle >= 0 && angle <= 1, "angles are numbers");
  }
  ModelSpec one = model;
  one.layers = 1;
  const trainer::ParameterTable table = trainer::make_parameter_table(one, 2);
  require(table.count > 0 && table.total == table.count, "a model has parameters");
  require(table.elements >= static_cast<std::size_t>(table.count), "each has a place");
}

void check_again(const ModelSpec& model) {
  const std::string text = json::serialize(trainer::llama_config(model));
  const auto config = checkpoint::huggingface::parse_config(text, "written");
  require(config.has_value(), "what was written is a config.json");
  const auto again = trainer::read_llama_config(*config, "written");
  require(again.has_value() && *again == model, "it is the same model");
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config =
      trainward::checkpoint::huggingface::parse_config(trainward::fuzz::text_of(data, size), "in");
  if (!config) return 0;
  const auto model = trainward::trainer::read_llama_config(*config, "in");
  if (!model) return 0;
  trainward::fuzz::check_sizes(*model);
  trainward::fuzz::check_again(*model);
  return 0;
}
