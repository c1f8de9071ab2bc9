// The files of a checkpoint before they are written: names, sizes and where their bytes come from.
//
// In: a training state and tensors. Out: every file except the manifest, or an error of kind usage:
// whatever can be refused is refused here, before the disk is touched. Pure.
#pragma once

#include <filesystem>
#include <string>
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

// `folder` names the checkpoint in errors. `shard_bytes` as in SaveOptions.
Result<Image> plan_image(const StreamedContents& contents, std::uint64_t shard_bytes,
                         const std::filesystem::path& folder);

// The same contents as sources; fails when a view's bytes do not fit its type and shape.
Result<StreamedContents> as_streamed(const Contents& contents);

}  // namespace trainward::checkpoint
