// A model as Hugging Face's tools keep it: one safetensors file, or a folder with model.safetensors
// or with shards and model.safetensors.index.json. No manifest, so nothing proves its tensor data.
//
// In: a path from anywhere. Out: the open files with checked headers. Refused (kind corrupt): an
// index and shards that do not say exactly the same of every tensor, a file name that leaves the
// folder, a symbolic link, a hole or an overlap in a file (format/safetensors.hpp).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/disk/folder_io.hpp"
#include "checkpoint/format/safetensors.hpp"

namespace trainward::checkpoint {

struct PlainModel {
  struct File {
    std::filesystem::path path;
    OpenFile file;
    Header header;
  };
  std::vector<File> files;
};

Result<PlainModel> open_plain_model(const std::filesystem::path& path);

}  // namespace trainward::checkpoint
