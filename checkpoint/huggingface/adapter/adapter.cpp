#include "checkpoint/huggingface/adapter/adapter.hpp"

#include <map>
#include <utility>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/huggingface/model/model_folder.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "checkpoint/huggingface/writing/indented_json.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

constexpr const char* config_file = "adapter_config.json";
constexpr const char* tensor_file = "adapter_model.safetensors";

Status check_adapter_folder(const fs::path& folder) {
  if (is_there(folder / config_file) && is_there(folder / tensor_file)) return {};
  const bool older = is_there(folder / "adapter_model.bin");
  return fail(ErrorKind::usage,
              older ? "holds its adapter as adapter_model.bin, not as safetensors"
                    : fmt::format("does not hold both {} and {}", config_file, tensor_file),
              folder.string(),
              older ? "save it with PEFT again: save_pretrained(…, safe_serialization=True)"
                    : "name the folder of an adapter that PEFT or `trainwardctl ckpt export --hf` "
                      "wrote");
}

}  // namespace

Status check_adapter_tensors(const std::vector<TensorInfo>& tensors, std::int64_t r,
                             std::string_view where) {
  const auto bad = [&](const TensorInfo& tensor, std::string_view what) {
    return fail(ErrorKind::corrupt, fmt::format("tensor '{}' {}", tensor.name, what),
                std::string(where), "take another copy of the adapter");
  };
  std::map<std::string_view, int> halves;
  for (const TensorInfo& tensor : tensors) {
    const auto module = module_of(tensor.name);
    if (!module) return bad(tensor, "is not the A or B of a module");
    const bool is_a = tensor.name.ends_with(suffix_a);
    if (!is_float(tensor.dtype) || tensor.shape.size() != 2 || tensor.shape[is_a ? 0 : 1] != r) {
      return bad(tensor,
                 fmt::format("is {}[{}], not {} of floats for rank {}", to_string(tensor.dtype),
                             fmt::join(tensor.shape, ","), is_a ? "[r, in]" : "[out, r]", r));
    }
    halves[*module] |= is_a ? 1 : 2;
  }
  for (const TensorInfo& tensor : tensors) {
    if (halves[*module_of(tensor.name)] != 3) return bad(tensor, "lacks its other half");
  }
  if (!tensors.empty()) return {};
  return fail(ErrorKind::corrupt, "holds no adapter", std::string(where),
              "take another copy of the adapter");
}

Result<Adapter> read_adapter(const fs::path& folder) {
  if (auto ok = check_adapter_folder(folder); !ok) return propagate(ok);
  auto text = read_file(folder / config_file, max_config_bytes);
  if (!text) return propagate(text);
  auto config = parse_adapter_config(*text, (folder / config_file).string());
  if (!config) return propagate(config);
  auto file = MappedTensors::of_file(folder, tensor_file);
  if (!file) return propagate(file);
  Adapter adapter{std::move(*config), {}, std::move(*file)};
  const std::string where = (folder / tensor_file).string();
  std::vector<TensorInfo> infos;
  for (TensorView tensor : adapter.file.all()) {
    if (!tensor.info.name.starts_with(peft_prefix)) {
      return fail(
          ErrorKind::corrupt,
          fmt::format("tensor '{}' does not begin with '{}'", tensor.info.name, peft_prefix), where,
          "save the adapter with PEFT again");
    }
    tensor.info.name.erase(0, peft_prefix.size());
    infos.push_back(tensor.info);
    adapter.tensors.push_back(std::move(tensor));
  }
  if (auto ok = check_adapter_tensors(infos, adapter.config.lora.r, where); !ok) {
    return propagate(ok);
  }
  return adapter;
}

std::string adapter_config_text(const AdapterConfig& config) {
  return indented_json(to_json(config)) + "\n";
}

}  // namespace trainward::checkpoint::huggingface
