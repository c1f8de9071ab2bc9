#include "checkpoint/image.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "checkpoint/format/names.hpp"
#include "checkpoint/format/safetensors.hpp"
#include "checkpoint/format/state_file.hpp"
#include "checkpoint/format/tensor_files.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

// One safetensors file: the prefix, then the tensors in the layout's order.
struct TensorFile {
  Layout layout;
  std::vector<const TensorSource*> tensors;  // as given to plan_safetensors

  Status read(std::uint64_t at, std::span<std::byte> into) const;
};

Status TensorFile::read(std::uint64_t at, std::span<std::byte> into) const {
  if (at < layout.prefix.size()) {
    const auto size = std::min<std::uint64_t>(into.size(), layout.prefix.size() - at);
    std::memcpy(into.data(), layout.prefix.data() + at, size);
    into = into.subspan(size);
    at += size;
  }
  // The last tensor that begins at or before `at`; empty ones share their place with the next.
  auto number = static_cast<std::size_t>(
      std::upper_bound(layout.begin.begin(), layout.begin.end(), at) - layout.begin.begin());
  for (number = number == 0 ? 0 : number - 1; !into.empty(); ++number) {
    const std::uint64_t begin = layout.begin[number];
    const std::uint64_t end =
        number + 1 < layout.begin.size() ? layout.begin[number + 1] : layout.file_bytes;
    const auto size = std::min<std::uint64_t>(into.size(), end - at);
    if (size > 0) {
      auto ok = tensors[layout.order[number]]->read(at - begin, into.first(size));
      if (!ok) return ok;
    }
    into = into.subspan(size);
    at += size;
  }
  return {};
}

using OneShard = std::vector<const TensorSource*>;

// In the order given, so that a layer's tensors stay together. A tensor larger than the limit gets
// a shard of its own.
std::vector<OneShard> cut(const std::vector<TensorSource>& tensors, std::uint64_t shard_bytes) {
  std::vector<OneShard> shards(1);
  std::uint64_t filled = 0;
  for (const TensorSource& tensor : tensors) {
    const std::uint64_t bytes = byte_count(tensor.info).value_or(0);
    if (shard_bytes > 0 && filled > 0 && filled + bytes > shard_bytes) {
      shards.emplace_back();
      filled = 0;
    }
    shards.back().push_back(&tensor);
    filled += bytes;
  }
  return shards;
}

}  // namespace

FileSource text_file(std::string text) {
  auto owned = std::make_shared<const std::string>(std::move(text));
  return {owned->size(), [owned](std::uint64_t at, std::span<std::byte> into) -> Status {
            std::memcpy(into.data(), owned->data() + at, into.size());
            return {};
          }};
}

Status add_section(Image& image, std::string_view section, const std::vector<TensorSource>& tensors,
                   std::uint64_t shard_bytes, const std::map<std::string, std::string>& metadata,
                   const fs::path& folder) {
  const std::vector<OneShard> shards = cut(tensors, shard_bytes);
  if (shards.size() > max_shards) {
    return fail(ErrorKind::usage,
                fmt::format("would be cut into {} files, more than the {} allowed", shards.size(),
                            max_shards),
                folder.string(), "choose a larger shard size");
  }
  ShardIndex index;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = tensor_file_name(section, i + 1, shards.size());
    std::vector<TensorInfo> infos;
    infos.reserve(shards[i].size());
    for (const TensorSource* tensor : shards[i]) infos.push_back(tensor->info);
    auto layout = plan_safetensors(infos, metadata, (folder / name).string());
    if (!layout) return propagate(layout);
    index.total_bytes += layout->file_bytes - layout->prefix.size();
    for (const TensorInfo& info : infos) {
      if (index.weight_map.emplace(info.name, name).second) continue;
      return fail(ErrorKind::usage, fmt::format("tensor '{}' is given twice", info.name),
                  folder.string());
    }
    const std::uint64_t bytes = layout->file_bytes;
    auto file = std::make_shared<const TensorFile>(TensorFile{std::move(*layout), shards[i]});
    image.files.push_back({name, {bytes, [file](std::uint64_t at, std::span<std::byte> into) {
                                    return file->read(at, into);
                                  }}});
  }
  if (shards.size() > 1) {
    image.files.push_back({index_file_name(section), text_file(encode(index))});
  }
  return {};
}

std::uint64_t Image::bytes() const {
  std::uint64_t sum = 0;
  for (const ImageFile& file : files) sum += file.source.size;
  return sum;
}

std::uint64_t Image::bytes_in_pages() const {
  std::uint64_t sum = 0;
  for (const ImageFile& file : files) sum += round_to_pages(file.source.size);
  return sum;
}

Result<Image> plan_image(const StreamedContents& contents, std::uint64_t shard_bytes,
                         const fs::path& folder) {
  // "format" is what the transformers library asks of a file before it loads it.
  const std::map<std::string, std::string> metadata{
      {"format", "pt"}, {"step", fmt::to_string(contents.state.step)}, {"run", contents.state.run}};
  Image image;
  auto state = encode(contents.state, (folder / name::state).string());
  if (!state) return propagate(state);
  auto model = add_section(image, name::model, contents.model, shard_bytes, metadata, folder);
  if (!model) return propagate(model);
  auto optimizer =
      add_section(image, name::optimizer, contents.optimizer, shard_bytes, metadata, folder);
  if (!optimizer) return propagate(optimizer);
  image.files.push_back({std::string(name::state), text_file(std::move(*state))});
  return image;
}

Result<StreamedContents> as_streamed(const Contents& contents) {
  StreamedContents streamed{contents.state, {}, {}};
  const auto add = [](const std::vector<TensorView>& from,
                      std::vector<TensorSource>& to) -> Status {
    to.reserve(from.size());
    for (const TensorView& tensor : from) {
      const auto bytes = byte_count(tensor.info);
      if (!bytes || *bytes != tensor.bytes.size()) {
        return fail(
            ErrorKind::usage,
            fmt::format("tensor '{}' has {} bytes, its shape and type need {}", tensor.info.name,
                        tensor.bytes.size(), bytes ? fmt::to_string(*bytes) : "more than 2^61"));
      }
      to.push_back(source_of(tensor));
    }
    return {};
  };
  auto ok = add(contents.model, streamed.model);
  if (ok) ok = add(contents.optimizer, streamed.optimizer);
  if (!ok) return propagate(ok);
  return streamed;
}

}  // namespace trainward::checkpoint
