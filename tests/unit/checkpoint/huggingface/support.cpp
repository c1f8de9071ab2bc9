#include "tests/unit/checkpoint/huggingface/support.hpp"

#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>

#include "checkpoint/format/floats.hpp"

namespace trainward::checkpoint::huggingface::testing {
namespace fs = std::filesystem;

json::object config_of(const Shape& shape) {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"hidden_size", shape.hidden},
          {"intermediate_size", shape.inter},
          {"num_hidden_layers", shape.layers},
          {"num_attention_heads", shape.heads},
          {"num_key_value_heads", shape.kv_heads},
          {"vocab_size", shape.vocabulary},
          {"rms_norm_eps", 1e-5},
          {"rope_theta", 10000.0},
          {"rope_scaling", nullptr},
          {"tie_word_embeddings", shape.tied},
          {"max_position_embeddings", 2048},
          {"bos_token_id", 1},
          {"eos_token_id", 2},
          {"x_of_the_user", {{"kept", {1, 2.5, "ü"}}}},
          {"torch_dtype", "bfloat16"},
          {"hidden_act", "silu"}};
}

std::vector<OwnedTensor> tensors_of(const Shape& shape, DType type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 0.02F);
  std::vector<OwnedTensor> tensors;
  const auto add = [&](std::string name, std::vector<std::int64_t> extents) {
    TensorInfo info{std::move(name), type, std::move(extents)};
    std::vector<std::byte> bytes(byte_count(info).value());
    const std::size_t size = bits_of(type) / 8;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      const float value = normal(random);
      convert_floats(DType::f32, std::as_bytes(std::span(&value, 1)), type,
                     std::span(bytes).subspan(at, size));
    }
    tensors.push_back({std::move(info), std::move(bytes)});
  };
  const std::int64_t head = shape.hidden / shape.heads;
  if (!shape.tied) add("lm_head.weight", {shape.vocabulary, shape.hidden});
  add("model.embed_tokens.weight", {shape.vocabulary, shape.hidden});
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    add(layer + "input_layernorm.weight", {shape.hidden});
    add(layer + "mlp.down_proj.weight", {shape.hidden, shape.inter});
    add(layer + "mlp.gate_proj.weight", {shape.inter, shape.hidden});
    add(layer + "mlp.up_proj.weight", {shape.inter, shape.hidden});
    add(layer + "post_attention_layernorm.weight", {shape.hidden});
    add(layer + "self_attn.k_proj.weight", {shape.kv_heads * head, shape.hidden});
    add(layer + "self_attn.o_proj.weight", {shape.hidden, shape.heads * head});
    add(layer + "self_attn.q_proj.weight", {shape.heads * head, shape.hidden});
    add(layer + "self_attn.v_proj.weight", {shape.kv_heads * head, shape.hidden});
  }
  add("model.norm.weight", {shape.hidden});
  return tensors;
}

void write_text(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

void write_safetensors(const fs::path& file, const std::vector<OwnedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  json::object header;
  if (!metadata.empty()) {
    json::object& notes = header["__metadata__"].emplace_object();
    for (const auto& [key, value] : metadata) notes[key] = value;
  }
  std::uint64_t at = 0;
  std::string data;
  for (const OwnedTensor& tensor : tensors) {
    const std::string type(to_string(tensor.info.dtype));
    header[tensor.info.name] = {
        {"dtype", type},
        {"shape", json::array(tensor.info.shape.begin(), tensor.info.shape.end())},
        {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
    data.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  std::string text = json::serialize(header);
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t size = text.size();
  std::string whole(sizeof size, '\0');
  std::memcpy(whole.data(), &size, sizeof size);
  write_text(file, whole + text + data);
}

void write_folder(const fs::path& folder, const FolderOptions& options) {
  fs::create_directories(folder);
  json::object config = config_of(options.shape);
  config["torch_dtype"] = options.type == DType::bf16  ? "bfloat16"
                          : options.type == DType::f16 ? "float16"
                                                       : "float32";
  write_text(folder / "config.json", json::serialize(config));
  write_text(folder / "generation_config.json",
             R"({"bos_token_id": 1, "eos_token_id": 2, "temperature": 0.6, "do_sample": true})");
  write_text(folder / "tokenizer.json", "{\"made\": \"for the tests\"}\n");
  write_text(folder / "tokenizer_config.json",
             R"({"model_max_length": 1000000000000000019884624838656, "chat_template": "plain"})");
  write_text(folder / "special_tokens_map.json", "{}");
  const auto tensors = tensors_of(options.shape, options.type, options.seed);
  if (options.shards == 1) return write_safetensors(folder / "model.safetensors", tensors);
  std::vector<std::vector<OwnedTensor>> shards(options.shards);
  json::object map;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t number = i * options.shards / tensors.size();
    shards[number].push_back(tensors[i]);
    map[tensors[i].info.name] =
        fmt::format("model-{:05}-of-{:05}.safetensors", number + 1, options.shards);
  }
  for (std::size_t i = 0; i < shards.size(); ++i) {
    write_safetensors(
        folder / fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, options.shards), shards[i]);
  }
  // Older tools write other metadata, or none.
  write_text(folder / "model.safetensors.index.json",
             json::serialize(json::object{{"metadata", json::object()}, {"weight_map", map}}));
}

std::vector<float> floats_of(DType type, std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() * 8 / bits_of(type));
  convert_floats(type, bytes, DType::f32, std::as_writable_bytes(std::span(values)));
  return values;
}

}  // namespace trainward::checkpoint::huggingface::testing
