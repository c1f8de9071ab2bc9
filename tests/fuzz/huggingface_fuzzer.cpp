// config.json, adapter_config.json and what a checkpoint records of its model: what is accepted can
// be written, and is read again as the same.
#include <cmath>
#include <string>

#include "checkpoint/huggingface/adapter/adapter.hpp"
#include "checkpoint/huggingface/model/model_folder.hpp"
#include "checkpoint/huggingface/model/model_record.hpp"
#include "checkpoint/huggingface/writing/indented_json.hpp"
#include "checkpoint/huggingface/writing/written_config.hpp"
#include "require.hpp"

namespace trainward::fuzz {
namespace {

namespace huggingface = checkpoint::huggingface;

void check_config(std::string_view text) {
  const auto config = huggingface::parse_config(text, "input");
  if (!config) {
    require(!config.error().what.empty(), "a refusal says why");
    return;
  }
  const auto again = huggingface::parse_config(huggingface::indented_json(*config), "again");
  require(again.has_value(), "what was read can be written");
  require(json::serialize(*again) == json::serialize(*config), "every member in its place");
  const auto written = huggingface::written_config(*config, checkpoint::DType::bf16);
  require(huggingface::type_in(written) == checkpoint::DType::bf16, "the type is said");
  const auto twice = huggingface::written_config(written, checkpoint::DType::bf16);
  require(json::serialize(twice) == json::serialize(written), "nothing is left to change");
  const auto generation = huggingface::written_generation(*config, *config, {1, 2});
  require(generation && generation->contains("eos_token_id"), "end tokens are written");
  if (const auto record = huggingface::parse_record(*config)) {
    const auto same = huggingface::parse_record(huggingface::to_json(*record));
    require(same.has_value(), "a record can be written");
    require(huggingface::to_json(*same) == huggingface::to_json(*record), "and read");
  }
}

void check_adapter(std::string_view text) {
  const auto config = huggingface::parse_adapter_config(text, "input");
  if (!config) {
    require(!config.error().what.empty(), "a refusal says why");
    return;
  }
  require(config->lora.r > 0 && std::isfinite(config->lora.scale()), "a scale is a number");
  const auto again =
      huggingface::parse_adapter_config(huggingface::adapter_config_text(*config), "again");
  require(again.has_value(), "an adapter's settings can be written");
  require(again->lora.r == config->lora.r && again->lora.alpha == config->lora.alpha &&
              again->lora.dropout == config->lora.dropout && again->base == config->base,
          "and read");
}

}  // namespace
}  // namespace trainward::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = trainward::fuzz::text_of(data, size);
  trainward::fuzz::check_config(text);
  trainward::fuzz::check_adapter(text);
  return 0;
}
