// The files of a checkpoint before they are written: names, sizes and where their bytes come from.
//
// In: a training state and tensors. Out: every file except the manifest, or an error of kind usage:
// whatever can be refused is refused here, before the disk is touched. Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/transfer.hpp"

namespace trainward::checkpoint {

struct ImageFile {
  std::string name;
  FileSource source;  // the tensors' memory or source must outlive it
};

struct Image {
  std::vector<ImageFile> files;

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t bytes_in_pages() const;  // each file rounded up
};

// Adds the files of one section: tensors in the order given, cut into shards, and their index. The
// tensors must outlive the image. `shard_bytes` as in SaveOptions.
Status add_section(Image& image, std::string_view section, const std::vector<TensorSource>& tensors,
                   std::uint64_t shard_bytes, const std::map<std::string, std::string>& metadata,
                   const std::filesystem::path& folder);

// A file of this text, which it owns.
FileSource text_file(std::string text);

// `folder` names the checkpoint in errors. `shard_bytes` as in SaveOptions.
Result<Image> plan_image(const StreamedContents& contents, std::uint64_t shard_bytes,
                         const std::filesystem::path& folder);

// The same contents as sources; fails when a view's bytes do not fit its type and shape.
Result<StreamedContents> as_streamed(const Contents& contents);

}  // namespace trainward::checkpoint
