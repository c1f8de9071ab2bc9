#include "checkpoint/huggingface/writing/model_image.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/format/names.hpp"
#include "checkpoint/huggingface/model/model_folder.hpp"
#include "checkpoint/huggingface/model/unusable.hpp"
#include "checkpoint/huggingface/writing/indented_json.hpp"
#include "checkpoint/huggingface/writing/written_config.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_side_file = 256U << 20U;

// What a server needs to turn text into tokens and back, and the terms that go with the weights.
constexpr std::array side_files{
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    template_file,
    "chat_template.json",
    "LICENSE",
    "LICENSE.txt",
    "LICENSE.md",
    "NOTICE",
    "NOTICE.txt",
    "USE_POLICY.md",
};

constexpr const char* generation_file = "generation_config.json";

Status add_copy(Image& image, const fs::path& from, const std::string& name) {
  auto text = read_file(from / name, max_side_file);
  if (!text) return propagate(text);
  image.files.push_back({name, text_file(std::move(*text))});
  return {};
}

Status add_generation(Image& image, const ModelContents& contents) {
  std::optional<json::object> base;
  if (contents.side_files) {
    auto read = read_object(*contents.side_files / generation_file, max_config_bytes);
    if (!read) return propagate(read);
    base = std::move(*read);
  }
  auto written = written_generation(base, contents.config, contents.end_tokens);
  if (!written) return {};
  if (base && *written == *base) return add_copy(image, *contents.side_files, generation_file);
  image.files.push_back({generation_file, text_file(indented_json(*written) + "\n")});
  return {};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes a run of digits, or one other character, off the front.
std::string_view take_part(std::string_view& text) {
  std::size_t size = 1;
  while (is_digit(text[0]) && size < text.size() && is_digit(text[size])) ++size;
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(size);
  return part;
}

bool in_reading_order(const std::string& a, const std::string& b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    const std::string_view x = take_part(left);
    const std::string_view y = take_part(right);
    if (x == y) continue;
    const bool numbers = is_digit(x[0]) && is_digit(y[0]);
    if (numbers && x.size() != y.size()) return x.size() < y.size();
    return x < y;
  }
  return left.empty() && !right.empty();
}

}  // namespace

void sort_in_reading_order(std::vector<TensorSource>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorSource& a, const TensorSource& b) {
    return in_reading_order(a.info.name, b.info.name);
  });
}

Result<Image> model_image(const ModelContents& contents, std::uint64_t shard_bytes,
                          const fs::path& folder) {
  Image image;
  // "format" is what the transformers library asks of a file before it loads it.
  auto tensors =
      add_section(image, name::model, contents.tensors, shard_bytes, {{"format", "pt"}}, folder);
  if (!tensors) return propagate(tensors);
  const json::object config = written_config(contents.config, contents.type);
  image.files.push_back({"config.json", text_file(indented_json(config) + "\n")});
  if (auto ok = add_generation(image, contents); !ok) return propagate(ok);
  if (contents.side_files) {
    for (const std::string name : side_files) {
      const bool replaced = name == template_file && !contents.chat_template.empty();
      if (replaced || !is_there(*contents.side_files / name)) continue;
      if (auto ok = add_copy(image, *contents.side_files, name); !ok) return propagate(ok);
    }
  }
  // Who reads both takes this one, not the one in tokenizer_config.json.
  if (!contents.chat_template.empty()) {
    image.files.push_back({template_file, text_file(contents.chat_template + "\n")});
  }
  image.files.push_back({"README.md", text_file(contents.card)});
  return image;
}

}  // namespace trainward::checkpoint::huggingface
