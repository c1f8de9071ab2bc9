// A checkpoint folder after every check: what verify() reports on and load() maps.
//
// The descriptors that were checked are the ones that stay open, so what is used later is what was
// verified, even when the folder is renamed or replaced meanwhile.
#pragma once

#include <filesystem>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/folder_io.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/safetensors.hpp"

namespace trainward::checkpoint {

struct Verified {
  Manifest manifest;
  std::uint64_t manifest_bytes = 0;
  TrainingState state;
  Header model;
  Header optimizer;
  OpenFile model_file;
  OpenFile optimizer_file;
};

// disk: drop the page cache first. cache: whatever the kernel has is good enough.
enum class ReadFrom { disk, cache };

Result<Verified> open_verified(const std::filesystem::path& folder, ReadFrom from);

Summary summarize(const std::filesystem::path& folder, const Manifest& manifest,
                  std::uint64_t manifest_bytes);

}  // namespace trainward::checkpoint
