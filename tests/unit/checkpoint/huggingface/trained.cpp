#include "tests/unit/checkpoint/huggingface/trained.hpp"

#include <cstring>
#include <random>
#include <stdexcept>

namespace trainward::checkpoint::huggingface::testing {
namespace fs = std::filesystem;
namespace {

ModelFolder opened(const fs::path& folder) {
  auto model = ModelFolder::open(folder);
  if (!model) throw std::runtime_error(model.error().message());
  return std::move(*model);
}

OwnedTensor owned(std::string name, std::vector<std::int64_t> shape,
                  const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {{std::move(name), DType::f32, std::move(shape)}, std::move(bytes)};
}

// Rows out and in of a module's weight.
std::pair<std::int64_t, std::int64_t> extents_of(const Shape& shape, const std::string& module) {
  const std::int64_t head = shape.hidden / shape.heads;
  if (module == "q_proj" || module == "o_proj") return {shape.hidden, shape.hidden};
  if (module == "k_proj" || module == "v_proj") return {shape.kv_heads * head, shape.hidden};
  if (module == "down_proj") return {shape.hidden, shape.inter};
  return {shape.inter, shape.hidden};
}

}  // namespace

fs::path saved(const fs::path& root, const ModelRecord& record,
               const std::vector<OwnedTensor>& model) {
  Contents contents;
  contents.state.step = 12;
  contents.state.tokens = 3456;
  contents.state.loss = 1.75;
  contents.state.run = "lessons";
  contents.state.extra = {{"corpus_digest", "da7a"}, {"model", to_json(record)}};
  for (const OwnedTensor& tensor : model) contents.model.push_back({tensor.info, tensor.bytes});
  auto folder = save(root, contents);
  if (!folder) throw std::runtime_error(folder.error().message());
  return *folder;
}

ModelRecord record_for(const fs::path& base) {
  const ModelFolder model = opened(base);
  ModelRecord record;
  record.architecture = "llama";
  record.config = model.config();
  record.base = base_of(model).value();
  return record;
}

fs::path untrained(const fs::path& root, const fs::path& base, ModelRecord record) {
  const ModelFolder model = opened(base);
  std::vector<OwnedTensor> tensors;
  for (const TensorView& view : model.tensors()) {
    std::vector<float> values = floats_of(view.info.dtype, view.bytes);
    std::vector<std::int64_t> shape = view.info.shape;
    const bool rows_of_tokens =
        view.info.name == "model.embed_tokens.weight" || view.info.name == "lm_head.weight";
    if (rows_of_tokens) {
      shape[0] = (shape[0] + 31) / 32 * 32;
      values.resize(static_cast<std::size_t>(shape[0] * shape[1]), 0.0F);
    }
    tensors.push_back(owned(view.info.name, std::move(shape), values));
  }
  return saved(root, record, tensors);
}

std::vector<OwnedTensor> adapters_of(const Shape& shape, const LoraSettings& lora,
                                     std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 0.3F);
  std::vector<OwnedTensor> tensors;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    for (const std::string& module : lora.target_modules) {
      const auto [out, in] = extents_of(shape, module);
      const bool attention = module.size() == 6 && module != "up_proj";
      const std::string name =
          fmt::format("model.layers.{}.{}.{}", i, attention ? "self_attn" : "mlp", module);
      std::vector<float> a(static_cast<std::size_t>(lora.r * in));
      std::vector<float> b(static_cast<std::size_t>(out * lora.r));
      for (float& value : a) value = normal(random);
      for (float& value : b) value = normal(random);
      tensors.push_back(owned(name + ".lora_A.weight", {lora.r, in}, a));
      tensors.push_back(owned(name + ".lora_B.weight", {out, lora.r}, b));
    }
  }
  return tensors;
}

fs::path adapted(const fs::path& root, const Shape& shape, const ModelRecord& record,
                 std::uint64_t seed) {
  return saved(root, record, adapters_of(shape, *record.lora, seed));
}

}  // namespace trainward::checkpoint::huggingface::testing
