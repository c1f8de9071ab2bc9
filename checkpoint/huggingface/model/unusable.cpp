#include "checkpoint/huggingface/model/unusable.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "checkpoint/format/names.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view what_to_name =
    "name a folder that holds config.json and model.safetensors";

tl::unexpected<Error> unusable(const fs::path& path, std::string what, std::string hint) {
  return fail(ErrorKind::usage, std::move(what), path.string(), std::move(hint));
}

Status nothing_there(const fs::path& path) {
  const std::string text = path.string();
  if (!looks_like_a_hub_name(text)) {
    return unusable(path, "is no folder", std::string(what_to_name));
  }
  const std::string folder = path.filename().string();
  return unusable(path, "is no folder here, and models are not downloaded by themselves",
                  fmt::format("if it is a model on the Hugging Face hub, run `hf download {} "
                              "--local-dir {}` and name the folder {}",
                              text, folder, folder));
}

Status check_file(const fs::path& path) {
  if (path.extension() == ".gguf") {
    return unusable(path, "is a GGUF file, which holds a model in another form",
                    "take the folder of safetensors that it was made from");
  }
  return unusable(path, "is a file, not the folder of a model",
                  fmt::format("name the folder it lies in: {}",
                              path.has_parent_path() ? path.parent_path().string() : "."));
}

bool has_a_file_like(const fs::path& folder, std::string_view start, std::string_view end) {
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.starts_with(start) && name.ends_with(end)) return true;
  }
  return false;
}

std::string shell_command(std::string_view imports, std::string_view type, const fs::path& folder,
                          std::string_view options) {
  return fmt::format(
      "python3 -c \"from transformers import {0}; {1}.from_pretrained('{2}')"
      ".save_pretrained('{2}'{3})\"",
      imports, type, folder.string(), options);
}

Status check_weights(const fs::path& folder) {
  if (is_there(folder / "model.safetensors") || is_there(folder / "model.safetensors.index.json")) {
    return {};
  }
  if (has_a_file_like(folder, "pytorch_model", ".bin") ||
      has_a_file_like(folder, "pytorch_model", ".bin.index.json")) {
    return unusable(folder, "holds its weights as pytorch_model.bin, not as safetensors",
                    "convert it where transformers is installed: " +
                        shell_command("AutoModelForCausalLM", "AutoModelForCausalLM", folder,
                                      ", safe_serialization=True"));
  }
  if (has_a_file_like(folder, "", ".gguf")) {
    return unusable(folder, "holds a GGUF file, but no safetensors",
                    "take the folder of safetensors that it was made from");
  }
  if (has_a_file_like(folder, "model-", ".safetensors")) {
    return unusable(folder, "holds shards, but not model.safetensors.index.json",
                    "download the model again: the index says which tensor is in which file");
  }
  return unusable(folder, "holds neither model.safetensors nor model.safetensors.index.json",
                  std::string(what_to_name));
}

Status check_config(const fs::path& folder) {
  if (is_there(folder / "config.json")) return {};
  if (is_there(folder / "adapter_config.json")) {
    return unusable(folder, "is an adapter, not a model",
                    "name the folder of its base model, or make one model of both with "
                    "`trainwardctl ckpt merge`");
  }
  if (is_there(folder / "snapshots")) {
    return unusable(folder, "is a folder of the hub's cache, with the model further down",
                    fmt::format("name the folder below {}", (folder / "snapshots").string()));
  }
  if (is_there(folder / name::manifest)) {
    return unusable(folder, "is a checkpoint, not the folder of a model",
                    "write one with `trainwardctl ckpt export --hf`");
  }
  if (has_a_file_like(folder, "", ".gguf")) {
    return unusable(folder, "holds a GGUF file, but no config.json",
                    "take the folder of safetensors that it was made from");
  }
  return unusable(folder, "holds no config.json", std::string(what_to_name));
}

Status check_tokenizer(const fs::path& folder) {
  if (is_there(folder / "tokenizer.json") || !is_there(folder / "tokenizer.model")) return {};
  return unusable(folder, "holds tokenizer.model, but not tokenizer.json",
                  "write one where transformers is installed: " +
                      shell_command("AutoTokenizer", "AutoTokenizer", folder, ""));
}

}  // namespace

bool looks_like_a_hub_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto is_word = [](std::string_view word) {
    return !word.empty() && word != "." && word != ".." && word != "~" &&
           std::all_of(word.begin(), word.end(), [](char c) {
             return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                    c == '-' || c == '_' || c == '.';
           });
  };
  return slash != std::string_view::npos && is_word(text.substr(0, slash)) &&
         is_word(text.substr(slash + 1));
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Status check_folder(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return nothing_there(path);
  if (!fs::is_directory(path, error)) return check_file(path);
  for (const auto check : {check_config, check_weights, check_tokenizer}) {
    if (auto ok = check(path); !ok) return ok;
  }
  return {};
}

}  // namespace trainward::checkpoint::huggingface
