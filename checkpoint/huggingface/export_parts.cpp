#include "checkpoint/huggingface/export_parts.hpp"

#include <algorithm>
#include <map>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "checkpoint/huggingface/writing/new_folder.hpp"

namespace trainward::checkpoint::huggingface {

Status check_options(const std::filesystem::path& folder, const ExportOptions& options) {
  const auto type = options.type;
  if (type && *type != DType::f32 && *type != DType::bf16 && *type != DType::f16) {
    return fail(ErrorKind::usage, fmt::format("a model cannot be written as {}", to_string(*type)),
                {}, "choose f32, bf16 or f16");
  }
  if (options.tokenizer && !is_there(*options.tokenizer / "tokenizer.json")) {
    return fail(ErrorKind::usage, "holds no tokenizer.json", options.tokenizer->string(),
                "name the folder that holds the tokenizer's files");
  }
  return must_be_new(folder);
}

DType main_type(const std::vector<TensorView>& tensors) {
  std::map<DType, std::uint64_t> bytes;
  for (const TensorView& tensor : tensors) {
    if (is_float(tensor.info.dtype)) bytes[tensor.info.dtype] += tensor.bytes.size();
  }
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? DType::f32 : most->first;
}

std::string hub_name_in(const json::object& config) {
  std::string name = string_or(config, "_name_or_path", "");
  return looks_like_a_hub_name(name) ? name : "";
}

std::vector<std::string> notes_of(const ModelContents& contents) {
  std::vector<std::string> notes;
  if (!contents.side_files) {
    notes.emplace_back(
        "there is no tokenizer in it: copy tokenizer.json and its companions into "
        "the folder, or export with --tokenizer FOLDER");
  }
  return notes;
}

}  // namespace trainward::checkpoint::huggingface
